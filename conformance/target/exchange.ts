/** What is written down of one request and its answer: bounded, as evidence for a verdict. */
import { MASKED } from './mask.ts';

/** Characters of a body that are kept. */
const BODY_MAX_CHARACTERS = 4096;
/** Exchanges that are kept of one case; the first ones make room. */
const EXCHANGES_MAX = 40;

/** Header names in lower case; a header that came several times is joined by commas. */
export type Headers = Readonly<Record<string, string>>;

/** One request and what came of it. */
export interface Exchange {
  readonly request: {
    /** Method and whole URL. */
    readonly line: string;
    readonly headers: Headers;
    readonly body?: string;
  };
  readonly answer?: {
    readonly status: number;
    readonly headers: Headers;
    readonly body?: string;
  };
  /** Why there is no answer. */
  readonly failure?: string;
  readonly elapsedMs: number;
}

/** The exchanges of one case, the newest at the end. */
export class ExchangeRecord {
  readonly #exchanges: Exchange[] = [];
  #dropped = 0;

  add(exchange: Exchange): void {
    this.#exchanges.push(exchange);
    if (this.#exchanges.length > EXCHANGES_MAX) {
      this.#exchanges.shift();
      this.#dropped += 1;
    }
  }

  get exchanges(): readonly Exchange[] {
    return this.#exchanges;
  }

  /** How many exchanges were left out at the beginning. */
  get dropped(): number {
    return this.#dropped;
  }
}

/** What goes into a record of a request. */
interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Headers;
  readonly body?: unknown;
}

/** What goes into a record of an answer. */
interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** The record of a request and of its answer, or of the error that came instead. */
export function exchangeOf(
  { method, url, headers = {}, body }: SentRequest,
  outcome: ReceivedAnswer | Error,
  elapsedMs: number,
): Exchange {
  const request = {
    line: `${method} ${url}`,
    headers: recordedHeaders(headers),
    ...bodyMember(body),
  };
  const elapsed = { elapsedMs: Math.round(elapsedMs) };
  if (outcome instanceof Error) return { request, failure: outcome.message, ...elapsed };
  const answer = {
    status: outcome.status,
    headers: recordedHeaders(outcome.headers),
    ...bodyMember(outcome.bytes),
  };
  return { request, answer, ...elapsed };
}

function bodyMember(body: unknown): { readonly body?: string } {
  if (body === undefined || body === null || body === '') return {};
  if (typeof body === 'string') return { body: cut(body) };
  if (!Buffer.isBuffer(body)) return { body: '<a streamed body>' };
  return body.length === 0 ? {} : { body: recordedBytes(body) };
}

function recordedBytes(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  const isText = !text.includes('\0') && !text.includes('\uFFFD');
  return isText ? cut(text) : `<${bytes.length} bytes, not text>`;
}

function cut(text: string): string {
  if (text.length <= BODY_MAX_CHARACTERS) return text;
  return `${text.slice(0, BODY_MAX_CHARACTERS)}<${text.length - BODY_MAX_CHARACTERS} more>`;
}

/** Headers as they are written down: the values that grant access are masked, their kind stays. */
function recordedHeaders(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, recordedHeader(name, value)]),
  );
}

function recordedHeader(name: string, value: string): string {
  if (name === 'authorization') return value.replace(/\S+$/, MASKED);
  if (name === 'cookie' || name === 'set-cookie') return value.replace(/=[^;,]*/g, `=${MASKED}`);
  return value;
}
