import { describe, expect, it } from 'vitest';
import { applyOffer, applyReport } from './device-deployment.ts';
import { decideInstruction, type InstructedDeviceDeployment } from './instruction.ts';
import { type Candidate, type NextRequest, pollDataText } from './next-deployment.ts';

const request: NextRequest = {
  deviceType: 'board',
  artifactName: 'old',
  provides: { device_type: 'board', artifact_name: 'old' },
  wantsControlMap: false,
};
const artifact: Candidate = {
  id: 'art',
  name: 'new',
  depends: { device_type: ['board'] },
  sizeBytes: 10,
};
const installed = { ...request, artifactName: 'new' };
const nowMs = 100;

function deviceDeployment(
  fields: Partial<InstructedDeviceDeployment> = {},
): InstructedDeviceDeployment {
  return {
    status: 'pending',
    attempts: 0,
    retriesLeft: 0,
    offeredDevices: 0,
    deployment: {
      id: 'one',
      name: 'spring',
      artifactName: 'new',
      deviceCount: 1,
      seq: 1,
      createdMs: 10,
      type: 'software',
      forceInstallation: false,
    },
    ...fields,
  };
}

const offer = { pollData: pollDataText(request), artifactId: 'art', nowMs: 20 };
const served = applyOffer(deviceDeployment(), offer);

function instructedAfter(
  status: 'downloading' | 'failure' | 'success',
  retriesLeft = 0,
): InstructedDeviceDeployment {
  const changed = applyReport({ ...served, retriesLeft }, { status }, 30);
  if ('reason' in changed) throw new Error(changed.reason);
  return changed;
}

function decide(
  deviceDeployments: readonly InstructedDeviceDeployment[],
  {
    changedRequest = request,
    candidates = [artifact],
  }: { changedRequest?: NextRequest; candidates?: Candidate[] } = {},
) {
  const candidatesOf = () => candidates;
  const newest = () => deviceDeployments.at(-1);
  const open = { deviceDeployments, lastFinishedSeq: 0, nowMs, newest };
  return decideInstruction({ ...open, request: changedRequest, candidatesOf });
}

describe('a device that gets an update', () => {
  it('begins an attempt, which must be recorded', () => {
    const started = deviceDeployment();
    expect(decide([started])).toEqual({
      decision: 'serve',
      deviceDeployment: started,
      artifactId: 'art',
      startsAttempt: true,
      changed: applyOffer(started, { ...offer, nowMs }),
    });
  });

  it.each([
    ['before its first report', served],
    ['in the middle of the update', instructedAfter('downloading')],
  ])('gets the same update again %s, without a new record', (_, instructed) => {
    expect(decide([instructed])).toEqual({
      decision: 'serve',
      deviceDeployment: instructed,
      artifactId: 'art',
      startsAttempt: false,
      changed: undefined,
    });
  });

  it('gets another artifact within the attempt when the first is gone', () => {
    const decided = decide([served], { candidates: [{ ...artifact, id: 'other' }] });
    expect(decided).toMatchObject({
      decision: 'serve',
      artifactId: 'other',
      startsAttempt: false,
      changed: { artifactId: 'other', attempts: 1, offeredMs: 20 },
    });
  });

  it('retries after a failure, whatever it was offered before', () => {
    const changedRequest = { ...request, provides: { ...request.provides, more: '1' } };
    expect(decide([instructedAfter('failure', 1)], { changedRequest })).toMatchObject({
      decision: 'serve',
      startsAttempt: true,
      changed: {
        status: 'pending',
        attempts: 2,
        retriesLeft: 0,
        pollData: pollDataText(changedRequest),
      },
    });
  });

  it('gets a configuration without an artifact', () => {
    const { deployment } = deviceDeployment();
    const own = deviceDeployment({ deployment: { ...deployment, type: 'configuration' } });
    expect(decide([own], { candidates: [] })).toMatchObject({
      decision: 'serve',
      artifactId: undefined,
      changed: { artifactId: undefined, attempts: 1 },
    });
  });
});

describe('a device that finishes a deployment by its poll', () => {
  it.each([
    ['there is no artifact', request, [], 'artifact', 'noartifact'],
    [
      'none is of its type',
      request,
      [{ ...artifact, depends: { device_type: ['other'] } }],
      'device-type',
      'noartifact',
    ],
    [
      'it does not meet what one depends on',
      request,
      [{ ...artifact, depends: { checksum: ['1'] } }],
      'depends',
      'noartifact',
    ],
    ['it has the artifact', installed, [artifact], 'already-installed', 'already-installed'],
  ] as const)('has the reason: %s', (_, changedRequest, candidates, condition, status) => {
    expect(
      decide([deviceDeployment()], { changedRequest, candidates: [...candidates] }),
    ).toMatchObject({
      decision: 'finish',
      noUpdate: { condition, deploymentId: 'one', isUpToDate: condition === 'already-installed' },
      changed: { status, attempts: 1, offeredMs: nowMs, startedMs: nowMs, finishedMs: nowMs },
    });
  });

  it('has a conflict because it reports other data than before', () => {
    const changedRequest = { ...request, wantsControlMap: true };
    expect(decide([instructedAfter('downloading')], { changedRequest })).toMatchObject({
      decision: 'conflict',
      changed: { status: 'failure', pollData: offer.pollData, finishedMs: nowMs },
    });
  });
});

describe('a device that gets no update', () => {
  it.each([
    [
      'start',
      deviceDeployment({ deployment: { ...deviceDeployment().deployment, createdMs: nowMs + 1 } }),
    ],
    ['phase', deviceDeployment({ deployment: { ...deviceDeployment().deployment, phases: [] } })],
    [
      'max-devices',
      deviceDeployment({
        offeredDevices: 1,
        deployment: { ...deviceDeployment().deployment, maxDevices: 1 },
      }),
    ],
  ])('waits by the condition %s, without a new record', (condition, waiting) => {
    const noUpdate = { condition, deploymentId: 'one', isUpToDate: false };
    expect(decide([waiting])).toMatchObject({
      decision: 'wait',
      deviceDeployment: waiting,
      noUpdate,
    });
  });

  it.each([
    ['none', [], 'deployment', false],
    ['one that succeeded', [instructedAfter('success')], 'device-finished', true],
    ['one that failed for the last time', [instructedAfter('failure')], 'device-finished', false],
    ['one that was aborted', [deviceDeployment({ status: 'aborted' })], 'aborted', false],
    [
      'one that was finished without it',
      [deviceDeployment({ deployment: { ...deviceDeployment().deployment, finishedMs: 50 } })],
      'deployment-finished',
      false,
    ],
  ] as const)(
    'has no open deployment; its newest one is: %s',
    (_, deviceDeployments, condition, isUpToDate) => {
      const noUpdate = { condition, isUpToDate };
      expect(decide(deviceDeployments)).toMatchObject({ decision: 'nothing', noUpdate });
    },
  );
});
