/**
 * The types of followers, which read all exchanges of a case in order and know what was written.
 */

import type { NamedViolation } from '../check.ts';
import type { JudgedExchange } from '../judged-exchange.ts';

/** A violation that a follower sees in an exchange. */
export interface FollowedViolation extends NamedViolation {
  /** The operation that broke the requirement, if it is not the one whose response shows it. */
  readonly operation?: string;
}

/** Follows one resource of one case. */
export interface Follower {
  /** Learns from an exchange, in the order in which the exchanges end, and judges its response. */
  see(exchange: JudgedExchange): readonly FollowedViolation[];
  /** Learns that a request got no response, so that its effect is unknown. */
  seeSilence(exchange: JudgedExchange): void;
}
