import { describe, expect, it } from 'vitest';
import type { FleetResult } from '../../simulator/engine/simulate-fleet.ts';
import {
  type ErrorContext,
  ResponseError,
  StatusError,
  TimeoutError,
} from '../../simulator/network/errors.ts';
import { sampleResult } from '../../simulator/testing/sample-result.ts';
import { exitCodes } from './exit-codes.ts';
import { fleetError, fleetExitCode } from './fleet-outcome.ts';

const { funnel } = sampleResult;
const [operation] = sampleResult.operations;
const refused = operation
  ? [{ ...operation, operation: 'post-auth-request', responses: { '4xx': 9 } }]
  : [];
const pending = { ...funnel, success: 0, failure: 0, aborted: 0, pending: 3 };
const thresholdWith = (verdict: 'met' | 'missed' | 'inconclusive') => {
  return { threshold: 'errors = 0', verdict, observed: '0 of 9 requests' };
};

describe('the exit code of a fleet run', () => {
  it.each<[string, Partial<FleetResult>, number]>([
    ['0 if the run passed', {}, 0],
    ['1 if a threshold is missed', { thresholds: [thresholdWith('missed')] }, 1],
    ['4 if a threshold could not be judged', { thresholds: [thresholdWith('inconclusive')] }, 4],
    ['5 if the generator was at its limit', { validity: 'invalid' }, 5],
    [
      '5 if the generator was at its limit, though a threshold was missed',
      { validity: 'invalid', thresholds: [thresholdWith('missed')] },
      5,
    ],
    ['6 if no device was accepted', { funnel: pending, operations: refused }, 6],
    ['7 if a shard was lost', { spread: { takeovers: [], lost: [{ shard: 0, reason: '' }] } }, 7],
    ['130 if the run was interrupted', { ended: 'interrupted' }, 130],
  ])('is %s', (_what, change, exitCode) => {
    expect(fleetExitCode({ ...sampleResult, ...change })).toBe(exitCode);
  });

  it('has a different number for each meaning', () => {
    expect(new Set(Object.values(exitCodes)).size).toBe(Object.keys(exitCodes).length);
  });
});

describe('the error of a server that a fleet cannot use', () => {
  const contextOf = (operation: string): ErrorContext => ({
    operation,
    caller: 'fleet',
    elapsedMs: 1,
  });

  it.each<[Error, string]>([
    [
      new ResponseError(
        'other-server',
        'the server answered with 200; check --url',
        contextOf('reach-server'),
      ),
      'the server answered with 200; check --url',
    ],
    [
      new TimeoutError(5000, contextOf('reach-server')),
      'no complete response within 5000 ms; check --url and that the server is running',
    ],
    [
      new StatusError({ status: 404 }, contextOf('login')),
      'login: the server answered with 404; check --url and that the server is running',
    ],
    [
      new StatusError({ status: 401, serverSays: 'token expired' }, contextOf('list-devices')),
      'list-devices: the server answered with 401: token expired; check --url and that the server is running',
    ],
  ])('begins with its address and ends with the remedy: %s', (error, sentence) => {
    const baseUrl = 'http://h';
    expect(
      fleetError(error, { baseUrl, acceptWith: { email: 'a@b', password: 'c' } }),
    ).toMatchObject({
      message: `${baseUrl}: ${sentence}`,
      exitCode: exitCodes.setUp,
    });
  });
});
