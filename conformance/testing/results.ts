/** Complete verdicts and results for tests, with overrides for what is tested. */
import { listCases } from '../conformance.ts';
import { headlineOf } from '../result/headline.ts';
import {
  type CaseOutcome,
  type CaseVerdict,
  type ConformanceResult,
  conformanceSchema,
  countVerdicts,
  decideMusts,
  worstOf,
} from '../result/result.ts';

/** Returns the verdict on a case of the suite. Throws when there is no such case. */
export function verdictOn(
  id: string,
  outcome: CaseOutcome,
  more: Partial<CaseVerdict> = {},
): CaseVerdict {
  const listing = listCases().find((each) => each.id === id);
  if (!listing) throw new Error(`there is no case ${id}`);
  const sentences = listing.requirements.map((requirement) => `The sentence of ${requirement}.`);
  return { ...listing, ...outcome, sentences, startedMs: 0, durationMs: 12, ...more };
}

/** Returns the result of a run with these verdicts. */
export function resultOf(
  verdicts: readonly CaseVerdict[],
  more: Partial<ConformanceResult> = {},
): ConformanceResult {
  const judgement = { outcome: worstOf(verdicts), musts: decideMusts(verdicts), verdicts };
  return {
    schema: conformanceSchema,
    suite: { name: 'fleetbed conformance', version: '1' },
    target: { baseUrl: 'http://host', headerPrefix: 'X-SVC' },
    runId: 'cafe',
    seed: 'a seed',
    settings: {
      selection: [],
      jobs: 1,
      repeat: 1,
      requestsPerSecondMax: null,
      disruptive: false,
      readOnly: false,
      skipUnauthorized: false,
      requireAllMust: false,
      failOn: 'should',
      caseTimeLimitMs: 60_000,
      requestTimeLimitMs: 15_000,
    },
    environment: { node: '20.19.0', platform: 'linux' },
    startedAt: '2026-01-31T12:00:00.000Z',
    durationMs: 1234,
    ...judgement,
    totals: countVerdicts(verdicts),
    waived: verdicts.filter(({ waiver }) => waiver !== undefined).length,
    capabilities: [],
    openPoints: [],
    waivers: [],
    problems: [],
    requirementsOnAllOperations: [],
    readBacks: [],
    made: {},
    footprint: { requests: 0, userChanges: 0 },
    headline: headlineOf({ problems: [], capabilities: [], ...judgement, ...more }),
    leftBehind: [],
    ...more,
  };
}
