/** One answered exchange as rules see it, whoever recorded it. */
import type { Operation } from '../../fixtures/contract/operation.ts';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { isObject, parsedJson } from '../../fixtures/json.ts';
import { jsonExcess } from '../../fixtures/json-bounds.ts';
import type { Answer } from '../target/answer.ts';
import type { Headers } from '../target/exchange.ts';

/** Up to here no server may find a request too large in any respect. */
const ORDINARY_BODY_MAX_BYTES = 16_384;
const ORDINARY_URL_MAX_CHARACTERS = 2000;
const ORDINARY_HEADERS_MAX_CHARACTERS = 6000;

/** The members of a request by which its answer is judged. */
export interface JudgedRequest {
  /** The absolute URL of the request. */
  readonly url: string;
  readonly headers: Headers;
  /** Absent when none was sent, or when it is not looked at. */
  readonly body?: string | Buffer | undefined;
  readonly bodyBytes: number;
  /** Sent piece by piece, without a Content-Length. */
  readonly isChunked: boolean;
  /** When it was sent and when its answer was whole, in milliseconds by the recorder's clock. */
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
  readonly row: Operation;
  readonly request: JudgedRequest;
  readonly answer: Answer;
  /** The header with the id of a request, in lower case. */
  readonly requestIdHeader: string;
  /** Whether the body of the answer is known, and is not compressed. */
  readonly hasBody: boolean;
  #sent: Json | undefined;
  #received: Json | undefined;
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

  get isSuccess(): boolean {
    return this.status >= 200 && this.status < 300;
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

  /** The JSON of the request's body; undefined when it is none. */
  get sent(): unknown {
    const { body = '' } = this.request;
    this.#sent ??= parsed(Buffer.from(body), String(body));
    return this.#sent.value;
  }

  /** The JSON of the answer's body; undefined when it is none. */
  get json(): unknown {
    this.#received ??= parsed(this.answer.bytes, this.answer.text);
    return this.#received.value;
  }

  /** The body when it is a JSON object. */
  get object(): Readonly<Record<string, unknown>> | undefined {
    return isObject(this.json) ? this.json : undefined;
  }

  /** The id that the caller gave the request. */
  get requestId(): string | undefined {
    return this.header(this.requestIdHeader);
  }

  /** The token that the request carried. */
  get token(): string | undefined {
    return this.header('authorization')?.replace(/^Bearer /i, '');
  }

  /** The deployment that the request names in its path. */
  get deploymentId(): string {
    return this.segment(1);
  }

  /** By the server's own clock, which need not be the recorder's. */
  get serverNowMs(): number {
    const named = Date.parse(this.answer.headers.date ?? '');
    return Number.isNaN(named) ? this.request.endedMs : named;
  }

  /** Whether every server and proxy of HTTP reads the request. */
  get isOrdinary(): boolean {
    this.#isOrdinary ??= isOrdinaryRequest(this.request, this.row);
    return this.#isOrdinary;
  }

  /** A header of the request. @param name in lower case */
  header(name: string): string | undefined {
    return headerOf(this.request.headers, name);
  }

  /** A parameter that the query has once. */
  parameter(name: string): string | undefined {
    const values = new URL(this.request.url).searchParams.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  }

  /** The last segment but `before` of the path, decoded where it can be. */
  segment(before = 0): string {
    return segmentOf(this.request.url, before);
  }
}

/** The last segment but `before` of a URL's path, decoded where it can be. */
export function segmentOf(url: string, before: number): string {
  const segment = new URL(url).pathname.split('/').at(-1 - before) ?? '';
  try {
    return decodeURIComponent(segment);
  } catch {
    // Nothing is encoded that way, so it is accepted unchanged.
    return segment;
  }
}

function headerOf(headers: Headers, name: string): string | undefined {
  return headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function parsed(bytes: Buffer, text: string): Json {
  if (bytes.length === 0 || jsonExcess(bytes) !== undefined) return { value: undefined };
  return { value: parsedJson(text) };
}

/**
 * Whether the request is one that every server and proxy of HTTP reads: of an ordinary size, with a
 * path that can be decoded, labelled as JSON. Others may be refused before an operation is met.
 */
export function isOrdinaryRequest(
  { url, headers, bodyBytes, isChunked }: Omit<JudgedRequest, 'sentMs' | 'endedMs'>,
  row: Operation,
): boolean {
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
