import { describe, expect, it } from 'vitest';
import { resultOf, verdictOn } from '../testing/results.ts';
import { headlineOf, untestedMust } from './headline.ts';
import type {
  CapabilityRow,
  CaseOutcome,
  CaseVerdict,
  ConformanceResult,
  RunProblem,
} from './result.ts';

const skipped = (code: string): CaseOutcome => ({ verdict: 'skip', reason: { code, text: code } });
const failed = { verdict: 'fail', expected: 'status 400', actual: '204' } as const;
const control: CapabilityRow = {
  capability: 'rate-control',
  declared: 'undeclared',
  probed: 'offered',
};

/** Returns the parts of a result in which each of these MUSTs is untested for this reason. */
function untested(...rows: readonly (readonly [string, string | undefined])[]) {
  const undecidedMusts = rows.map(([id, code]) => ({
    id,
    reason: 'skip',
    ...(code !== undefined && { code }),
  }));
  const problems = rows.map(([id]): RunProblem => ({ code: untestedMust, text: `${id} (MUST)` }));
  return { problems, musts: { decided: 1, undecided: rows.length, undecidedMusts } };
}

function headline(verdicts: readonly CaseVerdict[], more: Partial<ConformanceResult> = {}): string {
  return headlineOf(resultOf(verdicts, more));
}

const pass = verdictOn('errors/error-says-why', { verdict: 'pass' });
const fail = verdictOn('authentication/first-contact-is-401', failed);
const tolerated = verdictOn('service/json-is-labelled', failed, { tolerated: true });
const none = { decided: 1, undecided: 0, undecidedMusts: [] };

describe('the headline of a result', () => {
  it.each<[string, readonly CaseVerdict[], Partial<ConformanceResult>]>([
    ['pass: 1 case passed', [pass], { musts: none }],
    [
      'pass: 1 case passed, 1 failed by a SHOULD',
      [pass, tolerated],
      { outcome: 'pass', musts: none },
    ],
    [
      'pass: 1 case passed, 1 skipped; 1 MUST not tested, it needs --control-url',
      [pass, verdictOn('authentication/first-contact-is-401', skipped('clock-control'))],
      { ...untested(['a', 'clock-control']), problems: [] },
    ],
    [
      'fail: 1 of 2 cases failed; first: authentication/first-contact-is-401: expected status 400, actual 204',
      [pass, fail],
      {},
    ],
    [
      'fail: 2 MUSTs not tested, they need --control-url; first: a (MUST)',
      [pass],
      { outcome: 'fail', ...untested(['a', 'clock-control'], ['b', 'tenant-control']) },
    ],
    [
      'fail: 3 MUSTs not tested (1 needs a target with clock-control, 1 needs --disruptive, 1 needs a run of all cases); first: a (MUST)',
      [pass],
      {
        outcome: 'fail',
        capabilities: [control],
        ...untested(['a', 'clock-control'], ['b', 'disruptive'], ['c', undefined]),
      },
    ],
    [
      'fail: 1 waiver to fix; first: the waiver is no longer needed',
      [pass],
      {
        outcome: 'fail',
        problems: [{ code: 'waiver-obsolete', text: 'the waiver is no longer needed' }],
      },
    ],
    ['inconclusive: nothing was tested: no case was selected', [], {}],
    [
      'inconclusive: nothing was tested: no case passed or failed; 1 skipped, it needs --password, --token or --hooks',
      [verdictOn('authentication/first-contact-is-401', skipped('user'))],
      {},
    ],
    [
      'inconclusive: 1 of 2 cases without a verdict; first: authentication/first-contact-is-401: too slow',
      [
        pass,
        verdictOn('authentication/first-contact-is-401', {
          verdict: 'inconclusive',
          reason: { code: 'case-time-limit', text: 'too slow' },
        }),
      ],
      {},
    ],
  ])('is the sentence: %s', (sentence, verdicts, more) => {
    expect(headline(verdicts, more)).toBe(sentence);
  });
});
