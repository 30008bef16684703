/** Refusals as values: one constructor per status. The body is written in one place, `answer.ts`. */

/** A 4xx answer: the sentence says what is wrong, where, and what would be accepted. */
export class Refusal {
  readonly status: number;
  readonly error: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What stands in the body beside the Error fields, where practice knows something. */
  readonly body: object | undefined;

  constructor(
    status: number,
    error: string,
    extras: Pick<Partial<Refusal>, 'headers' | 'body'> = {},
  ) {
    this.status = status;
    this.error = error;
    this.headers = extras.headers ?? {};
    this.body = extras.body;
  }
}

/** Spec: Errors */
export const refuse = {
  malformed: (error: string) => new Refusal(400, error),
  unauthorized: (error: string) =>
    new Refusal(401, error, { headers: { 'WWW-Authenticate': 'Bearer' } }),
  forbidden: (error: string) => new Refusal(403, error),
  notFound: (error: string) => new Refusal(404, error),
  methodNotAllowed: (allowed: readonly string[]) =>
    new Refusal(405, `method not allowed; this path takes ${allowed.join(', ')}`, {
      headers: { Allow: allowed.join(', ') },
    }),
  conflict: (error: string, body?: object) => new Refusal(409, error, { body }),
  gone: (error: string) => new Refusal(410, error),
  preconditionFailed: (error: string) => new Refusal(412, error),
  tooLarge: (mostBytes: number) =>
    new Refusal(413, `the body is larger than the limit of ${mostBytes} bytes`, {
      headers: { Connection: 'close' },
    }),
  unsupportedMediaType: (given: string, expected: string) =>
    new Refusal(415, `Content-Type "${given}" is not supported here; send "${expected}"`),
  unprocessable: (error: string) => new Refusal(422, error),
  internal: () => new Refusal(500, 'internal error'),
};
