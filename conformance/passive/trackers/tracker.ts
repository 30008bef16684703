/**
 * The types of trackers, which read all exchanges of a case in order and know what was written.
 */
import type { NamedViolation } from '../check.ts';
import type { JudgedExchange } from '../judged-exchange.ts';

/** A violation that a tracker sees in an exchange. */
export interface TrackedViolation extends NamedViolation {
  /** The operation that violated the requirement, if it is not the one whose response shows it. */
  readonly operation?: string;
}

/** Tracks one resource of one case. */
export interface Tracker {
  /** Judges an exchange, and records it for the next ones; call it in the order in which exchanges end. */
  judge(exchange: JudgedExchange): readonly TrackedViolation[];
  /** Records that a request got no response, so that its effect is unknown. */
  recordNoResponse(exchange: JudgedExchange): void;
}
