/**
 * Searches for cases that cannot fail: each judging case is played with wrong responses to what it
 * does from its start state on. Only the expectations of the case itself count, not the passive checks.
 */
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { type CaseVerdict, failedByViolationsOnly } from '../result/result.ts';
import { ActiveDefect } from './active-defect.ts';
import { DefectProxy } from './proxy.ts';
import type { SelfTestOptions } from './self-test.ts';
import type { WrongResponse } from './wrong-responses.ts';

/** The result of a search. */
export interface SearchResult {
  /** Number of judging cases that passed with the right responses. */
  readonly cases: number;
  /** IDs of the cases that failed with none of the wrong responses. */
  readonly cannotFail: readonly string[];
}

interface SearchOptions extends SelfTestOptions {
  readonly wrongs: readonly WrongResponse[];
  /** IDs of the cases to search; all when absent. */
  readonly ids?: ReadonlySet<string>;
  /** Called after each wrong response with the number of cases that have not failed yet. */
  readonly onWrong?: (wrong: WrongResponse, left: number) => void;
}

/** Plays the cases with one wrong response after another, until each has failed once. */
export async function findCasesThatCannotFail(options: SearchOptions): Promise<SearchResult> {
  const normalVerdicts = await playCases(options, undefined, options.ids);
  const judging = normalVerdicts.filter(
    ({ verdict, level }) => verdict === 'pass' && level !== 'may',
  );
  let remainingIds = new Set(judging.map(({ id }) => id));
  for (const wrong of options.wrongs) {
    if (remainingIds.size === 0) break;
    const verdicts = await playCases(options, wrong, remainingIds);
    const failedIds = new Set(verdicts.filter(hasFailed).map(({ id }) => id));
    remainingIds = new Set([...remainingIds].filter((id) => !failedIds.has(id)));
    options.onWrong?.(wrong, remainingIds.size);
  }
  return { cases: judging.length, cannotFail: [...remainingIds] };
}

function hasFailed(verdict: CaseVerdict): boolean {
  return verdict.verdict === 'fail' && !failedByViolationsOnly(verdict);
}

/** Runs the cases one at a time; the responses are wrong while a case acts. */
async function playCases(
  { openTarget, runSuite, clock, random, signal }: SearchOptions,
  wrong: WrongResponse | undefined,
  ids: ReadonlySet<string> | undefined,
): Promise<readonly CaseVerdict[]> {
  const target = await openTarget();
  try {
    const { baseUrl: targetUrl, headerPrefix, userToken } = target;
    const names = vendorNames(headerPrefix);
    const proxy = await DefectProxy.open({ targetUrl, names, userToken, clock, random });
    try {
      const { verdicts } = await runSuite({
        baseUrl: proxy.baseUrl,
        target,
        parallel: false,
        ...(ids && { ids }),
        ...(signal && { signal }),
        onAct: () => proxy.activate(wrong && new ActiveDefect(wrong)),
        onVerdict: () => proxy.activate(undefined),
      });
      return verdicts;
    } finally {
      await proxy.close();
    }
  } finally {
    await target.close();
  }
}
