/** The record of a request and its response: bounded, as evidence for a verdict. */
import { excerptOf } from '../../fixtures/base/excerpt.ts';
import { MASKED } from './mask.ts';
import { type RequestSignature, signatureOf } from './signed-request.ts';
import { gzipBase64, type RecordedForm, recordedForm, type UploadForm } from './upload-form.ts';

/** Maximum length of a recorded body; longer for requests, so that a repro script can send them. */
const REQUEST_BODY_MAX_CHARACTERS = 16_384;
const RESPONSE_BODY_MAX_CHARACTERS = 4096;
/** Longer limit for the record of a case, since a script reads IDs from responses such as lists. */
const KEPT_RESPONSE_MAX_CHARACTERS = 131_072;
/** Exchanges recorded per case for its script; the oldest are dropped first. */
const EXCHANGES_MAX = 500;
/** Exchanges per case that a report shows, the newest. */
const REPORTED_MAX = 40;

/** Header names in lower case; a repeated header is joined by commas. */
export type Headers = Readonly<Record<string, string>>;

/** One request and its outcome. */
export interface TargetExchange {
  /** Start time, since the start of the run. */
  readonly startMs: number;
  readonly request: {
    /** The method and the full URL, separated by a space. */
    readonly line: string;
    readonly headers: Headers;
    readonly body?: string;
    /** Set when the bytes are not UTF-8: each character of `body` is then one byte. */
    readonly bodyEncoding?: 'latin1';
    /** Set when `body` is truncated: how many bytes were sent. */
    readonly bodyBytes?: number;
    /** A truncated body, gzip and Base64. Only for scripts; reports omit it. */
    readonly content?: string;
    readonly signature?: RequestSignature | undefined;
    /** The form that was sent instead of a body. */
    readonly form?: RecordedForm;
  };
  readonly response?: {
    readonly status: number;
    readonly headers: Headers;
    readonly body?: string;
  };
  /** The reason why there is no response. */
  readonly failure?: string;
  readonly elapsedMs: number;
}

/** The exchanges of one case, newest last. */
export class ExchangeList {
  readonly #exchanges: TargetExchange[] = [];
  #dropped = 0;

  add(exchange: TargetExchange): void {
    this.#exchanges.push(exchange);
    if (this.#exchanges.length > EXCHANGES_MAX) {
      this.#exchanges.shift();
      this.#dropped += 1;
    }
  }

  get exchanges(): readonly TargetExchange[] {
    return this.#exchanges;
  }

  /** Number of exchanges dropped at the start. */
  get dropped(): number {
    return this.#dropped;
  }
}

/**
 * Returns the newest exchanges without the files that they sent, and the number of omitted ones.
 */
export function reportedExchanges(
  exchanges: readonly TargetExchange[],
  dropped = 0,
): { readonly exchanges: readonly TargetExchange[]; readonly exchangesDropped?: number } {
  const keptExchanges = exchanges.slice(-REPORTED_MAX).map(reportedExchange);
  const droppedCount = dropped + exchanges.length - keptExchanges.length;
  return { exchanges: keptExchanges, ...(droppedCount > 0 && { exchangesDropped: droppedCount }) };
}

/** Returns an exchange as a report shows it. */
export function reportedExchange({ request, response, ...rest }: TargetExchange): TargetExchange {
  const { content: _, form, ...reported } = request;
  const body =
    response?.body === undefined ? {} : { body: cut(response.body, RESPONSE_BODY_MAX_CHARACTERS) };
  return {
    ...rest,
    request: { ...reported, ...(form && { form: withoutFile(form) }) },
    ...(response && { response: { ...response, ...body } }),
  };
}

function withoutFile({ content: _, ...form }: RecordedForm): RecordedForm {
  return form;
}

/** Input for the record of a request. */
interface RequestInput {
  readonly method: string;
  readonly url: string;
  readonly headers?: Headers;
  readonly body?: unknown;
  readonly form?: UploadForm;
}

/** Input for the record of a response. */
interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** Returns the text of a body that is sent in pieces, which may end inside a character. */
export function joinedChunks(chunks: readonly (string | Buffer)[]): string {
  return Buffer.concat(
    chunks.map((each) => (typeof each === 'string' ? Buffer.from(each) : each)),
  ).toString();
}

/** Returns the record of a request and of its response or error. */
export function exchangeOf(
  { method, url, headers = {}, body, form }: RequestInput,
  outcome: ReceivedResponse | Error,
  times: Pick<TargetExchange, 'startMs' | 'elapsedMs'>,
): TargetExchange {
  const bodyBytes = Array.isArray(body) ? joinedChunks(body) : body;
  const chunks = Array.isArray(body) ? { 'transfer-encoding': 'chunked' } : {};
  const request = {
    line: `${method} ${asSent(url)}`,
    headers: recordedHeaders({ ...headers, ...chunks }),
    ...sentBody(bodyBytes),
    ...(form && { form: recordedForm(form) }),
    // Only reports and scripts of a few cases read it, and it takes long to verify.
    get signature() {
      return signatureOf(headers, bodyBytes);
    },
  };
  const startMs = Math.round(times.startMs);
  const elapsedMs = Math.round(times.elapsedMs);
  if (outcome instanceof Error) return { startMs, request, failure: outcome.message, elapsedMs };
  const response = {
    status: outcome.status,
    headers: recordedHeaders(outcome.headers),
    ...receivedBody(outcome.bytes),
  };
  return { startMs, request, response, elapsedMs };
}

/** Returns the URL as clients send it: with dot segments resolved and characters escaped. */
function asSent(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url;
}

/** Records the body of a request so that its exact bytes can be recovered. */
function sentBody(body: unknown): Partial<TargetExchange['request']> {
  if (body === undefined || body === null || body === '') return {};
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return {};
  const bytes = Buffer.from(body);
  if (bytes.length === 0) return {};
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text).equals(bytes);
  const fullText = isText ? text : bytes.toString('latin1');
  const keptText = cut(fullText, REQUEST_BODY_MAX_CHARACTERS);
  return {
    body: keptText,
    ...(isText ? {} : { bodyEncoding: 'latin1' }),
    ...(keptText === fullText ? {} : { bodyBytes: bytes.length, content: gzipBase64(bytes) }),
  };
}

function receivedBody(bytes: Buffer): { readonly body?: string } {
  if (bytes.length === 0) return {};
  const text = bytes.toString('utf8');
  const isText = !text.includes('\0') && !text.includes('\uFFFD');
  const body = isText
    ? cut(text, KEPT_RESPONSE_MAX_CHARACTERS)
    : `<${bytes.length} bytes, not text>`;
  return { body };
}

function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return `${excerptOf(text, charactersMax)}<${text.length - charactersMax} more>`;
}

function recordedHeaders(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, recordedHeader(name, value)]),
  );
}

/** Masks the values in Set-Cookie, which are secrets that the mask does not have. */
function recordedHeader(name: string, value: string): string {
  return name === 'set-cookie' ? value.replace(/=[^;,]*/g, `=${MASKED}`) : value;
}
