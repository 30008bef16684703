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
    ['kept', 'kept', false, 0],
    ['kept', 'not-tested', false, 0],
    ['kept', 'not-tested', true, 1],
    ['kept', 'open', true, 1],
    ['kept', 'not-applicable', true, 0],
    ['inconclusive', 'kept', false, 4],
    ['inconclusive', 'not-judged', true, 1],
    ['broken', 'kept', false, 1],
    ['kept', 'broken', false, 1],
    ['interrupted', 'kept', false, 130],
  ] as const)(
    'follows from the outcome %s, a MUST that is %s and --require-all-must %s: %i',
    (outcome, state, requireAllMust, code) => {
      const testResult = { ...sampleClientTest, outcome, duties: mustIn(state) };
      expect(exitCodeOf(testResult, requireAllMust)).toBe(code);
    },
  );
});
