/** Checks the Error body of a refusal for the requirement `errors.body-is-error`. Spec: Error */
import * as v from 'valibot';
import type { Answer } from '../target/answer.ts';
import { expectShape, NotObservable, shownAnswer } from '../target/expectations.ts';

/** A JSON object with any members. The library's own object shape also accepts a list. */
export const errorBody = v.pipe(
  v.unknown(),
  v.check((body) => !Array.isArray(body), 'an array is not an object'),
  v.looseObject({}),
);

/**
 * Asserts that a refusal or a server error carries a JSON object. Throws NotObservable when the
 * answer is neither.
 */
export function expectErrorBody(answer: Answer): void {
  if (answer.status < 400) throw new NotObservable(`it was not an error: ${shownAnswer(answer)}`);
  expectShape(answer, errorBody);
}
