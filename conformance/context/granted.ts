/** Checks responses to authentication requests before later steps of a case use them. */
import type { OperationId } from '../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { requireResponse, StartStateNotReached } from './start-states.ts';

/** Returns the response if it grants a token; otherwise throws StartStateNotReached. */
export function requireToken(response: HttpResponse): HttpResponse {
  requireResponse('post-auth-request', response, 200);
  return response;
}

/** Returns the response to a request with a new token; throws StartStateNotReached if it is 401. */
export function requireAuthorized(response: HttpResponse): HttpResponse {
  if (response.status !== 401) return response;
  throw new StartStateNotReached('a new token that works', `got ${responseSummary(response)}`);
}

/** A response to a request that the contract says is refused, and the requirement that says so. */
interface ExpectedRefusal {
  readonly operation: OperationId;
  readonly requirement: RequirementId;
}

/** Returns the response if its status is 4xx; otherwise throws StartStateNotReached. */
export function requireRefusal(
  { operation, requirement }: ExpectedRefusal,
  response: HttpResponse,
): HttpResponse {
  if (response.status >= 400 && response.status < 500) return response;
  const isBusy = response.status >= 500;
  const undocumented = isBusy
    ? undefined
    : ({ operation, requirements: [requirement], response } as const);
  throw new StartStateNotReached(
    'a refusal',
    `got ${responseSummary(response)}`,
    'a 4xx',
    undocumented,
  );
}
