/** The clock and the planned faults of a world, as a test steers them. */
import type { SteeredClock } from '../../../fixtures/steered-clock.ts';
import type { FaultPlans, RuleStanding, UnfiredFault } from '../faults/fault-plans.ts';
import { readPlan, told } from '../faults/plan-text.ts';
import { RULES_MAX } from '../faults/rule.ts';

/** The time of a world; its devices' tokens, links, sockets and deadlines follow. */
export interface TestbedClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Lets time pass until the moment, or sets the clock back to it; text in ISO 8601. */
  set(moment: string | number | Date): void;
  advance(seconds: number): void;
  /** 0 stands still, 1 is as fast as the system's clock, 60 a minute each second. */
  scale(rate: number): void;
  /** Back to the system's time. */
  reset(): void;
}

/** @throws RangeError for what is no moment, a negative advance or rate */
export function testbedClock(clock: SteeredClock): TestbedClock {
  return {
    now: () => clock.now(),
    set: (moment) => clock.set(required(new Date(moment).getTime(), 'moment')),
    advance: (seconds) => clock.advance(required(seconds, 'seconds', 0) * 1000),
    scale: (rate) => clock.scale(required(rate, 'rate', 0)),
    reset: () => clock.reset(),
  };
}

function required(value: number, name: string, least = Number.NEGATIVE_INFINITY): number {
  if (Number.isFinite(value) && value >= least) return value;
  throw new RangeError(`${name}: ${value} is not possible for this clock`);
}

/** A plan that cannot be taken; the message names each fault with its line and column. */
export class FaultPlanError extends Error {
  override readonly name = 'FaultPlanError';
}

/** Planned faults that have not fired; the message names them. */
export class UnfiredFaultsError extends Error {
  override readonly name = 'UnfiredFaultsError';
  readonly unfired: readonly UnfiredFault[];

  constructor(unfired: readonly UnfiredFault[]) {
    const names = unfired.map(({ id, act, matched }) => `${id} (${act}, ${matched} matched)`);
    super(`planned faults have not fired: ${names.join(', ')}`);
    this.unfired = unfired;
  }
}

/** What goes wrong in a world on purpose. */
export interface TestbedFaults {
  /** Adds a plan, as YAML or JSON text or as a value, all of it or nothing; the ids of its rules. @throws FaultPlanError */
  add(plan: string | object): string[];
  list(): RuleStanding[];
  /** Ends one rule, or all of them; how many these were. */
  clear(id?: string): number;
  /** Holds when every planned fault has fired. @throws UnfiredFaultsError */
  check(): void;
}

export function testbedFaults(faults: FaultPlans): TestbedFaults {
  return {
    add: (plan) => {
      const text = typeof plan === 'string' ? plan : JSON.stringify(plan);
      const read = readPlan(text, (id) => faults.has(id));
      if ('faults' in read) throw new FaultPlanError(read.faults.map(told).join('; '));
      if (faults.size + read.rules.length > RULES_MAX) {
        throw new FaultPlanError(`at most ${RULES_MAX} rules are possible; remove some first`);
      }
      faults.add(read.rules);
      return read.rules.map(({ id }) => id);
    },
    list: () => faults.list(),
    clear: (id) => faults.clear(id),
    check: () => {
      const unfired = faults.unfired();
      if (unfired.length > 0) throw new UnfiredFaultsError(unfired);
    },
  };
}
