/**
 * Names why input cannot be read as HTTP: from the parser's error, the
 * bytes around it, and the request before it on the same connection.
 */
import { causes, cutOffCode, notHttp } from './http-causes.ts';
import { Refusal } from './refusal.ts';
import { tlsCauses } from './tls-causes.ts';
import { type ParserStop, UnparsedInput } from './unparsed-input.ts';

/** Why input cannot be read; evidence of a refusal. */
export class ParseFailure {
  /** Stable name of the cause, such as `space-in-url`. */
  readonly cause: string;
  /** The mistake and its place, with the first bytes; secrets are masked. Starts in lower case. */
  readonly what: string;
  /** The remedy; an imperative in lower case. */
  readonly remedy: string;

  /** Method, URL and version of the request, not masked; undefined for other bytes. */
  readonly line: string | undefined;
  /** True when the client closed the connection before the end of the request. */
  readonly endsEarly: boolean;

  readonly #start: string;

  constructor(stop: ParserStop) {
    const input = new UnparsedInput(stop);
    const cause = causes.find(({ is }) => is(input)) ?? notHttp;
    const { id, what, remedy, isLimit } = cause;
    this.line = input.startLineText;
    this.endsEarly = stop.code === cutOffCode;
    // Within a handshake no request was sent yet.
    const isSyntaxError = !isLimit && !tlsCauses.includes(cause);
    this.#start = isSyntaxError ? 'the request is not valid HTTP: ' : '';
    this.cause = id;
    this.what = what(input);
    this.remedy = typeof remedy === 'string' ? remedy : remedy(input);
  }

  /** The text of the response. */
  get error(): string {
    return `${this.#start}${this.what}; ${this.remedy}`;
  }

  /** Returns the refusal of a request whose body cannot be read to its end. */
  refusalWith(status: number): Refusal {
    const { error, what } = this;
    return new Refusal(status, error, {
      detail: {
        path: 'body',
        expected: expectedBody,
        actual: what,
        rule: readRule,
        evidence: this,
      },
    });
  }
}

const expectedBody = 'the body that Content-Length or Transfer-Encoding announces';

/** The rule that unparsable input breaks. */
export const readRule =
  'A request must follow RFC 9112 and stay within the limits of time and size.';
