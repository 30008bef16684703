/**
 * The judge is judged: plays the suite against a good target through a proxy in which one defect
 * after the other is planted, and finds by which cases each one is caught.
 */
import type { Clock } from '../../fixtures/clock.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { Random } from '../../fixtures/random.ts';
import type { ConformanceResult } from '../conformance.ts';
import type { CaseVerdict } from '../result.ts';
import type { Defect, ProxiedOperation } from './defect.ts';
import { type DefectResult, judgedDefect } from './judgement.ts';
import { PlantedDefect } from './planted.ts';
import { DefectProxy } from './proxy.ts';

/** A good target on which a defect is played. Its owner closes it. */
export interface GoodTarget {
  readonly baseUrl: string;
  readonly headerPrefix: string;
  /** Of a user of the management API; empty when there is none. */
  readonly userToken: string;
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

/** The operations that each case calls when nothing is wrong, by the id of the case. */
export type Footprints = ReadonlyMap<string, ReadonlySet<ProxiedOperation | undefined>>;

/** The run without a defect: every case must hold, and tells which operations it calls. */
export interface Baseline {
  readonly result: ConformanceResult;
  readonly footprints: Footprints;
  /** Cases that failed, or stumbled, although nothing was planted. */
  readonly faults: readonly string[];
}

/** What is done once for all cases, so that any of them may depend on it. */
const sharedOperations: ReadonlySet<ProxiedOperation> = new Set([
  'login',
  'upload-artifact',
  'list-all-artifacts',
  'download-artifact',
]);

/** Plays every case, or these, through a faithful proxy. */
export async function playBaseline(
  options: SelfTestOptions,
  ids?: ReadonlySet<string>,
): Promise<Baseline> {
  const footprints = new Map<string, ReadonlySet<ProxiedOperation | undefined>>();
  let called = new Set<ProxiedOperation | undefined>();
  const result = await throughProxy(options, {
    parallel: false,
    ...(ids && { ids }),
    onRequest: (operation) => called.add(operation),
    onVerdict: ({ id }) => {
      footprints.set(id, called);
      called = new Set();
    },
  });
  const bad = result.verdicts.filter(({ verdict }) => verdict === 'fail' || verdict === 'error');
  return { result, footprints, faults: bad.map(({ id }) => id) };
}

/** The cases that a defect can change: those that call an operation which it touches. */
export function casesTouched({ operations }: Defect, footprints: Footprints): ReadonlySet<string> {
  const touchesAll = operations === 'all' || operations.some((each) => sharedOperations.has(each));
  const touched = [...footprints].filter(
    ([, called]) => called.size > 0 && (touchesAll || operations.some((each) => called.has(each))),
  );
  return new Set(touched.map(([id]) => id));
}

/** Plays the cases with the defect planted, and judges it; undefined when that was interrupted. */
export async function playDefect(
  defect: Defect,
  ids: ReadonlySet<string>,
  options: SelfTestOptions,
): Promise<DefectResult | undefined> {
  const planted = new PlantedDefect(defect);
  const verdicts =
    ids.size === 0 ? [] : (await throughProxy(options, { parallel: true, ids, planted })).verdicts;
  if (options.signal?.aborted) return undefined;
  return judgedDefect(defect, { verdicts, changes: planted.changes });
}

interface ProxiedRun extends Pick<JudgeRequest, 'ids' | 'parallel' | 'onVerdict'> {
  readonly planted?: PlantedDefect;
  readonly onRequest?: (operation: ProxiedOperation | undefined) => void;
}

async function throughProxy(
  { openTarget, judge, clock, random, signal }: SelfTestOptions,
  { planted, onRequest, ...request }: ProxiedRun,
): Promise<ConformanceResult> {
  const target = await openTarget();
  try {
    const proxy = await DefectProxy.open({
      targetUrl: target.baseUrl,
      names: vendorNames(target.headerPrefix),
      userToken: target.userToken,
      clock,
      random,
      ...(onRequest && { onRequest }),
    });
    try {
      proxy.plant(planted);
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
