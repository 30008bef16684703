import { describe, expect, it } from 'vitest';
import { deviceDeploymentStatuses, finalStatuses } from '../../fixtures/contract/vocabulary.ts';
import {
  type Candidate,
  decideNext,
  type NextRequest,
  pollDataText,
  type ServableDeviceDeployment,
} from './next-deployment.ts';

function requestOf(provides: Readonly<Record<string, string>> = {}, wantsControlMap = false) {
  const all = { device_type: 'board', artifact_name: 'old', ...provides };
  const { device_type: deviceType, artifact_name: artifactName } = all;
  return { deviceType, artifactName, provides: all, wantsControlMap } satisfies NextRequest;
}

const request = requestOf();
const waiting: ServableDeviceDeployment = {
  status: 'pending',
  deployment: { type: 'software', forceInstallation: false },
};
const bringingItsOwn = { type: 'configuration', forceInstallation: false } as const;

function artifact(id: string, fields: Partial<Candidate> = {}): Candidate {
  return { id, name: 'new', depends: { device_type: ['board'] }, sizeBytes: 10, ...fields };
}

describe('the artifact that a device gets', () => {
  it('is the smallest of those that match', () => {
    const candidates = [
      artifact('a', { sizeBytes: 30 }),
      artifact('b', { sizeBytes: 20 }),
      artifact('c', { sizeBytes: 1, depends: { device_type: ['other'] } }),
    ];
    expect(decideNext(waiting, request, candidates)).toEqual({
      decision: 'serve',
      artifactId: 'b',
    });
  });

  it.each<[string, Candidate['depends'], Readonly<Record<string, string>>]>([
    ['another device type', { device_type: ['other'] }, {}],
    ['a device type in other letters', { device_type: ['Board'] }, {}],
    ['a provide that the device does not name', { device_type: ['board'], checksum: ['1'] }, {}],
    ['a provide of another value', { device_type: ['board'], checksum: ['1'] }, { checksum: '2' }],
    ['one of two that is not met', { a: ['1'], b: ['1'] }, { a: '1', b: '2' }],
    ['a list that accepts nothing', { device_type: ['board'], a: [] }, { a: '' }],
    ['the name of a built-in', { toString: ['x'] }, {}],
    ['an artifact name', { artifact_name: ['older'] }, {}],
  ])('is none when a dependency is not met: %s', (_, depends, provides) => {
    const decided = decideNext(waiting, requestOf(provides), [artifact('a', { depends })]);
    expect(decided.decision).toBe('no-artifact');
  });

  it.each<[string, Candidate['depends'], Readonly<Record<string, string>>]>([
    ['one of several values', { device_type: ['a', 'board'] }, {}],
    ['a free-form pair', { device_type: ['board'], checksum: ['1', '2'] }, { checksum: '2' }],
    ['an artifact name', { artifact_name: ['old'] }, {}],
    ['no dependencies', {}, {}],
  ])('matches when every dependency is met: %s', (_, depends, provides) => {
    const decided = decideNext(waiting, requestOf(provides), [artifact('a', { depends })]);
    expect(decided.decision).toBe('serve');
  });

  it('is none when the deployment has no artifacts', () => {
    expect(decideNext(waiting, request, [])).toEqual({
      decision: 'no-artifact',
      unsuitableReason: { condition: 'artifact' },
    });
  });

  it('stays the first chosen one, even after a smaller one appears', () => {
    const deviceDeployment = { ...waiting, artifactId: 'a', pollData: pollDataText(request) };
    const candidates = [artifact('a'), artifact('b', { sizeBytes: 1 })];
    expect(decideNext(deviceDeployment, request, candidates)).toMatchObject({ artifactId: 'a' });
    expect(decideNext(deviceDeployment, request, [artifact('b')])).toMatchObject({
      artifactId: 'b',
    });
  });
});

describe('an artifact that the device already has', () => {
  const installed = requestOf({ artifact_name: 'new' });

  it('is not offered before the device has reported a status', () => {
    expect(decideNext(waiting, installed, [artifact('a')])).toEqual({
      decision: 'already-installed',
      artifactId: 'a',
    });
  });

  it('is offered when the installation is forced', () => {
    const forced = { ...waiting, deployment: { ...waiting.deployment, forceInstallation: true } };
    expect(decideNext(forced, installed, [artifact('a')]).decision).toBe('serve');
  });

  const started = deviceDeploymentStatuses.filter(
    (status) => status !== 'pending' && !finalStatuses.includes(status),
  );

  it.each(started)('is offered to a device in mid-update: %s', (status) => {
    const deviceDeployment = { ...waiting, status, pollData: pollDataText(installed) };
    expect(decideNext(deviceDeployment, installed, [artifact('a')]).decision).toBe('serve');
  });
});

describe('a request for the next deployment after an earlier offer', () => {
  const deviceDeployment = { ...waiting, pollData: pollDataText(request) };

  it('gets the same response if unchanged, whatever its order', () => {
    const { device_type, artifact_name } = request.provides;
    const turned = { ...request, provides: { artifact_name, device_type } };
    expect(decideNext(deviceDeployment, turned, [artifact('a')]).decision).toBe('serve');
  });

  it.each<[string, NextRequest]>([
    ['another artifact name', requestOf({ artifact_name: 'newer' })],
    ['another device type', requestOf({ device_type: 'other' })],
    ['one pair more', requestOf({ more: '' })],
    ['the request for a control map', requestOf({}, true)],
  ])('is a conflict if it has %s', (_, changed) => {
    expect(decideNext(deviceDeployment, changed, [artifact('a')])).toEqual({
      decision: 'conflict',
    });
    expect(
      decideNext({ ...deviceDeployment, deployment: bringingItsOwn }, changed, []).decision,
    ).toBe('conflict');
  });

  it('is distinguished from another with similar text', () => {
    expect(pollDataText(requestOf({ a: 'b","c' }))).not.toBe(
      pollDataText(requestOf({ a: 'b', c: '' })),
    );
  });
});

describe('a configuration deployment', () => {
  it('brings its own artifact for any device', () => {
    const deviceDeployment = { ...waiting, deployment: bringingItsOwn };
    expect(decideNext(deviceDeployment, request, [])).toEqual({ decision: 'serve' });
  });
});
