/** Answers to authentication requests as later steps of a case need them. */

import type { Answer } from '../target/answer.ts';
import { NotObservable, shownAnswer } from '../target/expectations.ts';

/** The answer when it grants a token; else there is none to look at. */
export function granted(answer: Answer): Answer {
  if (answer.status === 200) return answer;
  throw new NotObservable(`no token was granted: ${shownAnswer(answer)}`);
}

/** The answer when it refuses; else there is no refusal to look at. */
export function refused(answer: Answer): Answer {
  if (answer.status >= 400 && answer.status < 500) return answer;
  throw new NotObservable(`the request was not refused: ${shownAnswer(answer)}`);
}
