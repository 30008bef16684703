/** One answered exchange in the form that checks read, from any source. */
import { isObject, parsedJson } from '../../fixtures/base/json.ts';
import { jsonExcess } from '../../fixtures/base/json-bounds.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import type { Headers } from '../target/exchange.ts';
import type { HttpResponse } from '../target/response.ts';

/** Sizes up to these limits are ordinary: no server may refuse such a request as too large. */
const ORDINARY_BODY_MAX_BYTES = 16_384;
const ORDINARY_URL_MAX_CHARACTERS = 2000;
const ORDINARY_HEADERS_MAX_CHARACTERS = 6000;

/** The properties of a request that checks use to judge its response. */
export interface JudgedRequest {
  /** The absolute URL of the request. */
  readonly url: string;
  readonly headers: Headers;
  /** The body; absent if none was sent or if it was not recorded. */
  readonly body?: string | Buffer | undefined;
  readonly bodyBytes: number;
  /** True if the body was sent in chunks, without a Content-Length. */
  readonly isChunked: boolean;
  /**
   * Times by the recorder's clock, in milliseconds: `sentMs` is when the request was sent, and
   * `endedMs` is when the response was complete.
   */
  readonly sentMs: number;
  readonly endedMs: number;
}

/** Statuses that are common to all operations. Spec: Errors */
const commonRefusals = [401, 403, 429, 500];

interface Json {
  /** Undefined when the text is not JSON. */
  readonly value: unknown;
}

/** One exchange with an operation. */
export class JudgedExchange {
  readonly operation: Operation;
  readonly request: JudgedRequest;
  readonly response: HttpResponse;
  /** Name of the header that carries the request ID, in lower case. */
  readonly requestIdHeader: string;
  /** True if the body of the response was recorded and is not compressed. */
  readonly hasBody: boolean;
  #sent: Json | undefined;
  #received: Json | undefined;
  #isOrdinary: boolean | undefined;
  #parsedUrl: URL | undefined;

  constructor(
    operation: Operation,
    request: JudgedRequest,
    {
      response,
      requestIdHeader,
      isWhole = true,
    }: {
      readonly response: HttpResponse;
      readonly requestIdHeader: string;
      /** False when the body of the response was not kept. */
      readonly isWhole?: boolean;
    },
  ) {
    this.operation = operation;
    this.request = request;
    this.response = response;
    this.requestIdHeader = requestIdHeader.toLowerCase();
    const encoding = response.headers['content-encoding'] ?? 'identity';
    this.hasBody = isWhole && encoding === 'identity';
  }

  get status(): number {
    return this.response.status;
  }

  get isSuccess(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get isRefusal(): boolean {
    return this.status >= 400;
  }

  /** The ID of the operation; undefined for a management operation outside the contract. */
  get contractOperation(): OperationId | undefined {
    const { id } = this.operation;
    return Object.hasOwn(operations, id) ? (id as OperationId) : undefined;
  }

  /** True if the operation, or the contract's common statuses, list the refusal. */
  get isNamedRefusal(): boolean {
    const { refusals } = this.operation;
    const isCommon = commonRefusals.includes(this.status) || this.status === 400;
    return this.isRefusal && (isCommon || refusals.includes(this.status));
  }

  /** The parsed JSON body of the request; undefined when the body is not JSON. */
  get requestJson(): unknown {
    const { body = '' } = this.request;
    this.#sent ??= parseJson(Buffer.from(body), String(body));
    return this.#sent.value;
  }

  /** The parsed JSON body of the response; undefined when the body is not JSON. */
  get responseJson(): unknown {
    this.#received ??= parseJson(this.response.bytes, this.response.text);
    return this.#received.value;
  }

  /** The body of the response if it is a JSON object; otherwise undefined. */
  get responseObject(): Readonly<Record<string, unknown>> | undefined {
    return isObject(this.responseJson) ? this.responseJson : undefined;
  }

  /** The request ID in the header of the request; undefined if the caller sent none. */
  get requestId(): string | undefined {
    return this.header(this.requestIdHeader);
  }

  /** The token in the Authorization header of the request. */
  get token(): string | undefined {
    return this.header('authorization')?.replace(/^Bearer /i, '');
  }

  /** The deployment ID in the path of the request, which is the last segment but one. */
  get deploymentId(): string {
    return this.segment(1);
  }

  /**
   * The time of the response from its Date header, which is the server's clock, in milliseconds
   * since the Unix epoch; the recorder's time if there is no valid Date.
   */
  get serverNowMs(): number {
    const serverMs = Date.parse(this.response.headers.date ?? '');
    return Number.isNaN(serverMs) ? this.request.endedMs : serverMs;
  }

  /** True if every HTTP server accepts the form of the request: see `isOrdinaryRequest`. */
  get isOrdinary(): boolean {
    this.#isOrdinary ??= isOrdinaryRequest(this.request, this.operation);
    return this.#isOrdinary;
  }

  /** Returns a header of the request. @param name the name in lower case */
  header(name: string): string | undefined {
    return headerOf(this.request.headers, name);
  }

  /** Returns a query parameter; undefined if it is absent or repeated. */
  parameter(name: string): string | undefined {
    const values = this.#url.searchParams.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  }

  /** True if a query parameter repeats: the contract does not say which of its values counts. */
  get repeatsParameter(): boolean {
    const names = [...this.#url.searchParams.keys()];
    return new Set(names).size < names.length;
  }

  /** Returns the segment of the request's path that the operation's path calls by this name. */
  pathParameter(name: string): string {
    return this.segment(this.operation.path.split('/').toReversed().indexOf(`{${name}}`));
  }

  /** Returns a segment of the request's path: see `segmentOf`. */
  segment(indexFromEnd = 0): string {
    return segmentOf(this.#url, indexFromEnd);
  }

  get #url(): URL {
    this.#parsedUrl ??= new URL(this.request.url);
    return this.#parsedUrl;
  }
}

/**
 * Returns a segment of a URL's path, counted from the end: 0 is the last. The segment is decoded
 * unless its percent-encoding is invalid.
 */
export function segmentOf(url: string | URL, indexFromEnd: number): string {
  const { pathname } = typeof url === 'string' ? new URL(url) : url;
  const segment = pathname.split('/').at(-1 - indexFromEnd) ?? '';
  try {
    return decodeURIComponent(segment);
  } catch {
    // The percent-encoding is invalid, so the segment is returned unchanged.
    return segment;
  }
}

function headerOf(headers: Headers, name: string): string | undefined {
  return headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function parseJson(bytes: Buffer, text: string): Json {
  if (bytes.length === 0 || jsonExcess(bytes) !== undefined) return { value: undefined };
  return { value: parsedJson(text) };
}

/**
 * Returns true if every HTTP server and proxy accepts the form of the request: it has an ordinary
 * size, a URL that can be decoded, and the media type of the operation. A gateway may refuse any
 * other request before it reaches the operation.
 */
export function isOrdinaryRequest(
  { url, headers, bodyBytes, isChunked }: Omit<JudgedRequest, 'sentMs' | 'endedMs'>,
  operation: Operation,
): boolean {
  const texts = Object.entries(headers).flat();
  const type = headerOf(headers, 'content-type');
  const isJson = type === undefined || /^application\/json$/i.test(type);
  return (
    bodyBytes <= ORDINARY_BODY_MAX_BYTES &&
    !isChunked &&
    (isJson || operation.mediaType !== undefined) &&
    isDecodable(url) &&
    texts.join('').length <= ORDINARY_HEADERS_MAX_CHARACTERS &&
    texts.every((text) => /^[\t\x20-\x7e]*$/.test(text)) &&
    ['expect', 'transfer-encoding'].every((name) => headerOf(headers, name) === undefined)
  );
}

function isDecodable(url: string): boolean {
  if (url.length > ORDINARY_URL_MAX_CHARACTERS) return false;
  try {
    // Many proxies refuse URLs with encoded control characters, such as null bytes.
    return !/\p{Cc}/u.test(decodeURIComponent(url.replaceAll('+', ' ')));
  } catch {
    return false;
  }
}
