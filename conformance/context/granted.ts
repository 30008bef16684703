/** Checks answers to authentication requests before later steps of a case use them. */

import type { OperationId } from '../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { Answer } from '../target/answer.ts';
import { shownAnswer } from '../target/expectations.ts';
import { needAnswer, StartStateMissed } from './start-states.ts';

/** Returns the answer if it grants a token; otherwise throws StartStateMissed. */
export function granted(answer: Answer): Answer {
  needAnswer('post-auth-request', answer, 200);
  return answer;
}

/** An answer to a request that the contract says is refused, and the requirement that says so. */
interface ToRefuse {
  readonly operation: OperationId;
  readonly by: RequirementId;
}

/** Returns the answer if its status is 4xx; otherwise throws StartStateMissed. */
export function refused({ operation, by }: ToRefuse, answer: Answer): Answer {
  if (answer.status >= 400 && answer.status < 500) return answer;
  const isBusy = answer.status >= 500;
  const undocumented = isBusy ? undefined : ({ operation, requirements: [by], answer } as const);
  throw new StartStateMissed('a refusal', `got ${shownAnswer(answer)}`, 'a 4xx', undocumented);
}
