/** The planned faults of a tenant: which one a request gets, and how often each has fired. */

import { timestampMs } from '../../fixtures/contract/text.ts';
import type { AnswerOf } from '../../fixtures/control/operations.ts';
import { valueText } from '../../fixtures/value-text.ts';
import type { Phase } from './actions/action.ts';
import { type Call, placeOf } from './call.ts';
import type { GivenAction, Rule } from './rule.ts';
import { actionOf } from './rule.ts';
import { Schedule, type Turn } from './schedule.ts';

/** Number of parties that a rule counts separately; the oldest is dropped first. */
const PARTIES_MAX = 100_000;
/** Number of request ids that a rule remembers the outcome of. */
const REQUEST_IDS_MAX = 1000;

/** The state of a rule. */
export interface RuleStanding {
  readonly id: string;
  readonly rule: Rule;
  /** Requests that it matched, fired at or not. */
  readonly matched: number;
  readonly fired: number;
  /** Number of remaining times; null when unlimited, or counted for each device. */
  readonly left: number | null;
}

/** A planned fault that never fired. */
export type UnfiredFault = AnswerOf<'GET /faults/check'>['unfired'][number];

/** A fault for a request; either `fired` or `missed` is called once. */
export interface ChosenFault {
  readonly ruleId: string;
  readonly act: GivenAction;
  readonly phase: Phase;
  readonly quiet: boolean;
  /** Aborts when the rule is cleared. */
  readonly signal: AbortSignal;
  fired(): void;
  /** Gives it back; nothing once it has fired. */
  missed(): void;
}

/** A rule with what it has seen. */
class CountedRule {
  readonly rule: Rule;
  readonly cleared = new AbortController();
  readonly firedSteps = new Set<number>();
  matched = 0;
  fired = 0;
  readonly #schedules = new Map<string, Schedule>();
  readonly #fates = new Map<string, Turn | 'pass'>();

  constructor(rule: Rule) {
    this.rule = rule;
  }

  get left(): number | null {
    if (this.#isPerDevice) return null;
    return (this.#schedules.get('') ?? new Schedule(this.rule, '')).left ?? null;
  }

  /** A budget holds for each device, and its choices do not hang on the others' order. */
  get #isPerDevice(): boolean {
    const { countPer, times } = this.rule;
    return countPer === 'device' || (typeof times === 'object' && 'share' in times);
  }

  scheduleOf(call: Call): Schedule {
    const party = this.#isPerDevice ? call.party : '';
    const known = this.#schedules.get(party);
    if (known) return known;
    dropOldest(this.#schedules, PARTIES_MAX);
    const schedule = new Schedule(this.rule, party);
    this.#schedules.set(party, schedule);
    return schedule;
  }

  /** The outcome of an earlier request with this id, where the rule counts by ids. */
  fateOf(call: Call): Turn | 'pass' | undefined {
    const id = this.rule.countBy === 'request-id' ? call.chosenRequestId : undefined;
    return id === undefined ? undefined : this.#fates.get(id);
  }

  seal(call: Call, fate: Turn | 'pass'): void {
    if (this.rule.countBy !== 'request-id' || call.chosenRequestId === undefined) return;
    dropOldest(this.#fates, REQUEST_IDS_MAX);
    this.#fates.set(call.chosenRequestId, fate);
  }
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size >= most && oldest !== undefined) map.delete(oldest);
}

/** The rules of a tenant, in order; of those that are due the first one acts. */
export class FaultPlans {
  readonly #rules = new Map<string, CountedRule>();
  #isArmed = false;
  #isPaused = false;

  /** False while there are no rules; checked for every request. */
  get isArmed(): boolean {
    return this.#isArmed;
  }

  /** How many rules there are. */
  get size(): number {
    return this.#rules.size;
  }

  has(id: string): boolean {
    return this.#rules.has(id);
  }

  /** Adds rules with new ids. */
  add(rules: readonly Rule[]): void {
    for (const rule of rules) this.#rules.set(rule.id, new CountedRule(rule));
    this.#arm();
  }

  /** Ends one rule, or all of them, with what hangs on them; how many these were. */
  clear(id?: string): number {
    const ended = [...this.#rules.values()].filter(
      ({ rule }) => id === undefined || rule.id === id,
    );
    for (const { rule, cleared } of ended) {
      this.#rules.delete(rule.id);
      cleared.abort();
    }
    this.#arm();
    return ended.length;
  }

  /** Lets every request pass, uncounted, until the returned function is called. */
  pause(): () => void {
    this.#isPaused = true;
    this.#arm();
    return () => {
      this.#isPaused = false;
      this.#arm();
    };
  }

  #arm(): void {
    this.#isArmed = this.#rules.size > 0 && !this.#isPaused;
  }

  list(): RuleStanding[] {
    return [...this.#rules.values()].map(({ rule, matched, fired, left }) => ({
      id: rule.id,
      rule,
      matched,
      fired,
      left,
    }));
  }

  /** Planned faults that never fired; of a script each step counts. */
  unfired(): UnfiredFault[] {
    return [...this.#rules.values()].flatMap(({ rule, matched, firedSteps }) =>
      (rule.script ?? [rule.act]).flatMap((act, step) => {
        if (act === undefined || act === 'pass' || firedSteps.has(step)) return [];
        return [{ id: rule.id, act: act.kind, ...(rule.script && { step: step + 1 }), matched }];
      }),
    );
  }

  /**
   * The fault for this request, if any; called once for each. Every matching rule counts it, but
   * for those whose time it is not.
   * @param nowMs the tenant's time
   */
  choose(call: Call, nowMs: number): ChosenFault | undefined {
    let chosen: ChosenFault | undefined;
    for (const counted of this.#rules.values()) {
      if (!isItsTime(counted.rule, nowMs) || !matches(counted.rule, call)) continue;
      const fate = counted.fateOf(call);
      if (fate !== undefined) {
        if (fate !== 'pass') chosen ??= repeated(counted, fate);
        continue;
      }
      counted.matched += 1;
      const schedule = counted.scheduleOf(call);
      const turn = schedule.call();
      if (turn && !chosen && applies(turn.act, call)) {
        schedule.take();
        counted.seal(call, turn);
        chosen = chosenOf(counted, turn, schedule);
      } else {
        counted.seal(call, 'pass');
        if (turn) schedule.pass();
      }
    }
    return chosen;
  }
}

function chosenOf(counted: CountedRule, turn: Turn, schedule?: Schedule): ChosenFault {
  const { rule, cleared } = counted;
  let isSettled = false;
  const once = (act: () => void) => (): void => {
    if (isSettled) return;
    isSettled = true;
    act();
  };
  return {
    ruleId: rule.id,
    act: turn.act,
    phase: rule.when ?? actionOf(turn.act).phases[0],
    quiet: rule.quiet,
    signal: cleared.signal,
    fired: once(() => {
      counted.fired += 1;
      counted.firedSteps.add(turn.step);
    }),
    missed: once(() => schedule?.giveBack()),
  };
}

/** The same fault for another attempt of the same request, which counts as nothing. */
function repeated(counted: CountedRule, turn: Turn): ChosenFault {
  return { ...chosenOf(counted, turn), fired: () => undefined };
}

function applies(act: GivenAction, call: Call): boolean {
  return actionOf(act).applies?.(act, call) ?? true;
}

function matches({ match, act }: Rule, call: Call): boolean {
  const { operation, deviceId, identity, keyType, fleet } = match;
  if (operation !== undefined && ![operation].flat().includes(call.operation.id)) return false;
  if (deviceId !== undefined && call.deviceId !== deviceId) return false;
  if (keyType !== undefined && call.keyType !== keyType) return false;
  if (identity !== undefined && !isWithin(identity, call.identity)) return false;
  if (fleet !== undefined && !isInShare(fleet, call.identity)) return false;
  // Calls that the action does not apply to do not count; the steps of a script differ in that.
  return act === undefined || applies(act, call);
}

/** Whether the rule holds now: from its first moment, included, until its last one, excluded. */
function isItsTime({ from, until }: Rule, nowMs: number): boolean {
  if (from !== undefined && nowMs < timestampMs(from)) return false;
  return until === undefined || nowMs < timestampMs(until);
}

function isInShare(fleet: { share: number; seed: string }, identity: string | undefined): boolean {
  return identity !== undefined && placeOf(identity, fleet.seed) < fleet.share;
}

/** Whether an identity has all of these attributes; their values are compared as texts. */
function isWithin(
  attributes: Readonly<Record<string, unknown>>,
  identity: string | undefined,
): boolean {
  if (identity === undefined) return false;
  const known = new Map(Object.entries(JSON.parse(identity) as object));
  return Object.entries(attributes).every(
    ([name, value]) => valueText(known.get(name)) === valueText(value),
  );
}
