/**
 * Tests the suite itself: runs it against a good server through a proxy in which one defect
 * after another is active, and records which cases kill each one.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { ConformanceResult, ControlAddress } from '../conformance.ts';
import type { CaseVerdict } from '../result/result.ts';
import { ActiveDefect } from './active-defect.ts';
import type { Defect, ProxiedOperation } from './defect.ts';
import { type DefectResult, judgeDefect } from './judgement.ts';
import { DefectProbe } from './probe.ts';
import { DefectProxy, type ProxyObserver } from './proxy.ts';

/** A good server in front of which the proxy with a defect runs. The owner must close it. */
export interface GoodTarget {
  readonly baseUrl: string;
  readonly headerPrefix: string;
  /** A user's token for the management API; empty when there is none. */
  readonly userToken: string;
  /** Address for control over time, faults and tenants; requests to it bypass the proxy. */
  readonly control?: ControlAddress;
  close(): Promise<void>;
}

/** A run of the suite requested by the self-test. */
export interface RunRequest {
  readonly baseUrl: string;
  readonly target: GoodTarget;
  /** IDs of the cases to run; undefined runs all. */
  readonly ids?: ReadonlySet<string>;
  /** True when the cases may run in parallel. */
  readonly parallel: boolean;
  readonly onVerdict?: (verdict: CaseVerdict) => void;
  /** Called when a case has reached its start state, before it acts. */
  readonly onAct?: () => void;
  readonly signal?: AbortSignal;
}

export interface SelfTestOptions {
  /** Opens a fresh target, or returns the same one where there is only one. */
  readonly openTarget: () => Promise<GoodTarget>;
  readonly runSuite: (request: RunRequest) => Promise<ConformanceResult>;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal?: AbortSignal;
}

/** Operations that the suite calls once for all cases, so that any case may depend on them. */
const sharedOperations: ReadonlySet<ProxiedOperation> = new Set([
  'login',
  'upload-artifact',
  'list-all-artifacts',
]);

/** The IDs of the defects that would change an exchange of a case, by case ID. */
export type AffectedCases = ReadonlyMap<string, ReadonlySet<string>>;

/** The requirements that a case names, by case ID. */
export type NamedRequirements = ReadonlyMap<string, readonly RequirementId[]>;

/** The result of the run without a defect, in which no case may fail. */
export interface Baseline {
  readonly affectedCases: AffectedCases;
  readonly named: NamedRequirements;
  /** Cases that failed, or ended with a suite error, without a defect. */
  readonly failures: readonly string[];
}

/** Runs all or the given cases through an unmodified proxy which only probes the defects. */
export async function runBaseline(
  defects: readonly Defect[],
  options: SelfTestOptions,
  ids?: ReadonlySet<string>,
): Promise<Baseline> {
  const affectedCases = new Map<string, ReadonlySet<string>>();
  const probe = new DefectProbe(defects, options.clock);
  const verdicts = await throughProxy(options, {
    parallel: false,
    ...(ids && { ids }),
    observer: probe,
    onVerdict: ({ id }) => affectedCases.set(id, probe.begin()),
  });
  await probe.waitUntilExamined();
  const bad = verdicts?.filter(({ verdict }) => verdict === 'fail' || verdict === 'error') ?? [];
  const requirementsByCase = new Map(
    (verdicts ?? []).map(({ id, requirements }) => [id, requirements]),
  );
  return { affectedCases, named: requirementsByCase, failures: bad.map(({ id }) => id) };
}

/**
 * Returns the cases that a defect can affect. The defect would not change any exchange of another
 * case, so the verdict on that case is the same as without the defect.
 */
export function casesAffectedBy(
  { id, operations }: Defect,
  affectedCases: AffectedCases,
): ReadonlySet<string> {
  const isShared = operations !== 'all' && operations.some((each) => sharedOperations.has(each));
  if (isShared) return new Set(affectedCases.keys());
  const touchedCases = [...affectedCases].filter(([, defects]) => defects.has(id));
  return new Set(touchedCases.map(([caseId]) => caseId));
}

/**
 * Runs the cases with the defect active and judges it; undefined when interrupted. A false failure
 * and an error of the suite count only if they recur when their cases are run once more.
 */
export async function runDefect(
  defect: Defect,
  ids: ReadonlySet<string>,
  options: SelfTestOptions,
): Promise<DefectResult | undefined> {
  const result = await runOnce(defect, ids, options);
  if (!result) return undefined;
  const { falseFailures, suiteErrors } = result;
  const doubted = new Set([...falseFailures.map(({ caseId }) => caseId), ...suiteErrors]);
  if (doubted.size === 0) return result;
  const again = await runOnce(defect, doubted, options);
  return again && { ...result, falseFailures: again.falseFailures, suiteErrors: again.suiteErrors };
}

async function runOnce(
  defect: Defect,
  ids: ReadonlySet<string>,
  options: SelfTestOptions,
): Promise<DefectResult | undefined> {
  const planted = new ActiveDefect(defect);
  const verdicts =
    ids.size === 0 ? [] : await throughProxy(options, { parallel: true, ids, planted });
  return verdicts && judgeDefect(defect, { verdicts, changes: planted.changes });
}

interface ProxiedRun extends Pick<RunRequest, 'ids' | 'parallel' | 'onVerdict'> {
  readonly planted?: ActiveDefect;
  readonly observer?: ProxyObserver;
}

/** Returns the verdicts of a run through the proxy; undefined when interrupted. */
async function throughProxy(
  options: SelfTestOptions,
  run: ProxiedRun,
): Promise<readonly CaseVerdict[] | undefined> {
  const { signal } = options;
  if (signal?.aborted) return undefined;
  try {
    const { verdicts } = await runAgainst(options, run);
    return signal?.aborted ? undefined : verdicts;
  } catch (error) {
    // A run interrupted at its first step has no verdicts.
    if (signal?.aborted) return undefined;
    throw error;
  }
}

async function runAgainst(
  { openTarget, runSuite, clock, random, signal }: SelfTestOptions,
  { planted, observer, ...request }: ProxiedRun,
): Promise<ConformanceResult> {
  const target = await openTarget();
  try {
    const proxy = await DefectProxy.open({
      targetUrl: target.baseUrl,
      names: vendorNames(target.headerPrefix),
      userToken: target.userToken,
      clock,
      random,
      ...(observer && { observer }),
    });
    try {
      proxy.activate(planted);
      return await runSuite({
        ...request,
        ...(signal && { signal }),
        baseUrl: proxy.baseUrl,
        target,
      });
    } finally {
      await proxy.close();
    }
  } finally {
    await target.close();
  }
}
