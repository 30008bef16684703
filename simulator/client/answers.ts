/**
 * Checks a response: first its status, then that its body is JSON of the expected shape. The error
 * that is thrown names the check that failed.
 */
import * as v from 'valibot';
import { beginningOf } from '../../fixtures/base/beginning.ts';
import type { Clock } from '../../fixtures/base/clock.ts';
import { jsonExcess } from '../../fixtures/base/json-bounds.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { errorShape } from '../../fixtures/contract/resources.ts';
import { AnswerError, type ErrorContext, StatusError } from '../network/errors.ts';
import { retryAfterMs } from '../network/retry-after.ts';
import type { HttpAnswer } from '../network/transport.ts';

/** Limit on text from the server that is copied into an error message. */
const SENTENCE_MAX_CHARACTERS = 2000;

/** The operation, the caller and the clock for the check of a response and its error. */
export interface AnswerContext {
  readonly operation: Pick<Operation, 'id' | 'success'>;
  readonly caller: string;
  readonly clock: Clock;
}

/**
 * Returns the response when its status is one of the operation's success statuses.
 * @throws StatusError for every other status
 */
export function expectSuccess(answer: HttpAnswer, context: AnswerContext): HttpAnswer {
  if (answer.status in context.operation.success) return answer;
  throw statusError(answer, context);
}

/** Builds the error for a refused request, with the server's message and the wait it requested. */
export function statusError(answer: HttpAnswer, context: AnswerContext): StatusError {
  const serverSays = errorText(answer.body);
  const waitMs = retryAfterMs(answer.headers['retry-after'], context.clock.now());
  const refused = {
    status: answer.status,
    ...(serverSays === undefined ? {} : { serverSays }),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  };
  return new StatusError(refused, circumstancesOf(answer, context));
}

/**
 * Parses a response body by its shape.
 * @throws AnswerError `not-json` or `shape`
 */
export function bodyOf<Shape extends v.GenericSchema>(
  shape: Shape,
  answer: HttpAnswer,
  context: AnswerContext,
): v.InferOutput<Shape> {
  const parsed = parseJson(answer.body);
  if (!parsed) {
    const kind = String(answer.headers['content-type'] ?? 'no media type');
    const excess = jsonExcess(answer.body);
    const what = excess === undefined ? `is not JSON (${kind})` : `is not parsed: it ${excess}`;
    const message = `the response with status ${answer.status} ${what}`;
    throw new AnswerError('not-json', message, circumstancesOf(answer, context));
  }
  const checked = v.safeParse(shape, parsed.value);
  if (checked.success) return checked.output;
  const [issue] = checked.issues;
  const message = `the response's ${v.getDotPath(issue) ?? 'body'} is wrong: ${issue.message}`;
  throw new AnswerError('shape', message, circumstancesOf(answer, context));
}

/**
 * Returns the operation, the caller and the duration of an exchange, for an error about its
 * response.
 */
export function circumstancesOf(answer: HttpAnswer, context: AnswerContext): ErrorContext {
  const { operation, caller } = context;
  return { operation: operation.id, caller, elapsedMs: answer.elapsedMs };
}

function parseJson(body: Buffer): { readonly value: unknown } | undefined {
  if (jsonExcess(body) !== undefined) return undefined;
  try {
    return { value: JSON.parse(body.toString('utf8')) };
  } catch {
    return undefined;
  }
}

/**
 * Returns the `error` text of a response. Gateways also refuse with an empty body, with HTML, or
 * with an `error` that is an object; the text of those is undefined.
 */
function errorText(body: Buffer): string | undefined {
  const parsed = v.safeParse(errorShape, parseJson(body)?.value);
  const { error } = parsed.success ? parsed.output : {};
  return error === undefined ? undefined : beginningOf(error, SENTENCE_MAX_CHARACTERS);
}
