/** Runs one case: checks its needs, arranges its start state, limits its time, and judges it. */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import { MissingCapability } from '../adapters/missing-capability.ts';
import { ControlFailure } from '../context/control.ts';
import {
  AutoAcceptingTarget,
  StartStateNotReached,
  type UndocumentedResponse,
} from '../context/start-states.ts';
import { AdminFailure } from '../context/target-admin.ts';
import type { TestContext } from '../context/test-context.ts';
import type { ExchangeViolation } from '../passive/suite-traffic-judge.ts';
import type { CaseOutcome, CaseVerdict } from '../result/result.ts';
import type { Capability, RunnableCase } from '../suite/case.ts';
import { type CaseObservation, ExpectationFailure, NotObservable } from '../target/expectations.ts';
import { AutoAcceptingTargetError } from '../target/setup-error.ts';
import { TransportFailure } from '../target/transport-failure.ts';
import { listingOf, violationBy, withViolations } from './violations.ts';

/** The facts that determine whether a case can run. */
export interface RunConditions {
  readonly capabilities: ReadonlySet<Capability>;
  readonly disruptive: boolean;
  /** True to skip every case that changes the target. */
  readonly readOnly?: boolean;
  /** The reason why there is no target admin although credentials were given. */
  readonly adminUnusable?: string | undefined;
}

export interface CaseRunOptions {
  readonly clock: Clock;
  readonly caseTimeLimitMs: number;
  /** True to keep the exchanges of passed cases. */
  readonly allEvidence?: boolean | undefined;
  /** Start of the run by the clock's monotonic time. */
  readonly runStartedMs: number;
  /** Creates the context of a case; `signal` aborts every request of the case. */
  readonly openContext: (testCase: RunnableCase, signal: AbortSignal) => TestContext;
  /** Returns the violations in the exchanges of the case, including those of its cleanup. */
  readonly violations?: () => readonly ExchangeViolation[];
  /** Removes the resources of the case, and returns a line for each one that remains. */
  readonly release: (context: TestContext) => Promise<readonly string[]>;
  /** Called when the case has reached its start state, before it acts. */
  readonly onAct?: (() => void) | undefined;
  /** Aborts the run; cases that have not ended are inconclusive. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns the outcome for a case that cannot be run; undefined if it can be run. */
export function reasonNotToRun(
  testCase: RunnableCase,
  conditions: RunConditions,
): CaseOutcome | undefined {
  const missingNeed = testCase.needs.find((need) => !conditions.capabilities.has(need));
  if (missingNeed === 'user' && conditions.adminUnusable !== undefined) {
    return inconclusive('user-unusable', conditions.adminUnusable);
  }
  if (missingNeed !== undefined)
    return skip(missingNeed, `the target does not offer ${missingNeed}`);
  if (conditions.readOnly && testCase.effect !== 'read') {
    return skip('read-only', `--read-only excludes ${testCase.effect} cases`);
  }
  if (testCase.effect === 'disruptive' && !conditions.disruptive) {
    return skip('disruptive', 'the case may affect other users; --disruptive includes it');
  }
  return undefined;
}

/** Returns the verdict of a case that was not run. @param startedMs time since the run started */
export function verdictWithoutRun(
  testCase: RunnableCase,
  outcome: CaseOutcome,
  startedMs: number,
): CaseVerdict {
  return { ...listingOf(testCase), ...outcome, startedMs, durationMs: 0 };
}

/** Runs a case and removes its resources, even if the case failed or exceeded its time limit. */
export async function runCase(
  testCase: RunnableCase,
  options: CaseRunOptions,
): Promise<CaseVerdict> {
  const { clock } = options;
  const startedMs = clock.monotonicMs();
  const limit = new AbortController();
  const context = options.openContext(testCase, limit.signal);
  const performed = await withinLimit(
    perform(testCase, context, options.onAct),
    { limit, context },
    options,
  );
  const { exchanges, dropped } = context.client.exchangeList;
  const undocumented = performed.undocumented
    ? [violationBy(performed.undocumented, exchanges)]
    : [];
  const leftBehind = await releaseInTime(context, options);
  const violations = [...(options.violations?.() ?? []), ...undocumented];
  const { outcome, listing } = withViolations(testCase, performed.outcome, violations);
  const { made } = context.created;
  const keepsEvidence = options.allEvidence === true || outcome.verdict !== 'pass';
  return {
    ...listing,
    ...outcome,
    startedMs: Math.round(startedMs - options.runStartedMs),
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    ...(keepsEvidence ? { exchanges: [...exchanges] } : {}),
    ...(keepsEvidence && dropped > 0 ? { exchangesDropped: dropped } : {}),
    ...(Object.keys(made).length > 0 ? { made } : {}),
    ...(leftBehind.length > 0 ? { leftBehind } : {}),
  };
}

/** Cleans up within the time limit of a case, since an endless cleanup would block the run. */
async function releaseInTime(
  context: TestContext,
  { clock, caseTimeLimitMs, release }: CaseRunOptions,
): Promise<readonly string[]> {
  const over = new AbortController();
  const text = `the cleanup took longer than ${caseTimeLimitMs} ms`;
  const timeLimit = clock.sleep(caseTimeLimitMs, over.signal).then(() => [text]);
  try {
    return await Promise.race([release(context), timeLimit]);
  } finally {
    over.abort();
  }
}

export function inconclusive(code: string, text: string, expected?: string): CaseOutcome {
  const reason = { code, text, ...(expected !== undefined && { expected }) };
  return { verdict: 'inconclusive', reason };
}

export function skip(code: string, text: string): CaseOutcome {
  return { verdict: 'skip', reason: { code, text } };
}

/** The outcome of a case, and the response that kept it from its start state, if there is one. */
interface Performance {
  readonly outcome: CaseOutcome;
  readonly undocumented?: UndocumentedResponse | undefined;
}

/** Resolves with the result, or an inconclusive one if the time limit or an interrupt is first. */
async function withinLimit(
  performance: Promise<Performance>,
  { limit, context }: { readonly limit: AbortController; readonly context: TestContext },
  { clock, caseTimeLimitMs, signal }: CaseRunOptions,
): Promise<Performance> {
  let release = (): void => undefined;
  const expiry = new Promise<Performance>((resolve) => {
    const end = (code: string, text: string): void => {
      resolve({ outcome: inconclusive(code, text) });
      limit.abort(new TransportFailure('interrupted', text));
    };
    const interrupt = (): void => end('interrupted', 'the run was interrupted');
    const endAtLimit = (): void =>
      end('case-time-limit', `the case took longer than ${caseTimeLimitMs} ms`);
    const watch = watchTime(clock, { limitMs: caseTimeLimitMs, late: endAtLimit, context });
    signal?.addEventListener('abort', interrupt, { once: true });
    release = () => {
      watch.cancel();
      signal?.removeEventListener('abort', interrupt);
    };
  });
  try {
    return await Promise.race([performance, expiry]);
  } finally {
    release();
  }
}

/** Calls `late` after the time limit, which excludes the time that requests waited for the rate. */
function watchTime(
  clock: Clock,
  { limitMs, late, context }: { limitMs: number; late: () => void; context: TestContext },
): Timer {
  let counted = 0;
  let timer: Timer;
  const startTimer = (delayMs: number): void => {
    timer = clock.after(delayMs, () => {
      const waitedMs = context.client.waitedMs - counted;
      counted += waitedMs;
      if (waitedMs > 0) startTimer(waitedMs);
      else late();
    });
  };
  startTimer(limitMs);
  return { cancel: () => timer.cancel() };
}

async function perform(
  testCase: RunnableCase,
  context: TestContext,
  onAct?: () => void,
): Promise<Performance> {
  try {
    const runCase = await testCase.arrange(context);
    onAct?.();
    return { outcome: await outcomeOf(testCase, runCase) };
  } catch (error) {
    const undocumented = error instanceof StartStateNotReached ? error.undocumented : undefined;
    return { outcome: outcomeOfError(error), undocumented };
  }
}

async function outcomeOf(
  testCase: RunnableCase,
  act: () => Promise<CaseObservation | undefined>,
): Promise<CaseOutcome> {
  try {
    const observation = await act();
    if (observation === undefined) return { verdict: 'pass' };
    return { verdict: 'observed', observation: observation.text };
  } catch (error) {
    if (error instanceof ExpectationFailure) return violatedBy(testCase, error);
    // For an observing case, the absence of anything to observe is also an observation.
    if (error instanceof NotObservable && testCase.level === 'may') {
      return { verdict: 'observed', observation: error.message };
    }
    throw error;
  }
}

function violatedBy(testCase: RunnableCase, failure: ExpectationFailure): CaseOutcome {
  const { expected, actual, violated } = failure;
  if (testCase.level !== 'may') {
    return { verdict: 'fail', expected, actual, ...(violated === undefined ? {} : { violated }) };
  }
  return { verdict: 'observed', observation: `${actual}, where ${expected} is expected` };
}

/** Returns the outcome for an error that kept a case from a judgement. */
function outcomeOfError(error: unknown): CaseOutcome {
  if (error instanceof TransportFailure) return inconclusive(error.code, error.message);
  if (error instanceof MissingCapability) return skip(error.capability, error.message);
  if (error instanceof ControlFailure) return inconclusive('control-failed', error.message);
  if (error instanceof AdminFailure) return inconclusive('user-failed', error.message);
  if (error instanceof AutoAcceptingTarget) {
    return inconclusive(AutoAcceptingTargetError.code, error.message);
  }
  if (error instanceof NotObservable) return inconclusive('not-observable', error.message);
  if (error instanceof StartStateNotReached || error instanceof ExpectationFailure) {
    const { expected } = error;
    return inconclusive('start-state-missed', error.message, expected);
  }
  return suiteError(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

function suiteError(text: string): CaseOutcome {
  return { verdict: 'error', reason: { code: 'suite-error', text } };
}
