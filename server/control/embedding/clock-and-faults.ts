/** Controls the clock and the planned faults of a tenant in tests. */
import type * as v from 'valibot';
import type { AdjustableClock } from '../../../fixtures/base/adjustable-clock.ts';
import { knownNames } from '../../../fixtures/base/nearest.ts';
import type { RateLimit } from '../../../fixtures/base/option-row.ts';
import { clockCommandShape, rateLimitShape } from '../../../fixtures/control/inputs.ts';
import type { FaultPlans, RuleState, UnfiredFault } from '../../faults/fault-plans.ts';
import type { RateLimits } from '../../tenants/rate-limits.ts';
import { applyClockCommand } from '../commands/clock.ts';
import { addPlan } from '../commands/faults.ts';
import { setRateLimit } from '../commands/rate-limit.ts';
import { checkedInput } from './checked-input.ts';

/** The clock of a tenant. The tokens, links, sockets and deadlines of its devices follow it. */
export interface TestbedClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Advances the clock to a time, or sets it back to that time; strings are ISO 8601. */
  set(time: string | number | Date): void;
  advance(seconds: number): void;
  /** Sets the speed: 0 stops the clock, 1 is real time, 60 is a minute per second. */
  scale(rate: number): void;
  /** Returns to the system's time. */
  reset(): void;
}

/**
 * Creates the test interface of a tenant's clock.
 * @throws RangeError from its methods for an invalid command
 */
export function testbedClock(clock: AdjustableClock): TestbedClock {
  const adjust = (command: v.InferInput<typeof clockCommandShape>): void => {
    applyClockCommand(clock, checkedInput('clock', clockCommandShape, command));
  };
  return {
    now: () => clock.now(),
    set: (time) => {
      adjust({ now: typeof time === 'string' ? time : new Date(time).toISOString() });
    },
    advance: (seconds) => adjust({ advanceSeconds: seconds }),
    scale: (rate) => adjust({ rate }),
    reset: () => clock.reset(),
  };
}

/** Thrown for an invalid plan. The message lists each error with its line and column. */
export class FaultPlanError extends Error {
  override readonly name = 'FaultPlanError';
}

/** Thrown if planned faults have not fired. The message names them. */
export class UnfiredFaultsError extends Error {
  override readonly name = 'UnfiredFaultsError';
  readonly unfired: readonly UnfiredFault[];

  constructor(unfired: readonly UnfiredFault[]) {
    const names = unfired.map(({ id, act, matched }) => `${id} (${act}, ${matched} matched)`);
    super(`planned faults have not fired: ${names.join(', ')}`);
    this.unfired = unfired;
  }
}

/** The planned faults of a tenant. */
export interface TestbedFaults {
  /**
   * Adds a plan, as YAML or JSON text or as a value. An error in one rule refuses the whole plan.
   * @returns the IDs of the rules
   * @throws FaultPlanError
   */
  add(plan: string | object): string[];
  list(): RuleState[];
  /**
   * Removes one rule, or all rules. Returns the number of removed rules.
   * @throws RangeError for an ID that no rule has
   */
  clear(id?: string): number;
  /**
   * Checks that every planned fault has fired, for use after each test; a test that planned none
   * passes.
   * @throws UnfiredFaultsError
   */
  check(): void;
}

export function testbedFaults(faults: FaultPlans): TestbedFaults {
  return {
    add: (plan) => {
      const text = typeof plan === 'string' ? plan : JSON.stringify(plan);
      const outcome = addPlan(faults, text);
      if ('error' in outcome) throw new FaultPlanError(outcome.error);
      return outcome.added;
    },
    list: () => faults.list(),
    clear: (id) => {
      const cleared = faults.clear(id);
      if (id === undefined || cleared > 0) return cleared;
      const ids = faults.list().map((rule) => rule.id);
      throw new RangeError(`no rule has this ID; ${knownNames('rule', id, ids)}`);
    },
    check: () => {
      const unfired = faults.unfired();
      if (unfired.length > 0) throw new UnfiredFaultsError(unfired);
    },
  };
}

/** The rate limit for each caller of a tenant. */
export interface TestbedRates {
  /** The current limit; undefined if requests are not limited. */
  readonly limit: RateLimit | undefined;
  /**
   * Sets the limit and restarts counting, or removes the limit.
   * @throws RangeError for an invalid limit; TypeError for an unknown field
   */
  set(limit: RateLimit | undefined): void;
}

export function testbedRates(rates: RateLimits): TestbedRates {
  return {
    get limit() {
      return rates.limit;
    },
    set: (limit) => {
      const rateLimit = limit && checkedInput('rates.set', rateLimitShape, limit);
      const problem = setRateLimit(rates, rateLimit);
      if (problem !== undefined) throw new RangeError(problem);
    },
  };
}
