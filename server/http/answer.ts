/**
 * Writes answers; the only place that defines the wire format of bodies, errors and common headers.
 */
import { inTurns } from '../../fixtures/clock.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { SteeredClock } from '../../fixtures/steered-clock.ts';
import type { Addresses } from './addresses.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Exchange } from './exchange.ts';
import { keptText } from './exchange-record.ts';
import { sendFile } from './file-body.ts';
import { JsonList } from './json-list.ts';
import type { Semaphore } from './open-files.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { FileBody, Success } from './success.ts';

type HeaderValue = string | readonly string[];
type Parts = Iterable<string> | AsyncIterable<string | Uint8Array>;

/** What a connection may hold of an answer without being counted. */
const UNCOUNTED_BYTES = 16_384;
/** What an answer that is made while it is read takes besides its bytes. */
const STREAM_BYTES = 65_536;

/** Media type of every JSON answer. */
export const jsonType = 'application/json; charset=utf-8';
const corsExposed =
  'Link, X-Total-Count, Retry-After, Content-Disposition, Content-Range, Deprecation, Sunset';

/** An answer that has begun was not finished; the caller sees its connection end. */
export class AnswerCutOff extends Error {
  override readonly name = 'AnswerCutOff';
}

/** An answer that has not been written yet. */
export interface PlainAnswer {
  readonly status: number;
  /** Alternating names and values, including the length. */
  readonly flat: readonly (string | readonly string[])[];
  readonly body: string | Buffer | undefined;
  /** True when the server made the request id. */
  readonly ownRequestId: boolean;
}

/** Writes an answer in another form. */
export type AnswerRewriter = (exchange: Exchange, plain: PlainAnswer) => void;

interface WriterOptions {
  readonly names: VendorNames;
  /** Used for exchanges without a clock of their own. */
  readonly clock: SteeredClock;
  readonly openFiles: Semaphore;
  /** Counts what clients have not read; the oldest one that is not read is cut for others. */
  readonly unread: ByteBudget;
  /** Receives every answer sent in one piece, if set. */
  readonly rewrite?: AnswerRewriter | undefined;
  /** URL where refusals are explained, if answers are to include it. */
  readonly explainedAt?: Readonly<Addresses> | undefined;
}

/** Writes answers under a vendor prefix. */
export class AnswerWriter {
  readonly #names: VendorNames;
  readonly #clock: SteeredClock;
  readonly #openFiles: Semaphore;
  readonly #unread: ByteBudget;
  readonly #rewrite: AnswerRewriter | undefined;
  readonly #explainedAt: Readonly<Addresses> | undefined;

  constructor({ names, clock, openFiles, unread, rewrite, explainedAt }: WriterOptions) {
    this.#names = names;
    this.#clock = clock;
    this.#openFiles = openFiles;
    this.#unread = unread;
    this.#rewrite = rewrite;
    this.#explainedAt = explainedAt;
  }

  /**
   * Writes a success; `mediaType` when the body is not JSON. For a body generated in parts it
   * returns a promise, which rejects when a part cannot be generated.
   */
  succeed(exchange: Exchange, answer: Success, mediaType?: string): Promise<void> | undefined {
    const headers = answer.headers ? Object.entries(answer.headers) : [];
    const { body, fileBody, status } = answer;
    if (fileBody) {
      this.#sendFile(exchange, fileBody, headers);
    } else if (body === undefined) {
      this.#write(exchange, status, headers);
    } else if (body instanceof JsonList) {
      headers.push(['Content-Type', jsonType]);
      if (!body.isWhole) {
        exchange.record.answerBody = keptText(body.beginning);
        return this.#stream(exchange, status, { headers, parts: body });
      }
      this.#write(exchange, status, headers, body.beginning);
    } else if (mediaType === undefined) {
      headers.push(['Content-Type', jsonType]);
      this.#write(exchange, status, headers, JSON.stringify(body));
    } else if (typeof body === 'string' || Buffer.isBuffer(body)) {
      headers.push(['Content-Type', mediaType]);
      this.#write(exchange, status, headers, body);
    } else {
      headers.push(['Content-Type', mediaType]);
      return this.#stream(exchange, status, { headers, parts: body as Parts });
    }
    return undefined;
  }

  #sendFile(
    exchange: Exchange,
    body: FileBody,
    headers: readonly (readonly [string, HeaderValue])[],
  ): void {
    const { response } = exchange;
    // A destroyed response emits no further event to wait for.
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
    const consoleUrl = this.#explainedAt?.console;
    if (consoleUrl !== undefined) {
      // Links to a page that asks for the token, which the reader of the header may not have at
      // hand.
      const place = `${consoleUrl}/#request=${encodeURIComponent(requestId)}`;
      headers.push([this.#names.testbed.explain, place]);
    }
    this.#write(exchange, refusal.status, headers, JSON.stringify(body));
  }

  /** Answers a preflight: what a page of any origin may send here. */
  preflight(exchange: Exchange, methods: readonly string[]): void {
    const asked = exchange.request.headers['access-control-request-headers'] ?? '';
    const own = asked
      .split(',')
      .map((name) => name.trim())
      .filter((name) => /^[A-Za-z0-9-]{1,100}$/.test(name))
      .filter((name) => name.toLowerCase().startsWith(`${this.#names.prefix.toLowerCase()}-`));
    const known = ['Authorization', 'Content-Type', this.#names.signature, this.#names.requestId];
    const allowed = new Map([...known, ...own].map((name) => [name.toLowerCase(), name]));
    this.#write(exchange, 204, [
      ['Access-Control-Allow-Methods', methods.join(', ')],
      ['Access-Control-Allow-Headers', [...allowed.values()].join(', ')],
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
    const flat: HeaderValue[] = [this.#names.requestId, exchange.requestId];
    for (const [name, value] of headers) flat.push(name, value);
    for (const [name, value] of this.#common(exchange)) flat.push(name, value);
    if (body !== undefined) flat.push('Content-Length', String(Buffer.byteLength(body)));
    // A HEAD describes the answer to a GET, whose length is not known here.
    else if (status !== 204 && status !== 304 && exchange.request.method !== 'HEAD') {
      flat.push('Content-Length', '0');
    }
    if (this.#rewrite) {
      const given = exchange.request.headers[this.#names.requestId.toLowerCase()];
      const ownRequestId = given !== exchange.requestId;
      this.#rewrite(exchange, { status, flat, body, ownRequestId });
      this.#countUnread(response);
      return;
    }
    const { record } = exchange;
    record.status = status;
    record.answerHeaders = flat;
    record.answerBody = body;
    response.writeHead(status, flat as string[]);
    response.end(body);
    this.#countUnread(response);
  }

  /** Counts what is left of an answer that has ended, until its client has read it. */
  #countUnread(response: Exchange['response']): void {
    const { writableLength = 0 } = response.socket ?? {};
    if (writableLength <= UNCOUNTED_BYTES) return;
    const held = this.#unread.open(() => response.destroy());
    response.once('close', () => held.set(0));
    held.set(writableLength);
  }

  #applyHeaders(exchange: Exchange, headers: readonly (readonly [string, HeaderValue])[]): void {
    const { response } = exchange;
    response.setHeader(this.#names.requestId, exchange.requestId);
    for (const [name, value] of headers) response.setHeader(name, value);
    for (const [name, value] of this.#common(exchange)) response.appendHeader(name, value);
  }

  /** Streams text in chunks, and waits when the reader is slower. */
  async #stream(
    exchange: Exchange,
    status: number,
    { headers, parts }: { headers: [string, HeaderValue][]; parts: Parts },
  ): Promise<void> {
    const { record, response } = exchange;
    record.isStreamed = true;
    this.#applyHeaders(exchange, headers);
    response.writeHead(status);
    // Generated parts must not block other requests.
    const paced = Symbol.asyncIterator in parts ? parts : inTurns(parts);
    const held = this.#unread.open(() => response.destroy());
    for await (const part of paced) {
      if (response.destroyed) return;
      record.answerBytes += Buffer.byteLength(part);
      if (response.write(part)) continue;
      held.set(STREAM_BYTES + response.writableLength);
      await drained(response);
      held.set(0);
    }
    response.end();
    this.#countUnread(response);
  }

  /** Returns the headers that every answer of this exchange has besides its own. */
  #common(exchange: Exchange): readonly (readonly [string, string])[] {
    const { notices } = exchange;
    const crossOrigin = this.#crossOrigin(exchange);
    const clock = exchange.clock ?? this.#clock;
    // Node adds Date from the system clock on its own; any other clock needs an explicit header.
    if (clock.isSystem) return notices ? [...notices, ...crossOrigin] : crossOrigin;
    const now = new Date(clock.now());
    const date = ['Date', now.toUTCString()] as const;
    const testbed = [this.#names.testbed.time, now.toISOString()] as const;
    return [date, testbed, ...(notices ?? []), ...crossOrigin];
  }

  /**
   * Returns the headers that let a page of another origin read the answer; only such a page sends
   * Origin.
   */
  #crossOrigin({ request }: Exchange): readonly (readonly [string, string])[] {
    if (request.headers.origin === undefined && request.method !== 'OPTIONS') return [];
    return [
      ['Access-Control-Allow-Origin', '*'],
      ['Access-Control-Expose-Headers', `${corsExposed}, ${this.#names.requestId}`],
    ];
  }
}

/** The refusal for a file that cannot be sent or received now. */
export const tooManyOpenFiles = refuse.unavailable(
  'the server has reached its limit of open files and connections; try again later',
);

/** Resolves when the response accepts more data, or is closed. */
function drained(response: Exchange['response']): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      // The other listener would remain, one more at every wait.
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}
