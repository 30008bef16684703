/**
 * Checks a response: first its status, then that its body is JSON of the expected shape. The error
 * that is thrown names the check that failed.
 */
import * as v from 'valibot';
import type { Clock } from '../../fixtures/base/clock.ts';
import { excerptOf } from '../../fixtures/base/excerpt.ts';
import { jsonExcess } from '../../fixtures/base/json-bounds.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { errorShape } from '../../fixtures/contract/resources.ts';
import { type ErrorContext, ResponseError, StatusError } from '../network/errors.ts';
import { retryAfterMs } from '../network/retry-after.ts';
import type { HttpResponse } from '../network/transport.ts';

/** Limit on text from the server that is copied into an error message. */
const SENTENCE_MAX_CHARACTERS = 2000;

/** The operation, the caller and the clock for the check of a response and its error. */
export interface ResponseContext {
  readonly operation: Pick<Operation, 'id' | 'success'>;
  readonly caller: string;
  readonly clock: Clock;
}

/**
 * Returns the response when its status is one of the operation's success statuses.
 * @throws StatusError for every other status
 */
export function expectSuccess(response: HttpResponse, context: ResponseContext): HttpResponse {
  if (response.status in context.operation.success) return response;
  throw statusError(response, context);
}

/** Builds the error for a refused request, with the server's message and the wait it requested. */
export function statusError(response: HttpResponse, context: ResponseContext): StatusError {
  const serverSays = errorText(response.body);
  const waitMs = retryAfterMs(response.headers['retry-after'], context.clock.now());
  const refusal = {
    status: response.status,
    ...(serverSays === undefined ? {} : { serverSays }),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  };
  return new StatusError(refusal, errorContextOf(response, context));
}

/**
 * Parses a response body by its shape.
 * @throws ResponseError `not-json` or `shape`
 */
export function bodyOf<Shape extends v.GenericSchema>(
  shape: Shape,
  response: HttpResponse,
  context: ResponseContext,
): v.InferOutput<Shape> {
  const json = parseJson(response.body);
  if (!json) {
    const kind = String(response.headers['content-type'] ?? 'no media type');
    const excess = jsonExcess(response.body);
    const problem = excess === undefined ? `is not JSON (${kind})` : `is not parsed: it ${excess}`;
    const message = `the response with status ${response.status} ${problem}`;
    throw new ResponseError('not-json', message, errorContextOf(response, context));
  }
  const parsing = v.safeParse(shape, json.value);
  if (parsing.success) return parsing.output;
  const [issue] = parsing.issues;
  const message = `the response's ${v.getDotPath(issue) ?? 'body'} is wrong: ${issue.message}`;
  throw new ResponseError('shape', message, errorContextOf(response, context));
}

/**
 * Returns the operation, the caller and the duration of an exchange, for an error about its
 * response.
 */
export function errorContextOf(response: HttpResponse, context: ResponseContext): ErrorContext {
  const { operation, caller } = context;
  return { operation: operation.id, caller, elapsedMs: response.elapsedMs };
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
  const parsing = v.safeParse(errorShape, parseJson(body)?.value);
  const { error } = parsing.success ? parsing.output : {};
  return error === undefined ? undefined : excerptOf(error, SENTENCE_MAX_CHARACTERS);
}
