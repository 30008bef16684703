import { describe, expect, it } from 'vitest';
import type { ClientTestResult } from '../../../../conformance/client-judge/report/client-test-result.ts';
import { sampleClientTest } from '../../../../conformance/client-judge/testing/sample-client-test.ts';
import { exitCodeOf } from './test-client.ts';

const [sample] = sampleClientTest.duties;
if (sample === undefined) throw new Error('the sample has no duty');
const mustIn = (state: ClientTestResult['duties'][number]['state']) => [
  { ...sample, level: 'must' as const, state },
];

describe('the exit code of a client test', () => {
  it.each([
    ['met', 'met', false, 0],
    ['met', 'not-tested', false, 0],
    ['met', 'not-tested', true, 1],
    ['met', 'open', true, 1],
    ['met', 'not-applicable', true, 0],
    ['inconclusive', 'met', false, 4],
    ['inconclusive', 'not-judged', true, 1],
    ['broken', 'met', false, 1],
    ['met', 'broken', false, 1],
    ['interrupted', 'met', false, 130],
  ] as const)(
    'follows from the outcome %s, a MUST that is %s and --require-all-must %s: %i',
    (outcome, state, requireAllMust, code) => {
      const testResult = { ...sampleClientTest, outcome, duties: mustIn(state) };
      expect(exitCodeOf(testResult, requireAllMust)).toBe(code);
    },
  );
});
