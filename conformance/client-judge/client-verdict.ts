/** The types of the verdicts on device clients. The judge is a pure reader of client events. */
import type { DutyState } from '../../fixtures/control/clients.ts';

/** One violation of a duty. */
export interface DutyViolation {
  /** The event that shows it, and the earlier one that it contradicts, if any. */
  readonly journalEntry: number;
  readonly contradicts?: number;
  /** ID of the operation, or `socket`. */
  readonly operation: string;
  readonly atMs: number;
  /** The violation as a sentence: "the signature must verify over the body, not …". */
  readonly message: string;
}

/** The step that would test a duty next. */
export interface NextStep {
  /** A sentence for the author of the client. */
  readonly text: string;
  /** A command that does it; undefined if the author has to act. */
  readonly command?: string;
  /** The scene of the client test that does it; undefined if none does. */
  readonly scene?: string;
}

/** The verdict on one duty of one device. */
export interface DutyVerdict {
  /** ID of the duty, such as `auth.renews-on-401`. */
  readonly duty: string;
  readonly state: DutyState;
  /** Number of events that decided it. */
  readonly judged: number;
  /** The first violations; the number of all is in `violationCount`. */
  readonly violations: readonly DutyViolation[];
  readonly violationCount: number;
  /** Since when the duty is due, for the state `open`. */
  readonly openSinceMs?: number;
  /** The observation as a clause, for the state `observed`. */
  readonly observation?: string;
  /** The step that would test it, for `not-tested`, `not-applicable` and `not-observable`. */
  readonly next?: NextStep;
}

/** The verdicts on all duties of one device. */
export interface ClientVerdict {
  readonly client: string;
  readonly exchanges: number;
  /** Events that were lost before they could be judged. */
  readonly dropped: number;
  /** One row for each duty, in the order of the list of duties. */
  readonly duties: readonly DutyVerdict[];
}
