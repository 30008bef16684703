/** Checks answers to authentication requests before later steps of a case use them. */

import type { Answer } from '../target/answer.ts';
import { NotObservable, shownAnswer } from '../target/expectations.ts';
import { needAnswer } from './start-states.ts';

/** Returns the answer if it grants a token; otherwise throws StartStateMissed. */
export function granted(answer: Answer): Answer {
  needAnswer('post-auth-request', answer, 200);
  return answer;
}

/** Returns the answer if its status is 4xx; otherwise throws NotObservable. */
export function refused(answer: Answer): Answer {
  if (answer.status >= 400 && answer.status < 500) return answer;
  throw new NotObservable(`the request was not refused: ${shownAnswer(answer)}`);
}
