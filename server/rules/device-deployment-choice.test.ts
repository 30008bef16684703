import { describe, expect, it } from 'vitest';
import { deviceDeploymentStatuses, finalStatuses } from '../../fixtures/contract/vocabulary.ts';
import {
  chooseDeviceDeployment,
  type DeviceDeploymentFacts,
  devicesByNow,
  type WithholdingCondition,
  withholdingCondition,
} from './device-deployment-choice.ts';

const nowMs = 100;
const context = { nowMs, lastFinishedSeq: 0 };
const unlessAborted = finalStatuses.filter((status) => status !== 'aborted');
const nonFinalStatuses = deviceDeploymentStatuses.filter(
  (status) => !finalStatuses.includes(status),
);

type Fields = Omit<Partial<DeviceDeploymentFacts>, 'deployment'> &
  Partial<DeviceDeploymentFacts['deployment']>;

/** Returns the second deployment, created at 10, which the device was not offered yet. */
function deviceDeployment({
  status = 'pending',
  offeredMs,
  retriesLeft = 0,
  offeredDevices = 0,
  ...deployment
}: Fields = {}): DeviceDeploymentFacts {
  return {
    status,
    offeredMs,
    retriesLeft,
    offeredDevices,
    deployment: { seq: 2, createdMs: 10, ...deployment },
  };
}

const phases = [
  { batchSize: 40, startMs: 90, devicesUntil: 2 },
  { batchSize: 60, startMs: 200, devicesUntil: 5 },
];

describe('the withholding condition', () => {
  it.each<[string, Fields, WithholdingCondition | undefined]>([
    ['not offered yet', {}, undefined],
    ['made at this moment', { createdMs: nowMs }, undefined],
    ['made for later', { createdMs: nowMs + 1 }, 'start'],
    ['with room in its phase', { phases, offeredDevices: 1 }, undefined],
    ['whose phase is full', { phases, offeredDevices: 2 }, 'phase'],
    ['whose phases begin later', { phases: phases.slice(1) }, 'phase'],
    ['below its limit', { maxDevices: 2, offeredDevices: 1 }, undefined],
    ['at its limit', { maxDevices: 2, offeredDevices: 2 }, 'max-devices'],
    ['at both limits', { phases, maxDevices: 2, offeredDevices: 2 }, 'phase'],
    ['of a finished deployment', { finishedMs: 50 }, 'deployment-finished'],
    [
      'of a finished deployment that was made for later',
      { finishedMs: 50, createdMs: nowMs + 1 },
      'deployment-finished',
    ],
    [
      'offered before the limits were reached',
      { offeredMs: 20, maxDevices: 1, offeredDevices: 9 },
      undefined,
    ],
    ['offered, of a finished deployment', { offeredMs: 20, finishedMs: 50 }, undefined],
    ['failed with a retry', { status: 'failure', retriesLeft: 1, offeredMs: 20 }, undefined],
    [
      'failed with a retry, of a finished deployment',
      { status: 'failure', retriesLeft: 1, finishedMs: 50 },
      undefined,
    ],
    ['aborted', { status: 'aborted' }, 'aborted'],
    ['aborted with a retry', { status: 'aborted', retriesLeft: 1 }, 'aborted'],
  ])('is as expected for a device deployment %s', (_, fields, expected) => {
    expect(withholdingCondition(deviceDeployment(fields), context)).toBe(expected);
  });

  it.each(unlessAborted)(
    'is device-finished for a device deployment with the status %s',
    (status) => {
      expect(withholdingCondition(deviceDeployment({ status, offeredMs: 20 }), context)).toBe(
        'device-finished',
      );
    },
  );

  it.each(nonFinalStatuses)('never withholds an offered device deployment that is %s', (status) => {
    expect(
      withholdingCondition(deviceDeployment({ status, offeredMs: 20 }), context),
    ).toBeUndefined();
  });

  it.each([
    [1, undefined],
    [2, 'older'],
    [3, 'older'],
  ])(
    'decides on deployment 2 after the device finished number %i: %s',
    (lastFinishedSeq, expected) => {
      expect(withholdingCondition(deviceDeployment(), { nowMs, lastFinishedSeq })).toBe(expected);
      const started = deviceDeployment({ offeredMs: 20 });
      expect(withholdingCondition(started, { nowMs, lastFinishedSeq })).toBeUndefined();
    },
  );
});

describe('the number of devices that phases admit', () => {
  it.each([
    [89, 0],
    [90, 2],
    [199, 2],
    [200, 5],
  ])('is at the time %i the number %i', (atMs, expected) => {
    expect(devicesByNow({ seq: 1, createdMs: 0, phases }, atMs)).toBe(expected);
  });

  it('is unlimited without phases', () => {
    expect(devicesByNow({ seq: 1, createdMs: 0 }, 0)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the choice among several device deployments', () => {
  const finished = deviceDeployment({ status: 'success', offeredMs: 20, seq: 1 });
  const inProgress = deviceDeployment({ status: 'installing', offeredMs: 20, seq: 5 });
  const failed = deviceDeployment({ status: 'failure', retriesLeft: 1, offeredMs: 20, seq: 4 });
  const unoffered = deviceDeployment({ seq: 3 });
  const createdLater = deviceDeployment({ createdMs: nowMs + 1 });
  const full = deviceDeployment({ maxDevices: 1, offeredDevices: 1, seq: 6 });

  it.each([
    [
      'the one in progress, however new',
      [finished, createdLater, unoffered, failed, inProgress],
      'continue',
      inProgress,
    ],
    [
      'else the one to be tried again',
      [finished, createdLater, unoffered, failed],
      'retry',
      failed,
    ],
    [
      'else the oldest that may begin',
      [finished, createdLater, unoffered, deviceDeployment({ seq: 9 })],
      'offer',
      unoffered,
    ],
    ['else the oldest that has to wait', [finished, createdLater, full], 'wait', createdLater],
  ] as const)('is %s', (_, deviceDeployments, decision, expected) => {
    expect(chooseDeviceDeployment(deviceDeployments, context)).toMatchObject({
      decision,
      deviceDeployment: expected,
    });
  });

  it('is none when all are finished', () => {
    expect(chooseDeviceDeployment([finished], context)).toEqual({ decision: 'nothing' });
    expect(chooseDeviceDeployment([], context)).toEqual({ decision: 'nothing' });
  });
});
