import { describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { resultOf, verdictOn } from '../testing/results.ts';
import { serve } from '../testing/stub-server.ts';
import { findCasesThatCannotFail } from './cases-that-cannot-fail.ts';
import type { RunRequest } from './self-test.ts';
import { wrongResponses } from './wrong-responses.ts';

const { path } = operations['get-configuration'];

/** Cases by ID, each with the responses that it accepts. */
const accepts: Readonly<Record<string, (status: number, text: string) => boolean>> = {
  'configuration/set-by-user-is-read': (status) => status === 200,
  'errors/error-says-why': (_, text) => text === '{"a":"1"}' || text.startsWith('{"error"'),
  'audit-log/newest-comes-first': () => true,
};

async function runSuite({ baseUrl, ids, onAct, onVerdict }: RunRequest) {
  const verdicts = [];
  for (const [id, isAccepted] of Object.entries(accepts)) {
    if (ids && !ids.has(id)) continue;
    onAct?.();
    const response = await fetch(baseUrl + path);
    const isRight = isAccepted(response.status, await response.text());
    const finding = isRight
      ? ({ verdict: 'pass' } as const)
      : ({ verdict: 'fail', expected: 'the right response', actual: 'another' } as const);
    const verdict = verdictOn(id, finding);
    verdicts.push(verdict);
    onVerdict?.(verdict);
  }
  return resultOf(verdicts);
}

describe('the search for cases that cannot fail', () => {
  it('names the cases that pass with every wrong response, and tries further ones on those alone', async () => {
    const baseUrl = await serve((_, response) => {
      response.setHeader('content-type', 'application/json').end('{"a":"1"}');
    });
    const target = { baseUrl, headerPrefix: 'X-SVC', userToken: '', close: async () => undefined };
    const left: number[] = [];
    const found = await findCasesThatCannotFail({
      openTarget: async () => target,
      runSuite,
      clock: systemClock,
      random: seededRandom('search'),
      wrongs: wrongResponses,
      onWrong: (_, count) => left.push(count),
    });
    expect(found).toEqual({ cases: 3, cannotFail: ['audit-log/newest-comes-first'] });
    expect(left.slice(0, 3)).toEqual([2, 2, 1]);
  });
});
