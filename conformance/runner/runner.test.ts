import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { MissingCapability } from '../adapters/missing-capability.ts';
import { ControlFailure } from '../context/control.ts';
import { requireResponse, StartStateNotReached } from '../context/start-states.ts';
import { AdminFailure } from '../context/target-admin.ts';
import type { TestContext } from '../context/test-context.ts';
import type { CaseVerdict } from '../result/result.ts';
import { defineScenario, type RunnableCase } from '../suite/case.ts';
import {
  ExpectationFailure,
  expectEqual,
  NotObservable,
  observationOf,
} from '../target/expectations.ts';
import { TransportFailure } from '../target/transport-failure.ts';
import { contextOn } from '../testing/context-on.ts';
import { serve } from '../testing/stub-server.ts';
import { reasonNotToRun, runCase } from './runner.ts';

const clock = new ManualClock(Date.UTC(2026, 0, 1));

interface Parts {
  readonly arrange?: (context: TestContext) => Promise<void>;
  readonly run?: () => Promise<void>;
  readonly requirement?: RequirementId;
}

function theOnly(cases: readonly RunnableCase[]): RunnableCase {
  const [onlyCase] = cases;
  if (!onlyCase) throw new Error('there is no case');
  return onlyCase;
}

function judging(parts: Parts): RunnableCase {
  const done = async (): Promise<void> => undefined;
  return theOnly(
    defineScenario({
      area: 'example',
      name: 'An example',
      start: 'nothing',
      effect: 'write',
      arrange: parts.arrange ?? done,
      cases: [
        {
          id: 'one',
          title: 'One case is run.',
          requirements: [parts.requirement ?? 'auth.rsa'],
          run: parts.run ?? done,
        },
      ],
    }),
  );
}

function observing(observe: () => Promise<{ text: string }>): RunnableCase {
  return theOnly(
    defineScenario({
      area: 'example',
      name: 'An example',
      start: 'nothing',
      effect: 'write',
      arrange: async () => undefined,
      cases: [
        {
          id: 'one',
          title: 'One case is run.',
          requirements: ['log.empty'],
          observe,
        },
      ],
    }),
  );
}

function playOn(
  testCase: RunnableCase,
  leftBehind: readonly string[] = [],
  baseUrl = 'http://127.0.0.1:9',
): Promise<CaseVerdict> {
  return runCase(testCase, {
    clock,
    caseTimeLimitMs: 1000,
    runStartedMs: 0,
    openContext: () => contextOn(baseUrl, clock),
    release: async () => leftBehind,
  });
}

describe('a case that judges', () => {
  it('passes when every expectation is met, without evidence', async () => {
    const verdict = await playOn(judging({}));
    expect(verdict).toMatchObject({ verdict: 'pass', id: 'example/one', level: 'must' });
    expect(verdict).not.toHaveProperty('exchanges');
  });

  it('names the violated requirements when the failure names them', async () => {
    const run = async () => {
      throw new ExpectationFailure('one', 'two', ['auth.rsa']);
    };
    expect(await playOn(judging({ run }))).toMatchObject({
      verdict: 'fail',
      violated: ['auth.rsa'],
    });
    const unnamed = judging({ run: async () => expectEqual('number', 1, 2) });
    expect(await playOn(unnamed)).not.toHaveProperty('violated');
  });

  it('fails with the expected and the actual value', async () => {
    const verdict = await playOn(judging({ run: async () => expectEqual('status', 204, 409) }));
    expect(verdict).toMatchObject({
      verdict: 'fail',
      expected: 'status 409',
      actual: 'status 204',
      exchanges: [],
    });
    expect(verdict.sentences[0]).toContain('RSA');
  });

  it.each([
    ['start-state-missed', new StartStateNotReached('a token', 'there was none')],
    ['connection-closed', new TransportFailure('connection-closed', 'closed')],
    ['user-failed', new AdminFailure('accept a device', '500')],
    ['control-failed', new ControlFailure('move the clock', '500')],
    ['not-observable', new NotObservable('the token tells nothing')],
  ])('is inconclusive with the reason %s', async (code, error) => {
    const verdict = await playOn(judging({ run: () => Promise.reject(error) }));
    expect(verdict).toMatchObject({ verdict: 'inconclusive', reason: { code } });
  });

  it.each([
    [404, 'fail', ['inventory.put-is-200']],
    [500, 'inconclusive', undefined],
  ])(
    'gets for status %i in place of a documented response the verdict %s',
    async (status, verdict, violated) => {
      const baseUrl = await serve((_, response) => response.writeHead(status).end());
      const each = judging({
        arrange: async (context) => {
          const response = await context.caller('a').call('put-attributes', { body: [] });
          requireResponse('put-attributes', response, 200);
        },
      });
      const found = await playOn(each, [], baseUrl);
      expect(found).toMatchObject({ verdict, exchanges: [{ response: { status } }] });
      expect(found.violated).toEqual(violated);
      expect(found.violations?.map(({ operation }) => operation)).toEqual(
        violated && ['put-attributes'],
      );
    },
  );

  it('is skipped when a step lacks its capability', async () => {
    const run = () => Promise.reject(new MissingCapability('user/configure', 'no hook'));
    const reason = { code: 'user/configure', text: 'no hook' };
    expect(await playOn(judging({ run }))).toMatchObject({ verdict: 'skip', reason });
  });

  it('is inconclusive when its start state is not reached', async () => {
    const arrange = async (): Promise<void> => expectEqual('status', 500, 200);
    const verdict = await playOn(judging({ arrange }));
    expect(verdict).toMatchObject({ reason: { code: 'start-state-missed' } });
    expect(verdict.verdict).toBe('inconclusive');
  });

  it('is an error of the suite when the suite throws', async () => {
    const run = () => Promise.reject(new TypeError('x is not a function'));
    const verdict = await playOn(judging({ run }));
    expect(verdict).toMatchObject({ verdict: 'error', reason: { code: 'suite-error' } });
    expect(verdict.reason?.text).not.toContain('\n');
  });

  it('is inconclusive at the time limit of a case', async () => {
    const playing = playOn(judging({ run: () => new Promise(() => clock.advance(1000)) }));
    expect(await playing).toMatchObject({
      verdict: 'inconclusive',
      reason: { code: 'case-time-limit' },
    });
  });

  it('names the resources that it could not remove, whatever the verdict', async () => {
    const verdict = await playOn(judging({}), ['device 7: no response']);
    expect(verdict).toMatchObject({ verdict: 'pass', leftBehind: ['device 7: no response'] });
  });

  it('cannot name a requirement that the contract leaves open', () => {
    expect(() => judging({ requirement: 'log.empty' })).toThrow('does not fit the level');
  });
});

describe('a case that observes', () => {
  it('reports its observation', async () => {
    const verdict = await playOn(observing(async () => observationOf('an empty list')));
    expect(verdict).toMatchObject({ verdict: 'observed', observation: 'an empty list' });
  });

  it('never fails, even when an expectation is not met', async () => {
    const verdict = await playOn(
      observing(async () => {
        expectEqual('status', 500, 200);
        return observationOf('nothing');
      }),
    );
    expect(verdict).toMatchObject({
      verdict: 'observed',
      observation: 'status 500, where status 200 is expected',
    });
  });
});

describe('the gate before a case', () => {
  const waiting = { ...judging({}), needs: ['fault-control', 'user'] as const };
  const none = new Set<never>();

  it('skips the case and names the missing capability', () => {
    expect(reasonNotToRun(waiting, { capabilities: none, disruptive: false })).toEqual({
      verdict: 'skip',
      reason: { code: 'fault-control', text: 'the target does not offer fault-control' },
    });
  });

  it('leaves the case inconclusive when the login failed', () => {
    const needy = { ...judging({}), needs: ['user'] as const };
    const conditions = { capabilities: none, disruptive: false, adminUnusable: 'no token' };
    expect(reasonNotToRun(needy, conditions)).toMatchObject({
      verdict: 'inconclusive',
      reason: { code: 'user-unusable', text: 'no token' },
    });
  });

  it('skips a disruptive case unless disruptive cases are requested', () => {
    const rough = { ...judging({}), effect: 'disruptive' as const };
    expect(reasonNotToRun(rough, { capabilities: none, disruptive: false })?.verdict).toBe('skip');
    expect(reasonNotToRun(rough, { capabilities: none, disruptive: true })).toBeUndefined();
  });
});
