/**
 * The planned faults of a tenant: chooses the fault for each request, and counts how often each
 * fault has fired.
 */
import { isObject } from '../../fixtures/base/json.ts';
import { valueText } from '../../fixtures/base/value-text.ts';
import { timestampMs } from '../../fixtures/contract/text.ts';
import type { ResponseOf } from '../../fixtures/control/operations.ts';
import type { InjectionPoint } from './actions/action.ts';
import { type FaultCall, positionOf } from './call.ts';
import type { ActionWithFields, FaultRule } from './rule.ts';
import { actionOf } from './rule.ts';
import { type DueAction, FaultSchedule } from './schedule.ts';

/** Maximum number of parties that a rule counts separately. The oldest is dropped first. */
const PARTIES_MAX = 100_000;
/** Maximum number of request IDs whose outcome a rule remembers. */
const REQUEST_IDS_MAX = 1000;

/** The state of a rule, with its counts. */
export interface RuleState {
  readonly id: string;
  readonly rule: FaultRule;
  /** Number of requests that the rule matched, including those at which it did not fire. */
  readonly matched: number;
  readonly fired: number;
  /** Number of remaining times; null if unlimited, or if counted per device. */
  readonly left: number | null;
}

/** A planned fault that never fired. */
export type UnfiredFault = ResponseOf<'GET /faults/check'>['unfired'][number];

/** The fault chosen for a request. The caller calls either `reportFired` or `reportMissed`, once. */
export interface ChosenFault {
  readonly ruleId: string;
  readonly action: ActionWithFields;
  readonly when: InjectionPoint;
  readonly isUnmarked: boolean;
  /** Aborts if the rule is cleared. */
  readonly signal: AbortSignal;
  reportFired(): void;
  /** Returns the fault to its rule. Has no effect after `reportFired`. */
  reportMissed(): void;
}

/** A rule with its counts and schedules. */
class CountedRule {
  readonly rule: FaultRule;
  readonly cleared = new AbortController();
  readonly firedSteps = new Set<number>();
  matched = 0;
  fired = 0;
  readonly #schedules = new Map<string, FaultSchedule>();
  readonly #decisions = new Map<string, DueAction | 'pass'>();
  readonly #fromMs: number;
  readonly #untilMs: number;

  constructor(rule: FaultRule) {
    const { from, until } = rule;
    this.rule = rule;
    this.#fromMs = from === undefined ? Number.NEGATIVE_INFINITY : timestampMs(from);
    this.#untilMs = until === undefined ? Number.POSITIVE_INFINITY : timestampMs(until);
  }

  /** True between the times `from` and `until` of the rule. */
  isDue(nowMs: number): boolean {
    return nowMs >= this.#fromMs && nowMs < this.#untilMs;
  }

  get left(): number | null {
    if (this.#isPerDevice) return null;
    return (this.#schedules.get('') ?? new FaultSchedule(this.rule, '')).left ?? null;
  }

  /**
   * True if each device has its own schedule. Random faults always do, so that they do not depend
   * on the order in which devices send requests.
   */
  get #isPerDevice(): boolean {
    const { countPer, times } = this.rule;
    return countPer === 'device' || (typeof times === 'object' && 'share' in times);
  }

  scheduleOf(call: FaultCall): FaultSchedule {
    const callerKey = this.#isPerDevice ? call.callerKey : '';
    const partySchedule = this.#schedules.get(callerKey);
    if (partySchedule) return partySchedule;
    dropOldest(this.#schedules, PARTIES_MAX);
    const schedule = new FaultSchedule(this.rule, callerKey);
    this.#schedules.set(callerKey, schedule);
    return schedule;
  }

  /** Returns the outcome of an earlier request with this ID, if the rule counts by request ID. */
  decisionOf(call: FaultCall): DueAction | 'pass' | undefined {
    const id = this.rule.countBy === 'request-id' ? call.chosenRequestId : undefined;
    return id === undefined ? undefined : this.#decisions.get(id);
  }

  seal(call: FaultCall, decision: DueAction | 'pass'): void {
    if (this.rule.countBy !== 'request-id' || call.chosenRequestId === undefined) return;
    dropOldest(this.#decisions, REQUEST_IDS_MAX);
    this.#decisions.set(call.chosenRequestId, decision);
  }
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys();
  if (map.size >= max && oldest !== undefined) map.delete(oldest);
}

/** The rules of a tenant, in order. If several are due for a request, the first one acts. */
export class FaultPlans {
  readonly #rules = new Map<string, CountedRule>();
  #isActive = false;
  #isPaused = false;

  /** False if there are no rules or they are paused. Checked for every request. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** Number of rules. */
  get size(): number {
    return this.#rules.size;
  }

  has(id: string): boolean {
    return this.#rules.has(id);
  }

  /** Adds rules with new IDs. */
  add(rules: readonly FaultRule[]): void {
    for (const rule of rules) this.#rules.set(rule.id, new CountedRule(rule));
    this.#activate();
  }

  /**
   * Removes one rule, or all rules, and aborts their faults in progress. Returns the number of
   * removed rules.
   */
  clear(id?: string): number {
    const ended = [...this.#rules.values()].filter(
      ({ rule }) => id === undefined || rule.id === id,
    );
    for (const { rule, cleared } of ended) {
      this.#rules.delete(rule.id);
      cleared.abort();
    }
    this.#activate();
    return ended.length;
  }

  /** Lets every request pass uncounted until the returned function is called. */
  pause(): () => void {
    this.#isPaused = true;
    this.#activate();
    return () => {
      this.#isPaused = false;
      this.#activate();
    };
  }

  #activate(): void {
    this.#isActive = this.#rules.size > 0 && !this.#isPaused;
  }

  list(): RuleState[] {
    return [...this.#rules.values()].map(({ rule, matched, fired, left }) => ({
      id: rule.id,
      rule,
      matched,
      fired,
      left,
    }));
  }

  /** Returns the planned faults that never fired. Each step of a script counts separately. */
  unfired(): UnfiredFault[] {
    return [...this.#rules.values()].flatMap(({ rule, matched, firedSteps }) =>
      (rule.script ?? [rule.act]).flatMap((action, step) => {
        if (action === undefined || action === 'pass' || firedSteps.has(step)) return [];
        return [{ id: rule.id, act: action.kind, ...(rule.script && { step: step + 1 }), matched }];
      }),
    );
  }

  /**
   * Returns the fault for this request, if any. Must be called once for each request: every
   * matching rule that is active at this time counts it.
   * @param nowMs the tenant's time
   */
  choose(call: FaultCall, nowMs: number): ChosenFault | undefined {
    let chosenFault: ChosenFault | undefined;
    for (const countedRule of this.#rules.values()) {
      if (!countedRule.isDue(nowMs) || !matches(countedRule.rule, call)) continue;
      const decision = countedRule.decisionOf(call);
      if (decision !== undefined) {
        if (decision !== 'pass') chosenFault ??= repeatFault(countedRule, decision);
        continue;
      }
      countedRule.matched += 1;
      const schedule = countedRule.scheduleOf(call);
      const turn = schedule.call();
      if (turn && !chosenFault && applies(turn.action, call)) {
        schedule.take();
        countedRule.seal(call, turn);
        chosenFault = chosenOf(countedRule, turn, schedule);
      } else {
        countedRule.seal(call, 'pass');
        if (turn) schedule.pass();
      }
    }
    return chosenFault;
  }
}

function chosenOf(counted: CountedRule, turn: DueAction, schedule?: FaultSchedule): ChosenFault {
  const { rule, cleared } = counted;
  let isSettled = false;
  const once = (callback: () => void) => (): void => {
    if (isSettled) return;
    isSettled = true;
    callback();
  };
  return {
    ruleId: rule.id,
    action: turn.action,
    when: rule.when ?? actionOf(turn.action).injectionPoints[0],
    isUnmarked: rule.unmarked,
    signal: cleared.signal,
    reportFired: once(() => {
      counted.fired += 1;
      counted.firedSteps.add(turn.step);
    }),
    reportMissed: once(() => schedule?.giveBack()),
  };
}

/** Returns the same fault for a repeated attempt of the same request, without counting it again. */
function repeatFault(counted: CountedRule, turn: DueAction): ChosenFault {
  return { ...chosenOf(counted, turn), reportFired: () => undefined };
}

function applies(action: ActionWithFields, call: FaultCall): boolean {
  return actionOf(action).applies?.(action, call) ?? true;
}

function matches({ match, act: action }: FaultRule, call: FaultCall): boolean {
  const { operation, deviceId, identity, keyType, fleet, report } = match;
  if (operation !== undefined && ![operation].flat().includes(call.operation.id)) return false;
  if (deviceId !== undefined && call.deviceId !== deviceId) return false;
  if (report !== undefined && !(isObject(call.json) && call.json.status === report)) return false;
  if (keyType !== undefined && call.keyType !== keyType) return false;
  if (identity !== undefined && !isWithin(identity, call.identity)) return false;
  if (fleet !== undefined && !isInShare(fleet, call.identity)) return false;
  // Requests to which the action does not apply are not counted. For a script this depends on the
  // step, so it is not checked here.
  return action === undefined || applies(action, call);
}

function isInShare(fleet: { share: number; seed: string }, identity: string | undefined): boolean {
  return identity !== undefined && positionOf(identity, fleet.seed) < fleet.share;
}

/** Returns true if the identity has all these attributes. Values are compared as text. */
function isWithin(
  attributes: Readonly<Record<string, unknown>>,
  identity: string | undefined,
): boolean {
  if (identity === undefined) return false;
  const members = new Map(Object.entries(JSON.parse(identity) as object));
  return Object.entries(attributes).every(
    ([name, value]) => valueText(members.get(name)) === valueText(value),
  );
}
