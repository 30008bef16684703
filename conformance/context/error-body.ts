/** The Error body of a refusal, as far as `errors.body-is-error` speaks of it. Spec: Error */
import * as v from 'valibot';
import type { Answer } from '../target/answer.ts';
import { expectShape, NotObservable, shownAnswer } from '../target/expectations.ts';

/** A JSON object, whatever its members. The library's own shape takes a list for an object. */
export const errorBody = v.pipe(
  v.unknown(),
  v.check((body) => !Array.isArray(body), 'a list is not an object'),
  v.looseObject({}),
);

/**
 * Holds when a refusal, or a fault of the server, carries a JSON object. Throws a NotObservable when
 * the answer is neither.
 */
export function expectErrorBody(answer: Answer): void {
  if (answer.status < 400) throw new NotObservable(`it was not an error: ${shownAnswer(answer)}`);
  expectShape(answer, errorBody);
}
