/**
 * Writes responses. This is the only place that defines the wire format of bodies, errors and
 * common headers.
 */
import type { AdjustableClock } from '../../fixtures/base/adjustable-clock.ts';
import { yieldInTurns } from '../../fixtures/base/clock.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { Addresses } from './addresses.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Exchange } from './exchange.ts';
import { textStart } from './exchange-record.ts';
import { sendFile } from './file-body.ts';
import { JsonList } from './json-list.ts';
import type { Semaphore } from './open-files.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { FileBody, Success } from './success.ts';

type HeaderValue = string | readonly string[];
type BodyParts = Iterable<string> | AsyncIterable<string | Uint8Array>;

/** Unsent bytes of a response that a connection may hold without being counted in the budget. */
const UNCOUNTED_BYTES = 16_384;
/** Estimated memory of a streamed response besides its unsent bytes. */
const STREAM_BYTES = 65_536;

/** Media type of every JSON response. */
export const jsonType = 'application/json; charset=utf-8';
const corsExposed =
  'Link, X-Total-Count, Retry-After, Content-Disposition, Content-Range, Deprecation, Sunset';

/**
 * Thrown when a response cannot be finished after its first bytes were sent; the client sees its
 * connection close.
 */
export class ResponseAborted extends Error {
  override readonly name = 'ResponseAborted';
}

/** A response that has not been written yet. */
export interface UnsentResponse {
  readonly status: number;
  /** Header names and values, alternating, with Content-Length. */
  readonly rawHeaders: readonly (string | readonly string[])[];
  readonly body: string | Buffer | undefined;
  /** True when the server generated the request ID. */
  readonly isRequestIdGenerated: boolean;
}

/** Writes a response in another way that the contract allows. */
export type ResponseRewriter = (exchange: Exchange, unsentResponse: UnsentResponse) => void;

interface WriterOptions {
  readonly headerNames: VendorNames;
  /** The clock for exchanges that have no clock. */
  readonly clock: AdjustableClock;
  readonly openFiles: Semaphore;
  /**
   * Budget of response bytes that clients have not read; when it is exhausted, the oldest unread
   * response is cut off.
   */
  readonly unreadBytes: ByteBudget;
  /** Returns the function that writes a response that is not streamed, if it is to be rewritten. */
  readonly rewriter: () => ResponseRewriter | undefined;
  /** The addresses of the server; the console's is linked from refusals when it is known. */
  readonly addresses?: Readonly<Addresses> | undefined;
}

/** Writes responses; the names of the vendor's headers are configurable. */
export class ResponseWriter {
  readonly #headerNames: VendorNames;
  readonly #clock: AdjustableClock;
  readonly #openFiles: Semaphore;
  readonly #unreadBytes: ByteBudget;
  readonly #rewriter: () => ResponseRewriter | undefined;
  readonly #addresses: Readonly<Addresses> | undefined;

  constructor({ headerNames, clock, openFiles, unreadBytes, rewriter, addresses }: WriterOptions) {
    this.#headerNames = headerNames;
    this.#clock = clock;
    this.#openFiles = openFiles;
    this.#unreadBytes = unreadBytes;
    this.#rewriter = rewriter;
    this.#addresses = addresses;
  }

  /**
   * Writes a success. `mediaType` is set when the body is not JSON. Returns a promise for a body
   * that is generated in parts; it rejects when a part cannot be generated.
   */
  succeed(exchange: Exchange, response: Success, mediaType?: string): Promise<void> | undefined {
    const headers = response.headers ? Object.entries(response.headers) : [];
    const { body, fileBody, status } = response;
    if (fileBody) {
      this.#sendFile(exchange, fileBody, headers);
    } else if (body === undefined) {
      this.#write(exchange, status, headers);
    } else if (body instanceof JsonList) {
      headers.push(['Content-Type', jsonType]);
      if (!body.isWhole) {
        exchange.record.responseBody = textStart(body.start);
        return this.#stream(exchange, status, { headers, parts: body });
      }
      this.#write(exchange, status, headers, body.start);
    } else if (mediaType === undefined) {
      headers.push(['Content-Type', jsonType]);
      this.#write(exchange, status, headers, JSON.stringify(body));
    } else if (typeof body === 'string' || Buffer.isBuffer(body)) {
      headers.push(['Content-Type', mediaType]);
      this.#write(exchange, status, headers, body);
    } else {
      headers.push(['Content-Type', mediaType]);
      return this.#stream(exchange, status, { headers, parts: body as BodyParts });
    }
    return undefined;
  }

  #sendFile(
    exchange: Exchange,
    body: FileBody,
    headers: readonly (readonly [string, HeaderValue])[],
  ): void {
    const { response } = exchange;
    // A destroyed response emits no further event that would release the open file.
    if (response.destroyed) return;
    if (!this.#openFiles.tryAcquire()) {
      this.refuse(exchange, tooManyOpenFiles);
      return;
    }
    response.once('close', () => this.#openFiles.release());
    this.#applyHeaders(exchange, headers);
    sendFile(exchange, body, (refusal) => this.refuse(exchange, refusal));
  }

  /** Writes a refusal with the Error body. Spec: Errors, rule 1 */
  refuse(exchange: Exchange, refusal: Refusal): void {
    const { record, requestId, response } = exchange;
    record.refusal = refusal;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const error = { error: refusal.error, request_id: requestId };
    const body = refusal.body ? { ...refusal.body, ...error } : error;
    const headers: [string, HeaderValue][] = Object.entries(refusal.headers);
    headers.push(['Content-Type', jsonType]);
    const consoleUrl = this.#addresses?.console;
    if (consoleUrl !== undefined) {
      // Links to the console, which asks for the token that a reader of this header may not have.
      const url = `${consoleUrl}/#request=${encodeURIComponent(requestId)}`;
      headers.push([this.#headerNames.testbed.explain, url]);
    }
    this.#write(exchange, refusal.status, headers, JSON.stringify(body));
  }

  /** Answers a CORS preflight with the methods and headers that a page of any origin may send. */
  preflight(exchange: Exchange, methods: readonly string[]): void {
    const requested = exchange.request.headers['access-control-request-headers'] ?? '';
    const corsHeaders = requested
      .split(',')
      .map((name) => name.trim())
      .filter((name) => /^[A-Za-z0-9-]{1,100}$/.test(name))
      .filter((name) =>
        name.toLowerCase().startsWith(`${this.#headerNames.prefix.toLowerCase()}-`),
      );
    const allowedHeaders = [
      'Authorization',
      'Content-Type',
      this.#headerNames.signature,
      this.#headerNames.requestId,
    ];
    const allowedNames = new Map(
      [...allowedHeaders, ...corsHeaders].map((name) => [name.toLowerCase(), name]),
    );
    this.#write(exchange, 204, [
      ['Access-Control-Allow-Methods', methods.join(', ')],
      ['Access-Control-Allow-Headers', [...allowedNames.values()].join(', ')],
      ['Access-Control-Max-Age', '600'],
      ['Allow', methods.join(', ')],
    ]);
  }

  #write(
    exchange: Exchange,
    status: number,
    headers: readonly (readonly [string, HeaderValue])[],
    body?: string | Buffer,
  ): void {
    const { response } = exchange;
    const rawHeaders: HeaderValue[] = [this.#headerNames.requestId, exchange.requestId];
    for (const [name, value] of headers) rawHeaders.push(name, value);
    for (const [name, value] of this.#common(exchange)) rawHeaders.push(name, value);
    if (body !== undefined) rawHeaders.push('Content-Length', String(Buffer.byteLength(body)));
    // The length is omitted for HEAD: it would have to be that of the response to a GET, which is
    // not known here.
    else if (status !== 204 && status !== 304 && exchange.request.method !== 'HEAD') {
      rawHeaders.push('Content-Length', '0');
    }
    const rewrite = this.#rewriter();
    if (rewrite) {
      const sentId = exchange.request.headers[this.#headerNames.requestId.toLowerCase()];
      const isRequestIdGenerated = sentId !== exchange.requestId;
      rewrite(exchange, { status, rawHeaders, body, isRequestIdGenerated });
      this.#countUnread(response);
      return;
    }
    const { record } = exchange;
    record.status = status;
    record.responseHeaders = rawHeaders;
    record.responseBody = body;
    response.writeHead(status, rawHeaders as string[]);
    response.end(body);
    this.#countUnread(response);
  }

  /** Counts the unsent bytes of a finished response until the client has read them. */
  #countUnread(response: Exchange['response']): void {
    const { writableLength = 0 } = response.socket ?? {};
    if (writableLength <= UNCOUNTED_BYTES) return;
    const unreadData = this.#unreadBytes.open(() => response.destroy());
    response.once('close', () => unreadData.set(0));
    unreadData.set(writableLength);
  }

  #applyHeaders(exchange: Exchange, headers: readonly (readonly [string, HeaderValue])[]): void {
    const { response } = exchange;
    response.setHeader(this.#headerNames.requestId, exchange.requestId);
    for (const [name, value] of headers) response.setHeader(name, value);
    for (const [name, value] of this.#common(exchange)) response.appendHeader(name, value);
  }

  /** Streams text or bytes in chunks, and waits while the client reads more slowly. */
  async #stream(
    exchange: Exchange,
    status: number,
    { headers, parts }: { headers: [string, HeaderValue][]; parts: BodyParts },
  ): Promise<void> {
    const { record, response } = exchange;
    record.isStreamed = true;
    this.#applyHeaders(exchange, headers);
    response.writeHead(status);
    // A synchronous generator runs in turns, so that it does not block other requests.
    const paced = Symbol.asyncIterator in parts ? parts : yieldInTurns(parts);
    const unreadData = this.#unreadBytes.open(() => response.destroy());
    for await (const part of paced) {
      if (response.destroyed) return;
      record.responseBytes += Buffer.byteLength(part);
      if (response.write(part)) continue;
      unreadData.set(STREAM_BYTES + response.writableLength);
      await untilDrained(response);
      unreadData.set(0);
    }
    response.end();
    this.#countUnread(response);
  }

  /** Returns the headers common to every response of this exchange. */
  #common(exchange: Exchange): readonly (readonly [string, string])[] {
    const { addedHeaders } = exchange;
    const crossOrigin = this.#crossOrigin(exchange);
    const clock = exchange.clock ?? this.#clock;
    // Node adds a Date of the system clock by itself; any other clock needs an explicit Date.
    if (clock.isSystem) return addedHeaders ? [...addedHeaders, ...crossOrigin] : crossOrigin;
    const time = new Date(clock.now());
    const date = ['Date', time.toUTCString()] as const;
    const testbed = [this.#headerNames.testbed.time, time.toISOString()] as const;
    return [date, testbed, ...(addedHeaders ?? []), ...crossOrigin];
  }

  /**
   * Returns the CORS headers that let a page of another origin read the response. Browsers send
   * Origin with such requests.
   */
  #crossOrigin({ request }: Exchange): readonly (readonly [string, string])[] {
    if (request.headers.origin === undefined && request.method !== 'OPTIONS') return [];
    return [
      ['Access-Control-Allow-Origin', '*'],
      ['Access-Control-Expose-Headers', `${corsExposed}, ${this.#headerNames.requestId}`],
    ];
  }
}

/** The refusal for a file that cannot be sent or received because too many files are open. */
export const tooManyOpenFiles = refuse.unavailable(
  'the server has reached its limit of open files and connections; try again later',
);

/** Resolves when the response accepts more data, or is closed. */
function untilDrained(response: Exchange['response']): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      // Both listeners are removed, or the unused one would accumulate with every wait.
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}
