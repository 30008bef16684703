/** A result whose texts all contain markup and scripts, and an earlier result to compare with. */
import { listCases } from '../conformance.ts';
import { withReproScript } from '../repro-script/repro-script.ts';
import { coverageOf } from '../result/coverage.ts';
import { observationsOf } from '../result/observations.ts';
import type { CaseVerdict } from '../result/result.ts';
import { resultOf, verdictOn } from './results.ts';

/** Text with a script that would run if a page inserted it as markup. */
export const hostile = `</script><script>document.title='taken'</script><img src=x onerror="document.title='taken'">'"&\u2028`;

/** An exchange with hostile text in the request and in the response. */
export const exchange = {
  startMs: 3,
  request: {
    line: `PUT http://host/status?x=${hostile}`,
    headers: { authorization: 'Bearer <masked:device-token>' },
    body: hostile,
  },
  response: { status: 204, headers: { 'x-says': hostile }, body: hostile },
  elapsedMs: 3,
};

/** The coverage of the real suite. */
export const coverage = coverageOf(listCases());
const waiver = { reason: hostile, owner: hostile, expires: '2026-12-31' };
/** The case whose failure is waived. */
export const waived = 'errors/error-says-why';
/** The violation of a passive check in the failed case. */
export const violation = {
  requirements: ['errors.no-needless-fault'],
  level: 'must',
  operation: 'get-device',
  text: hostile,
  exchange,
} as const;

/** Returns a verdict for every case: the first five differ, one is waived, and the rest passed. */
function everyVerdict(): readonly CaseVerdict[] {
  const reason = { code: 'case-time-limit', text: hostile };
  const findings = [
    { verdict: 'fail', expected: 'status 400', actual: hostile, violations: [violation] },
    { verdict: 'error', reason },
    { verdict: 'inconclusive', reason },
    { verdict: 'skip', reason: { code: 'user', text: hostile } },
    { verdict: 'observed', observation: hostile },
  ] as const;
  return listCases().map(({ id }, index) => {
    const times = { startedMs: 10 * index, durationMs: index % 2 === 0 ? 15 : 5 };
    const evidence = { exchanges: [exchange, exchange], exchangesDropped: 2, ...times };
    const finding = findings[index];
    if (id === waived)
      return verdictOn(id, { verdict: 'fail', actual: hostile }, { waiver, ...times });
    if (finding === undefined) return verdictOn(id, { verdict: 'pass' }, times);
    return withReproScript(verdictOn(id, finding, { ...evidence, ...finding }), {
      baseUrl: 'http://host',
    });
  });
}

/** A verdict for every case of the suite. */
export const verdicts = everyVerdict();
/** The only failure that is not waived. */
export const failedVerdict = verdicts.find(({ verdict }) => verdict === 'fail');
/** A run whose target answers with hostile text. */
export const result = resultOf(verdicts, {
  outcome: 'fail',
  target: { baseUrl: `http://host/${hostile}`, headerPrefix: 'X-SVC' },
  openPoints: observationsOf(verdicts),
  capabilities: [
    { capability: 'monitor', declared: 'offered', probed: 'missing', contradiction: hostile },
  ],
  waivers: [{ ...waiver, caseId: waived, state: 'used' }],
  problems: [{ code: 'waiver-expired', text: hostile }],
  seed: hostile,
  leftBehind: [hostile],
});
/** An earlier run; since then, one case regressed, one was repaired and one was added. */
export const earlierResult = resultOf(
  verdicts.slice(0, -1).map((each, index) => {
    if (index === 0) return verdictOn(each.id, { verdict: 'pass' });
    if (index === 9) return verdictOn(each.id, { verdict: 'fail', expected: 'x', actual: hostile });
    return each;
  }),
  { target: result.target, runId: hostile },
);
