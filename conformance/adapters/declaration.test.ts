import { describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { Target } from '../target/target.ts';
import { closedPortUrl, serve } from '../testing/stub-server.ts';
import { compareCapability, readDeclaration } from './declaration.ts';
import { type ProbeResult, probePart } from './probe.ts';

const found = (state: ProbeResult['found']): ProbeResult => ({
  found: state,
  evidence: 'what was seen',
  exchanges: [],
});

describe('the comparison of a declared capability with its probe', () => {
  it.each([
    ['undeclared and there', {}, 'offered', true, undefined],
    ['undeclared and missing', {}, 'missing', false, undefined],
    ['undeclared and unknown', {}, 'unknown', true, undefined],
    ['declared and there', { with: ['monitor'] }, 'offered', true, undefined],
    ['declared and missing', { with: ['monitor'] }, 'missing', true, 'fail'],
    ['declared and unknown', { with: ['monitor'] }, 'unknown', true, undefined],
    ['denied and there', { without: ['monitor'] }, 'offered', false, 'observed'],
    ['denied and missing', { without: ['monitor'] }, 'missing', false, undefined],
    ['denied and unknown', { without: ['monitor'] }, 'unknown', false, undefined],
  ] as const)(
    'decides about a capability that is %s',
    (_, declaration, state, isOffered, verdict) => {
      const finding = compareCapability('monitor', declaration, found(state));
      expect(finding.isOffered).toBe(isOffered);
      expect(finding.verdict?.verdict).toBe(verdict);
      expect(finding.row.contradiction !== undefined).toBe(verdict !== undefined);
    },
  );

  it('ignores declarations about other capabilities', () => {
    const declaration = { with: ['connect'], without: ['inventory'] } as const;
    const { row } = compareCapability('monitor', declaration, found('offered'));
    expect(row.declared).toBe('undeclared');
  });
});

describe('a capability declaration file', () => {
  it('lists the capabilities that the target has and those that it lacks', () => {
    expect(readDeclaration('with: [monitor]\nwithout: [audit-log, connect]')).toEqual({
      with: ['monitor'],
      without: ['audit-log', 'connect'],
    });
  });

  it.each([
    ['nothing', '', 'line 1: must be an object, not null'],
    ['a string', 'with: monitor', 'with: must be a list'],
    ['an unknown name', 'with: [flight]', 'with.0: must be capabilities'],
    ['another member', 'maybe: [monitor]', 'maybe'],
    ['no YAML', 'with: [', 'Flow sequence'],
  ])('is refused with %s', (_, text, message) => {
    expect(() => readDeclaration(text)).toThrow(message);
  });
});

describe('a capability probe', () => {
  async function probed(statuses: readonly number[]): Promise<ProbeResult> {
    const waiting = [...statuses];
    const baseUrl = await serve((request, response) => {
      request.resume();
      response.writeHead(waiting.shift() ?? 200).end();
    });
    return onTarget(baseUrl);
  }

  async function onTarget(baseUrl: string): Promise<ProbeResult> {
    const target = new Target({ baseUrl, clock: systemClock, requestTimeLimitMs: 5000 });
    try {
      return await probePart('monitor', target.newClient());
    } finally {
      await target.close();
    }
  }

  it.each([
    [[404, 404], 'missing'],
    [[405, 501], 'missing'],
    [[404, 401], 'offered'],
    [[400, 404], 'offered'],
    [[401, 401], 'offered'],
    [[500, 500], 'offered'],
  ])('reports for the statuses %j the part as %s', async (statuses, state) => {
    expect((await probed(statuses)).found).toBe(state);
  });

  it('reports the answered statuses and keeps the exchanges', async () => {
    const { evidence, exchanges } = await probed([404, 405]);
    expect(evidence).toBe(
      'post-alerts was answered with 404, post-monitor-configuration was answered with 405',
    );
    expect(exchanges.map(({ response }) => response?.status)).toEqual([404, 405]);
  });

  it('reports the part as unknown when no response comes', async () => {
    expect(await onTarget(await closedPortUrl())).toMatchObject({
      found: 'unknown',
      evidence: expect.stringContaining('no response'),
    });
  });
});
