/** The expectation that a poll offers no deployment. */
import { expectThat, NotObservable, responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { offersAny } from './instructions.ts';

/**
 * Asserts that the response offers no deployment, whatever else it contains. Throws NotObservable
 * on a server error, since a failing server has not decided to offer nothing.
 */
export function expectNoOffer(response: HttpResponse): void {
  if (response.status >= 500)
    throw new NotObservable(`the request was answered with ${responseSummary(response)}`);
  expectThat(!offersAny(response), 'no deployment', responseSummary(response));
}
