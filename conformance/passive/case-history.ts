/**
 * The exchanges of one case, seen together after it ended. What one request changed and what a later
 * one read is judged here, whatever the case itself looked for.
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { TargetExchange } from '../target/exchange.ts';
import { membersOf } from '../target/json-members.ts';
import type { KnownOperation } from '../target/operation-at.ts';
import type { JudgedExchange } from './judged-exchange.ts';
import type { Violation } from './rule.ts';

/**
 * Whether a request had an effect: `done` after a success, `refused` after a status that excludes
 * one (4xx), `unknown` without an answer, after a server error or an injected fault.
 */
export type Outcome = 'done' | 'refused' | 'unknown';

/** One request of the case. */
export interface Act {
  readonly operation: KnownOperation;
  readonly exchange: JudgedExchange;
  readonly outcome: Outcome;
  /** Values of the path parameters by name, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** For evidence. */
  readonly record: TargetExchange;
}

/** A mistake that several exchanges show together. */
export interface HistoryViolation extends Violation {
  readonly requirement: RequirementId;
  /** The exchange whose answer is wrong. */
  readonly act: Act;
}

/** Judges the history of a case. It reports nothing that it cannot decide without doubt. */
export type Follower = (history: CaseHistory) => readonly HistoryViolation[];

/** What the exchanges of a case say, in the order in which they were sent. */
export class CaseHistory {
  readonly acts: readonly Act[];
  /**
   * False if the suite acted as a user by hooks, so that the acts of users are not among the
   * exchanges.
   */
  readonly seesUsers: boolean;
  readonly #identities = new Map<string, string>();

  constructor(acts: readonly Act[], seesUsers: boolean) {
    this.acts = acts.toSorted(
      (one, other) => one.exchange.request.sentMs - other.exchange.request.sentMs,
    );
    this.seesUsers = seesUsers;
    for (const { operation, exchange, outcome } of this.acts) {
      if (operation !== 'post-auth-request' || outcome !== 'done') continue;
      const { id_data } = membersOf(exchange.sent);
      if (typeof id_data === 'string') this.#identities.set(exchange.answer.text, id_data);
    }
  }

  /** Returns the acts by one of these operations. */
  by(...operations: readonly KnownOperation[]): readonly Act[] {
    return this.acts.filter(({ operation }) => operations.includes(operation));
  }

  /**
   * Returns the `id_data` of the device that sent a request with a token; undefined if the case did
   * not see the token granted.
   */
  identityOf({ exchange: { token } }: Act): string | undefined {
    return token === undefined ? undefined : this.#identities.get(token);
  }
}
