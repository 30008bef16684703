import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  deviceDeploymentStatuses,
  finalStatuses,
  reportableStatuses,
} from '../../fixtures/contract/vocabulary.ts';
import { noDeployment } from '../rules/no-update.ts';
import { choiceFor } from '../testing/choice.ts';
import { recordOffer, recordReport, recordStatus } from '../testing/device-deployment-steps.ts';
import type { StoredDeployment } from './deployments.ts';
import type { StoredDeviceDeployment } from './device-deployment-rows.ts';
import type { DeviceDeploymentStore } from './device-deployments.ts';
import { openStore, type Store } from './store.ts';

let store: Store;
let deviceDeployments: DeviceDeploymentStore;

beforeEach(async () => {
  store = await openStore();
  deviceDeployments = store.deviceDeployments;
});

afterEach(() => store.close());

const pollFacts = { pollData: 'r', artifactId: 'art', nowMs: 20 };
const running = reportableStatuses.filter((status) => !finalStatuses.includes(status));
const finals = reportableStatuses.filter((status) => finalStatuses.includes(status));
const allRows = { page: 1, perPage: 500 };

function create(id: string, ...deviceIds: readonly string[]): StoredDeployment {
  store.deployments.create({
    id,
    type: 'software',
    name: id,
    artifactName: 'release',
    deviceIds,
    deviceDigest: deviceIds.join(),
    forceInstallation: false,
    nowMs: 10,
  });
  return deploymentOf(id);
}

function deploymentOf(id: string): StoredDeployment {
  const deployment = store.deployments.find(id);
  if (!deployment) throw new Error(`no deployment ${id}`);
  return deployment;
}

function deviceDeploymentOf(id: string, deviceId = 'a'): StoredDeviceDeployment {
  const deviceDeployment = deviceDeployments.find(id, deviceId);
  if (!deviceDeployment) throw new Error(`${deviceId} has no device deployment in ${id}`);
  return deviceDeployment;
}

function offer(id: string, deviceId = 'a'): StoredDeviceDeployment {
  return recordOffer(deviceDeployments, deviceDeploymentOf(id, deviceId), pollFacts);
}

function report(
  id: string,
  status: (typeof reportableStatuses)[number],
  nowMs = 30,
): StoredDeviceDeployment {
  return recordReport(deviceDeployments, deviceDeploymentOf(id), { status, nowMs });
}

describe('a stored device deployment', () => {
  it('starts as pending without any later fields', () => {
    const deployment = create('one', 'a');
    expect(deviceDeploymentOf('one')).toEqual({
      deployment,
      deviceId: 'a',
      status: 'pending',
      attempts: 0,
      retriesLeft: 0,
      hasLog: false,
    });
  });

  it('exists only for devices of the deployment', () => {
    create('one', 'a');
    expect(deviceDeployments.find('one', 'b')).toBeUndefined();
    expect(deviceDeployments.find('two', 'a')).toBeUndefined();
  });

  it('counts as offered only after an offer', () => {
    create('one', 'a');
    expect(deviceDeployments.findOffered('one', 'a')).toBeUndefined();
    offer('one');
    expect(deviceDeployments.findOffered('one', 'a')).toMatchObject({
      pollData: 'r',
      artifactId: 'art',
      offeredMs: 20,
    });
  });

  it('keeps the time of its first offer', () => {
    create('one', 'a');
    recordOffer(deviceDeployments, offer('one'), { pollData: 'r2', nowMs: 99 });
    expect(deviceDeploymentOf('one')).toMatchObject({ pollData: 'r2', offeredMs: 20 });
    expect(deviceDeploymentOf('one').artifactId).toBeUndefined();
  });
});

describe('the device deployment chosen for a device', () => {
  it('begins before an offer and goes on afterwards', () => {
    create('one', 'a');
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['offer', 'one']);
    offer('one');
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['continue', 'one']);
  });

  it('is the oldest of the waiting, or of those in progress', () => {
    for (const id of ['one', 'two', 'three']) create(id, 'a');
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['offer', 'one']);
    for (const id of ['three', 'two']) offer(id);
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['continue', 'two']);
  });

  it.each(running)('goes on while it is %s', (status) => {
    create('one', 'a');
    offer('one');
    report('one', status);
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['continue', 'one']);
  });

  it.each(finals)('is none once its status is %s', (status) => {
    create('one', 'a');
    offer('one');
    report('one', status);
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['nothing']);
  });

  it('is never older than the last one that the device finished', () => {
    for (const id of ['one', 'two', 'three']) create(id, 'a');
    offer('two');
    report('two', 'failure');
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['offer', 'three']);
    offer('three');
    report('three', 'success');
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['nothing']);
  });

  it('is unaffected by another that was aborted before an offer', () => {
    create('one', 'a');
    const second = create('two', 'a');
    deviceDeployments.abortAll(second, 15);
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['offer', 'one']);
  });

  it('is none for a device without device deployments', () => {
    create('one', 'a');
    expect(choiceFor(deviceDeployments, 'b')).toEqual(['nothing']);
  });

  it('is remembered as none with its reason until deployments change', () => {
    expect(deviceDeployments.cachedNoUpdate('a')).toBe(noDeployment);
    create('one', 'a', 'b');
    const why = {
      condition: 'device-finished',
      isUpToDate: true,
      reason: 'it has finished',
    } as const;
    deviceDeployments.cacheNoUpdate('b', why);
    expect([deviceDeployments.cachedNoUpdate('a'), deviceDeployments.cachedNoUpdate('b')]).toEqual([
      undefined,
      why,
    ]);
    deviceDeployments.stopAllOfDevice('b', 'aborted', 20);
    expect(deviceDeployments.cachedNoUpdate('b')).toBeUndefined();
    deviceDeployments.stopAllOfDevice('b', 'decommissioned', 20);
    expect(deviceDeployments.cachedNoUpdate('b')).toBe(noDeployment);
  });
});

describe('a stored report of a device', () => {
  it.each(reportableStatuses)(
    'sets the status, the start time and, if final, the finish time: %s',
    (status) => {
      create('one', 'a');
      offer('one');
      const deviceDeployment = report('one', status);
      expect(deviceDeployment).toMatchObject({ status, startedMs: 30 });
      expect(deviceDeployment.finishedMs).toBe(finalStatuses.includes(status) ? 30 : undefined);
      expect(deploymentOf('one').finishedMs).toBe(deviceDeployment.finishedMs);
    },
  );

  it('keeps the first start time', () => {
    create('one', 'a');
    report('one', 'downloading', 30);
    expect(report('one', 'installing', 40)).toMatchObject({ startedMs: 30 });
  });

  it('reopens a finished device deployment and its deployment', () => {
    create('one', 'a');
    offer('one');
    report('one', 'failure');
    deviceDeployments.cacheNoUpdate('a', noDeployment);
    expect(report('one', 'installing').finishedMs).toBeUndefined();
    expect(deploymentOf('one')).not.toHaveProperty('finishedMs');
    expect(deviceDeployments.cachedNoUpdate('a')).toBeUndefined();
  });

  it.each([undefined, ''])('keeps the former substate when it has none: %j', (substate) => {
    create('one', 'a');
    recordReport(deviceDeployments, deviceDeploymentOf('one'), {
      status: 'installing',
      substate: 'step 1',
      nowMs: 30,
    });
    recordReport(deviceDeployments, deviceDeploymentOf('one'), {
      status: 'rebooting',
      substate,
      nowMs: 40,
    });
    expect(deviceDeploymentOf('one')).toMatchObject({ status: 'rebooting', substate: 'step 1' });
  });

  it('does not affect other devices or deployments', () => {
    create('one', 'a', 'b');
    create('two', 'a');
    report('one', 'success');
    expect([deviceDeploymentOf('one', 'b').status, deviceDeploymentOf('two').status]).toEqual([
      'pending',
      'pending',
    ]);
    expect(deploymentOf('one')).not.toHaveProperty('finishedMs');
  });
});

describe('the log of a device deployment', () => {
  it('is absent at first and then the last one saved', () => {
    create('one', 'a', 'b');
    expect(deviceDeployments.findLog('one', 'a')).toBeUndefined();
    deviceDeployments.saveLog(deviceDeploymentOf('one'), 'first');
    deviceDeployments.saveLog(deviceDeploymentOf('one'), 'second');
    expect(deviceDeployments.findLog('one', 'a')).toBe('second');
    expect([deviceDeploymentOf('one').hasLog, deviceDeploymentOf('one', 'b').hasLog]).toEqual([
      true,
      false,
    ]);
    expect(deviceDeployments.findLog('one', 'b')).toBeUndefined();
    expect(deviceDeployments.findLog('two', 'a')).toBeUndefined();
  });
});

describe('a final status that the server or a user sets', () => {
  it.each(finalStatuses)('finishes one device deployment like a report: %s', (status) => {
    create('one', 'a', 'b');
    recordStatus(deviceDeployments, deviceDeploymentOf('one'), { status, nowMs: 50 });
    expect(deviceDeploymentOf('one')).toMatchObject({ status, finishedMs: 50 });
    expect(deploymentOf('one')).not.toHaveProperty('finishedMs');
    recordStatus(deviceDeployments, deviceDeploymentOf('one', 'b'), { status, nowMs: 60 });
    expect(deploymentOf('one').finishedMs).toBe(60);
  });

  it('aborts only the unfinished device deployments of a deployment', () => {
    const deployment = create('one', 'a', 'b', 'c');
    create('two', 'a');
    report('one', 'success');
    recordReport(deviceDeployments, deviceDeploymentOf('one', 'b'), {
      status: 'installing',
      nowMs: 30,
    });
    deviceDeployments.abortAll(deployment, 50);
    const statuses = ['a', 'b', 'c'].map((id) => deviceDeploymentOf('one', id).status);
    expect(statuses).toEqual(['success', 'aborted', 'aborted']);
    expect(deviceDeploymentOf('two').status).toBe('pending');
    expect(deploymentOf('one').finishedMs).toBe(50);
  });

  it.each(['aborted', 'decommissioned'] as const)(
    'keeps for a whole device finished device deployments and other devices: %s',
    (status) => {
      create('one', 'a');
      create('two', 'a', 'b');
      report('one', 'failure');
      deviceDeployments.stopAllOfDevice('a', status, 50);
      expect([deviceDeploymentOf('one').status, deviceDeploymentOf('two').status]).toEqual([
        'failure',
        status,
      ]);
      expect(deviceDeploymentOf('two', 'b').status).toBe('pending');
      expect(deploymentOf('two')).not.toHaveProperty('finishedMs');
    },
  );
});

describe('the device deployments of a deployment', () => {
  it('can be counted by status', () => {
    const deployment = create('one', 'a', 'b', 'c');
    create('two', 'a');
    report('one', 'success');
    expect(deviceDeployments.statistics(deployment)).toEqual(
      new Map([
        ['pending', 2],
        ['success', 1],
      ]),
    );
  });

  it('can be listed by status or status group', () => {
    const deployment = create('all', ...deviceDeploymentStatuses);
    for (const status of deviceDeploymentStatuses) {
      recordStatus(deviceDeployments, deviceDeploymentOf('all', status), { status, nowMs: 30 });
    }
    const listed = (status?: string): readonly string[] =>
      deviceDeployments.list(deployment, { status }, allRows).map(({ deviceId }) => deviceId);
    const without = (statuses: readonly string[]): readonly string[] =>
      deviceDeploymentStatuses.filter((status) => !statuses.includes(status)).toSorted();
    expect(listed()).toEqual(deviceDeploymentStatuses.toSorted());
    expect(listed('success')).toEqual(['success']);
    expect(listed('finished')).toEqual(finalStatuses.toSorted());
    expect(listed('active')).toEqual(without(finalStatuses));
    expect(listed('pause')).toEqual(listed().filter((status) => status.startsWith('pause_')));
    expect(listed('unheard-of')).toEqual([]);
    expect(deviceDeployments.count(deployment, { status: 'pause' })).toBe(3);
    expect(deviceDeployments.count(deployment, {})).toBe(deviceDeploymentStatuses.length);
  });

  it('can be limited to the groups of their devices', () => {
    const deployment = create('one', 'a', 'b', 'c');
    store.groups.assign('a', 'north');
    store.groups.assign('b', 'south');
    const inside = (...groups: readonly string[]): readonly unknown[] => [
      deviceDeployments.list(deployment, { groups }, allRows).map(({ deviceId }) => deviceId),
      deviceDeployments.count(deployment, { groups }),
      deviceDeployments.deviceIds(deployment, { groups }),
    ];
    expect(inside('north', 'west')).toEqual([['a'], 1, ['a']]);
    expect(inside('north', 'south')).toEqual([['a', 'b'], 2, ['a', 'b']]);
    expect(inside()).toEqual([[], 0, []]);
    expect(deviceDeployments.deviceIds(deployment, {})).toEqual(['a', 'b', 'c']);
    expect(store.deployments.reach(deployment, ['north', 'south'])).toEqual({
      inside: 2,
      outside: 1,
    });
  });

  it('are returned in pages', () => {
    const deployment = create('one', 'c', 'a', 'b');
    const page = deviceDeployments.list(deployment, {}, { page: 2, perPage: 2 });
    expect(page.map(({ deviceId }) => deviceId)).toEqual(['c']);
    expect(deviceDeployments.list(deployment, {}, { page: 3, perPage: 2 })).toEqual([]);
  });
});
