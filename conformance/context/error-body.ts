/** Checks the Error body of a refusal for the requirement `errors.body-is-error`. Spec: Error */
import * as v from 'valibot';
import { expectShape, NotObservable, responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';

/** A JSON object with any members. The library's own object shape also accepts a list. */
export const errorBody = v.pipe(
  v.unknown(),
  v.check((body) => !Array.isArray(body), 'an array is not an object'),
  v.looseObject({}),
);

/**
 * Asserts that a refusal or a server error carries a JSON object. Throws NotObservable when the
 * response is neither.
 */
export function expectErrorBody(response: HttpResponse): void {
  if (response.status < 400)
    throw new NotObservable(`it was not an error: ${responseSummary(response)}`);
  expectShape(response, errorBody);
}
