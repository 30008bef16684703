/**
 * The judge is judged: plays the suite against a good target through a proxy in which one defect
 * after the other is planted, and finds by which cases each one is caught.
 */
import type { Clock } from '../../fixtures/clock.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { Random } from '../../fixtures/random.ts';
import type { ConformanceResult, ControlAddress } from '../conformance.ts';
import type { CaseVerdict } from '../result/result.ts';
import { ActiveDefect } from './active-defect.ts';
import type { Defect, ProxiedOperation } from './defect.ts';
import { type DefectResult, judgedDefect } from './judgement.ts';
import { Probe } from './probe.ts';
import { type Attendant, DefectProxy } from './proxy.ts';

/** A good target on which a defect is played. Its owner closes it. */
export interface GoodTarget {
  readonly baseUrl: string;
  readonly headerPrefix: string;
  /** Of a user of the management API; empty when there is none. */
  readonly userToken: string;
  /** By which cases steer time, faults and tenants; it is not reached through the proxy. */
  readonly control?: ControlAddress;
  close(): Promise<void>;
}

/** A run of the suite that the self-test asks for. */
export interface JudgeRequest {
  readonly baseUrl: string;
  readonly target: GoodTarget;
  /** Ids of the cases to play; undefined plays all. */
  readonly ids?: ReadonlySet<string>;
  /** True when the cases may be played side by side. */
  readonly parallel: boolean;
  readonly onVerdict?: (verdict: CaseVerdict) => void;
  readonly signal?: AbortSignal;
}

/** What the self-test stands on. */
export interface SelfTestOptions {
  /** A fresh target, or the same one again where there is only one. */
  readonly openTarget: () => Promise<GoodTarget>;
  readonly judge: (request: JudgeRequest) => Promise<ConformanceResult>;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal?: AbortSignal;
}

/** What is done once for all cases, so that any of them may depend on it. */
const sharedOperations: ReadonlySet<ProxiedOperation> = new Set([
  'login',
  'upload-artifact',
  'list-all-artifacts',
]);

/** By the id of each case, the defects that would change something of what passes in it. */
export type AffectedCases = ReadonlyMap<string, ReadonlySet<string>>;

/** The run without a defect: every case must hold, and shows which defects could change it. */
export interface Baseline {
  readonly affectedCases: AffectedCases;
  /** Cases that failed, or ended with an error of the suite, although nothing was planted. */
  readonly faults: readonly string[];
}

/** Plays every case, or these, through a faithful proxy which only asks the defects. */
export async function playBaseline(
  defects: readonly Defect[],
  options: SelfTestOptions,
  ids?: ReadonlySet<string>,
): Promise<Baseline> {
  const affectedCases = new Map<string, ReadonlySet<string>>();
  const probe = new Probe(defects);
  const verdicts = await throughProxy(options, {
    parallel: false,
    ...(ids && { ids }),
    attend: probe,
    onVerdict: ({ id }) => affectedCases.set(id, probe.begin()),
  });
  await probe.settled();
  const bad = verdicts?.filter(({ verdict }) => verdict === 'fail' || verdict === 'error') ?? [];
  return { affectedCases, faults: bad.map(({ id }) => id) };
}

/**
 * The cases that a defect can change. In any other one all requests and answers pass as they are,
 * the first and so the second and so each, and it must come out as it does without the defect.
 */
export function casesTouched(
  { id, operations }: Defect,
  affectedCases: AffectedCases,
): ReadonlySet<string> {
  const isShared = operations !== 'all' && operations.some((each) => sharedOperations.has(each));
  if (isShared) return new Set(affectedCases.keys());
  const touched = [...affectedCases].filter(([, defects]) => defects.has(id));
  return new Set(touched.map(([caseId]) => caseId));
}

/**
 * Plays the cases with the defect planted, and judges it; undefined when that was interrupted. A
 * false catch must come again when its case is played once more: one that does not was chance.
 */
export async function playDefect(
  defect: Defect,
  ids: ReadonlySet<string>,
  options: SelfTestOptions,
): Promise<DefectResult | undefined> {
  const result = await playOnce(defect, ids, options);
  if (!result || result.falseCatches.length === 0) return result;
  const doubted = new Set(result.falseCatches.map(({ caseId }) => caseId));
  const again = await playOnce(defect, doubted, options);
  return again && { ...result, falseCatches: again.falseCatches };
}

async function playOnce(
  defect: Defect,
  ids: ReadonlySet<string>,
  options: SelfTestOptions,
): Promise<DefectResult | undefined> {
  const planted = new ActiveDefect(defect);
  const verdicts =
    ids.size === 0 ? [] : await throughProxy(options, { parallel: true, ids, planted });
  return verdicts && judgedDefect(defect, { verdicts, changes: planted.changes });
}

interface ProxiedRun extends Pick<JudgeRequest, 'ids' | 'parallel' | 'onVerdict'> {
  readonly planted?: ActiveDefect;
  readonly attend?: Attendant;
}

/** The verdicts of a run through the proxy; undefined when it was interrupted. */
async function throughProxy(
  options: SelfTestOptions,
  run: ProxiedRun,
): Promise<readonly CaseVerdict[] | undefined> {
  const { signal } = options;
  if (signal?.aborted) return undefined;
  try {
    const { verdicts } = await judged(options, run);
    return signal?.aborted ? undefined : verdicts;
  } catch (error) {
    // What is interrupted at its first step has no verdicts to give.
    if (signal?.aborted) return undefined;
    throw error;
  }
}

async function judged(
  { openTarget, judge, clock, random, signal }: SelfTestOptions,
  { planted, attend, ...request }: ProxiedRun,
): Promise<ConformanceResult> {
  const target = await openTarget();
  try {
    const proxy = await DefectProxy.open({
      targetUrl: target.baseUrl,
      names: vendorNames(target.headerPrefix),
      userToken: target.userToken,
      clock,
      random,
      ...(attend && { attendant: attend }),
    });
    try {
      proxy.activate(planted);
      return await judge({
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
