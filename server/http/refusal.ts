/** Refusals as values: one constructor per status. `response.ts` writes the body. */
import type { Problem } from '../rules/problem.ts';
import type { RefusalDetail } from '../rules/refusal-detail.ts';

/**
 * A refusal with a status of 4xx or 5xx. `error` says what is wrong, where, and what would be
 * accepted.
 */
export class Refusal {
  readonly status: number;
  readonly error: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Members of the body besides those of Error, where known servers send some. */
  readonly body: object | undefined;
  readonly detail: RefusalDetail | undefined;

  constructor(
    status: number,
    error: string,
    extras: Pick<Partial<Refusal>, 'headers' | 'body' | 'detail'> = {},
  ) {
    this.status = status;
    this.error = error;
    this.headers = extras.headers ?? {};
    this.body = extras.body;
    this.detail = extras.detail;
  }
}

type OptionalDetail = RefusalDetail | undefined;

/**
 * Returns the detail of a path parameter that names nothing that exists; `expected` describes a
 * valid value. Where the path has no parameter of this name, `id` or its only parameter is meant.
 */
export function pathDetail(name: string, expected: string): RefusalDetail {
  return { path: `path.${name}`, expected };
}

/**
 * Returns the detail of a refusal that the server's state caused; the request itself is valid.
 */
export function stateDetail(expected: string, actual?: string): RefusalDetail {
  return { path: 'state', expected, ...(actual !== undefined && { actual }) };
}

/**
 * Returns the detail of a refusal that the user's roles caused; `expected` is what the roles
 * permit.
 */
export function roleDetail(expected: string, path = 'state'): RefusalDetail {
  return { path, expected, requirement: 'errors.role-forbidden-is-403' };
}

/** Retry-After of a server without capacity, in seconds. */
const RETRY_AFTER_SECONDS = 5;

/** Limits a quoted header value, so that the error text stays short. */
const CODING_MAX_CHARACTERS = 40;

/** Constructors of refusals, one for each kind of error. Spec: Errors */
export const refuse = {
  malformed: (error: string, detail?: OptionalDetail) => new Refusal(400, error, { detail }),
  /** Names the place of the problem, before it and in the detail. */
  malformedAt: (
    part: 'body' | 'query',
    { path, problem }: Problem,
    detail?: Omit<RefusalDetail, 'path'>,
  ) => {
    const places = path === undefined ? [part] : [part, path];
    const error = [...places, problem].join(': ');
    return new Refusal(400, error, { detail: { path: places.join('.'), ...detail } });
  },
  unauthorized: (error: string, detail?: OptionalDetail) =>
    new Refusal(401, error, { headers: { 'WWW-Authenticate': 'Bearer' }, detail }),
  forbidden: (error: string, detail?: OptionalDetail) => new Refusal(403, error, { detail }),
  notFound: (error: string, detail?: OptionalDetail) => new Refusal(404, error, { detail }),
  methodNotAllowed: (allowed: readonly string[], given?: string) =>
    new Refusal(405, `method not allowed; use ${allowed.join(', ')}`, {
      headers: { Allow: allowed.join(', ') },
      detail: { path: 'method', expected: allowed.join(' or '), ...(given && { actual: given }) },
    }),
  conflict: (error: string, detail?: OptionalDetail, body?: object) =>
    new Refusal(409, error, { body, detail }),
  gone: (error: string, detail?: OptionalDetail) => new Refusal(410, error, { detail }),
  preconditionFailed: (error: string, detail?: OptionalDetail) =>
    new Refusal(412, error, { detail }),
  tooLarge: (maxBytes: number, givenBytes?: number) =>
    new Refusal(413, `the body is larger than the limit of ${maxBytes} bytes`, {
      headers: { Connection: 'close' },
      detail: {
        path: 'body',
        expected: `at most ${maxBytes} bytes`,
        actual: givenBytes === undefined ? `more than ${maxBytes} bytes` : `${givenBytes} bytes`,
      },
    }),
  /** Used for a body that was received completely, so that the connection can stay open. */
  tooManyValues: (excess: string, valuesMax: number) =>
    new Refusal(413, `body: ${excess}; send fewer in one request`, {
      detail: { path: 'body', expected: `at most ${valuesMax} values`, actual: 'more values' },
    }),
  unsupportedMediaType: (mediaType: string, expected: readonly string[]) =>
    new Refusal(
      415,
      `Content-Type "${mediaType}" is not supported here; send "${expected.join('" or "')}"`,
      {
        detail: { path: 'header.Content-Type', expected: expected.join(' or '), actual: mediaType },
      },
    ),
  /** The response lists the accepted codings, as RFC 9110, section 15.5.16 requires. */
  unsupportedCoding: (coding: string) =>
    new Refusal(
      415,
      `Content-Encoding "${coding.slice(0, CODING_MAX_CHARACTERS)}" is not supported in requests; send the body uncompressed`,
      {
        headers: { 'Accept-Encoding': 'identity' },
        detail: {
          path: 'header.Content-Encoding',
          expected: 'no Content-Encoding',
          actual: coding,
          rule: 'Request bodies are not compressed.',
        },
      },
    ),
  unprocessable: (error: string, detail?: OptionalDetail) => new Refusal(422, error, { detail }),
  tooManyRequests: (
    retryAfterSeconds: number,
    detail?: OptionalDetail,
    error = 'too many requests',
  ) =>
    new Refusal(429, `${error}; try again in ${retryAfterSeconds} s`, {
      headers: { 'Retry-After': String(retryAfterSeconds) },
      detail: { path: 'state', ...detail },
    }),
  /** The connection closes, because the omitted headers may define where the body ends. */
  tooManyHeaders: (headersMax: number) =>
    new Refusal(431, `the request has more than ${headersMax} headers; send fewer`, {
      headers: { Connection: 'close' },
      detail: { path: 'header', expected: `at most ${headersMax} headers`, actual: 'more headers' },
    }),
  internal: () => new Refusal(500, 'internal error', { detail: { path: 'state' } }),
  unavailable: (error: string) =>
    new Refusal(503, error, {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS), Connection: 'close' },
      detail: { path: 'state' },
    }),
  insufficientStorage: (error = "the server's storage is full; try again when space is free") =>
    new Refusal(507, error, {
      detail: {
        path: 'state',
        expected: 'free space in the storage of the server',
        actual: 'none',
      },
    }),
};
