/** One answered exchange as invariants see it, whoever recorded it. */
import type { Operation } from '../../fixtures/contract/operation.ts';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { jsonExcess } from '../../fixtures/json-bounds.ts';
import type { Answer } from '../target/answer.ts';
import type { Headers } from '../target/exchange.ts';

/** Up to here no server may find a request too large in any respect. */
const ORDINARY_BODY_MAX_BYTES = 16_384;
const ORDINARY_URL_MAX_CHARACTERS = 2000;
const ORDINARY_HEADERS_MAX_CHARACTERS = 6000;

/** What of a request bears on its answer. */
export interface JudgedRequest {
  /** Absolute. */
  readonly url: string;
  readonly headers: Headers;
  readonly bodyBytes: number;
  /** Sent piece by piece, without a Content-Length. */
  readonly isChunked: boolean;
}

/** Statuses that are common to all operations. Spec: Errors */
const commonRefusals = [401, 403, 429, 500];

/** One exchange with an operation. */
export class JudgedExchange {
  readonly row: Operation;
  readonly request: JudgedRequest;
  readonly answer: Answer;
  /** The header with the id of a request, in lower case. */
  readonly requestIdHeader: string;
  /** Whether the body of the answer is known, and is not compressed. */
  readonly hasBody: boolean;
  #json: { readonly value: unknown } | 'none' | undefined;
  #isOrdinary: boolean | undefined;

  constructor(
    row: Operation,
    request: JudgedRequest,
    {
      answer,
      requestIdHeader,
      isWhole = true,
    }: {
      readonly answer: Answer;
      readonly requestIdHeader: string;
      /** False when the body of the answer was not kept. */
      readonly isWhole?: boolean;
    },
  ) {
    this.row = row;
    this.request = request;
    this.answer = answer;
    this.requestIdHeader = requestIdHeader.toLowerCase();
    const encoding = answer.headers['content-encoding'] ?? 'identity';
    this.hasBody = isWhole && encoding === 'identity';
  }

  get status(): number {
    return this.answer.status;
  }

  get isRefusal(): boolean {
    return this.status >= 400;
  }

  /** The operation when it is one of the contract, not of the rest of management. */
  get contractOperation(): OperationId | undefined {
    const { id } = this.row;
    return Object.hasOwn(operations, id) ? (id as OperationId) : undefined;
  }

  /** Whether the contract, or the row of a management operation, names the refusal. */
  get isNamedRefusal(): boolean {
    const { refusals } = this.row;
    const isCommon = commonRefusals.includes(this.status) || this.status === 400;
    return this.isRefusal && (isCommon || refusals.includes(this.status));
  }

  /** The JSON of the body; undefined when it is none. */
  get json(): { readonly value: unknown } | undefined {
    this.#json ??= parsed(this.answer);
    return this.#json === 'none' ? undefined : this.#json;
  }

  /** The body when it is a JSON object. */
  get object(): Readonly<Record<string, unknown>> | undefined {
    const value = this.json?.value;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  }

  /** The id that the caller gave the request. */
  get requestId(): string | undefined {
    return headerOf(this.request.headers, this.requestIdHeader);
  }

  /**
   * Whether the request is one that every server and proxy of HTTP reads: of an ordinary size, with
   * a path that can be decoded, labelled as JSON. Others may be refused before an operation is met.
   */
  get isOrdinary(): boolean {
    this.#isOrdinary ??= isOrdinary(this.request, this.row);
    return this.#isOrdinary;
  }
}

function headerOf(headers: Headers, name: string): string | undefined {
  return headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function parsed({ bytes, text }: Answer): { readonly value: unknown } | 'none' {
  if (bytes.length === 0 || jsonExcess(bytes) !== undefined) return 'none';
  try {
    return { value: JSON.parse(text) };
  } catch {
    // That it is none is for a rule to say.
    return 'none';
  }
}

function isOrdinary({ url, headers, bodyBytes, isChunked }: JudgedRequest, row: Operation) {
  const texts = Object.entries(headers).flat();
  const type = headerOf(headers, 'content-type');
  const isJson = type === undefined || /^application\/json$/i.test(type);
  return (
    bodyBytes <= ORDINARY_BODY_MAX_BYTES &&
    !isChunked &&
    (isJson || row.mediaType !== undefined) &&
    isDecodable(url) &&
    texts.join('').length <= ORDINARY_HEADERS_MAX_CHARACTERS &&
    texts.every((text) => /^[\t\x20-\x7e]*$/.test(text)) &&
    ['expect', 'transfer-encoding'].every((name) => headerOf(headers, name) === undefined)
  );
}

function isDecodable(url: string): boolean {
  if (url.length > ORDINARY_URL_MAX_CHARACTERS) return false;
  try {
    // Null bytes and line ends in a path are refused by many a proxy.
    return !/\p{Cc}/u.test(decodeURIComponent(url.replaceAll('+', ' ')));
  } catch {
    return false;
  }
}
