import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  deviceDeploymentStatuses,
  finalStatuses,
  reportableStatuses,
} from '../../fixtures/contract/vocabulary.ts';
import { noDeployment } from '../rules/no-update.ts';
import { choiceFor } from '../testing/choice.ts';
import { recordOffer, recordReport, recordStatus } from '../testing/part-steps.ts';
import type { DeploymentDeviceStore } from './deployment-devices.ts';
import type { StoredDeployment } from './deployments.ts';
import type { StoredPart } from './part-rows.ts';
import { openStore, type Store } from './store.ts';

let store: Store;
let parts: DeploymentDeviceStore;

beforeEach(async () => {
  store = await openStore();
  parts = store.parts;
});

afterEach(() => store.close());

const offer = { request: 'r', artifactId: 'art', nowMs: 20 };
const running = reportableStatuses.filter((status) => !finalStatuses.includes(status));
const finals = reportableStatuses.filter((status) => finalStatuses.includes(status));
const wide = { page: 1, perPage: 500 };

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

function partOf(id: string, deviceId = 'a'): StoredPart {
  const part = parts.find(id, deviceId);
  if (!part) throw new Error(`${deviceId} has no part in ${id}`);
  return part;
}

function offered(id: string, deviceId = 'a'): StoredPart {
  return recordOffer(parts, partOf(id, deviceId), offer);
}

function report(id: string, status: (typeof reportableStatuses)[number], nowMs = 30): StoredPart {
  return recordReport(parts, partOf(id), { status, nowMs });
}

describe('a part', () => {
  it('begins as pending, without anything that happens later', () => {
    const deployment = create('one', 'a');
    expect(partOf('one')).toEqual({
      deployment,
      deviceId: 'a',
      status: 'pending',
      attempts: 0,
      retriesLeft: 0,
      hasLog: false,
    });
  });

  it('is there for the devices of the deployment only', () => {
    create('one', 'a');
    expect(parts.find('one', 'b')).toBeUndefined();
    expect(parts.find('two', 'a')).toBeUndefined();
  });

  it('counts as offered only once it was offered', () => {
    create('one', 'a');
    expect(parts.findOffered('one', 'a')).toBeUndefined();
    offered('one');
    expect(parts.findOffered('one', 'a')).toMatchObject({
      request: 'r',
      artifactId: 'art',
      offeredMs: 20,
    });
  });

  it('keeps the time of its first offer', () => {
    create('one', 'a');
    recordOffer(parts, offered('one'), { request: 'r2', nowMs: 99 });
    expect(partOf('one')).toMatchObject({ request: 'r2', offeredMs: 20 });
    expect(partOf('one').artifactId).toBeUndefined();
  });
});

describe('the part to be served', () => {
  it('begins before it is offered, goes on after that', () => {
    create('one', 'a');
    expect(choiceFor(parts, 'a')).toEqual(['begin', 'one']);
    offered('one');
    expect(choiceFor(parts, 'a')).toEqual(['go-on', 'one']);
  });

  it('is the oldest, of those that wait and of those that are active', () => {
    for (const id of ['one', 'two', 'three']) create(id, 'a');
    expect(choiceFor(parts, 'a')).toEqual(['begin', 'one']);
    for (const id of ['three', 'two']) offered(id);
    expect(choiceFor(parts, 'a')).toEqual(['go-on', 'two']);
  });

  it.each(running)('still goes on when it is %s', (status) => {
    create('one', 'a');
    offered('one');
    report('one', status);
    expect(choiceFor(parts, 'a')).toEqual(['go-on', 'one']);
  });

  it.each(finals)('is none when it ended in %s', (status) => {
    create('one', 'a');
    offered('one');
    report('one', status);
    expect(choiceFor(parts, 'a')).toEqual(['nothing']);
  });

  it('is never older than the last one that the device finished', () => {
    for (const id of ['one', 'two', 'three']) create(id, 'a');
    offered('two');
    report('two', 'failure');
    expect(choiceFor(parts, 'a')).toEqual(['begin', 'three']);
    offered('three');
    report('three', 'success');
    expect(choiceFor(parts, 'a')).toEqual(['nothing']);
  });

  it('does not depend on what was aborted before it was offered', () => {
    create('one', 'a');
    const second = create('two', 'a');
    parts.abortAll(second, 15);
    expect(choiceFor(parts, 'a')).toEqual(['begin', 'one']);
  });

  it('is none for a device that has no part', () => {
    create('one', 'a');
    expect(choiceFor(parts, 'b')).toEqual(['nothing']);
  });

  it('may exist only for a device that was given work', () => {
    expect(parts.whyNothing('a')).toBe(noDeployment);
    create('one', 'a', 'b');
    const why = { rule: 'finished', isUpToDate: true, because: 'it has finished' } as const;
    parts.expectNothing('b', why);
    expect([parts.whyNothing('a'), parts.whyNothing('b')]).toEqual([undefined, why]);
    parts.endAllOf('b', 'aborted', 20);
    expect(parts.whyNothing('b')).toBeUndefined();
    parts.endAllOf('b', 'decommissioned', 20);
    expect(parts.whyNothing('b')).toBe(noDeployment);
  });
});

describe('a report', () => {
  it.each(reportableStatuses)(
    'becomes the status, with times and end as they are: %s',
    (status) => {
      create('one', 'a');
      offered('one');
      const part = report('one', status);
      expect(part).toMatchObject({ status, startedMs: 30 });
      expect(part.finishedMs).toBe(finalStatuses.includes(status) ? 30 : undefined);
      expect(deploymentOf('one').finishedMs).toBe(part.finishedMs);
    },
  );

  it('keeps the first time of beginning', () => {
    create('one', 'a');
    report('one', 'downloading', 30);
    expect(report('one', 'installing', 40)).toMatchObject({ startedMs: 30 });
  });

  it('opens a part and its deployment again after an end', () => {
    create('one', 'a');
    offered('one');
    report('one', 'failure');
    parts.expectNothing('a', noDeployment);
    expect(report('one', 'installing').finishedMs).toBeUndefined();
    expect(deploymentOf('one')).not.toHaveProperty('finishedMs');
    expect(parts.whyNothing('a')).toBeUndefined();
  });

  it.each([undefined, ''])('leaves the former substate when it has none: %j', (substate) => {
    create('one', 'a');
    recordReport(parts, partOf('one'), { status: 'installing', substate: 'step 1', nowMs: 30 });
    recordReport(parts, partOf('one'), { status: 'rebooting', substate, nowMs: 40 });
    expect(partOf('one')).toMatchObject({ status: 'rebooting', substate: 'step 1' });
  });

  it('does not touch the parts of others', () => {
    create('one', 'a', 'b');
    create('two', 'a');
    report('one', 'success');
    expect([partOf('one', 'b').status, partOf('two').status]).toEqual(['pending', 'pending']);
    expect(deploymentOf('one')).not.toHaveProperty('finishedMs');
  });
});

describe('a log', () => {
  it('is none before the first, and the last one after that', () => {
    create('one', 'a', 'b');
    expect(parts.findLog('one', 'a')).toBeUndefined();
    parts.saveLog(partOf('one'), 'first');
    parts.saveLog(partOf('one'), 'second');
    expect(parts.findLog('one', 'a')).toBe('second');
    expect([partOf('one').hasLog, partOf('one', 'b').hasLog]).toEqual([true, false]);
    expect(parts.findLog('one', 'b')).toBeUndefined();
    expect(parts.findLog('two', 'a')).toBeUndefined();
  });
});

describe('an end that others decide', () => {
  it.each(finalStatuses)('of one part is an end like any other: %s', (status) => {
    create('one', 'a', 'b');
    recordStatus(parts, partOf('one'), { status, nowMs: 50 });
    expect(partOf('one')).toMatchObject({ status, finishedMs: 50 });
    expect(deploymentOf('one')).not.toHaveProperty('finishedMs');
    recordStatus(parts, partOf('one', 'b'), { status, nowMs: 60 });
    expect(deploymentOf('one').finishedMs).toBe(60);
  });

  it('of a deployment aborts what is unfinished, and nothing else', () => {
    const deployment = create('one', 'a', 'b', 'c');
    create('two', 'a');
    report('one', 'success');
    recordReport(parts, partOf('one', 'b'), { status: 'installing', nowMs: 30 });
    parts.abortAll(deployment, 50);
    const statuses = ['a', 'b', 'c'].map((id) => partOf('one', id).status);
    expect(statuses).toEqual(['success', 'aborted', 'aborted']);
    expect(partOf('two').status).toBe('pending');
    expect(deploymentOf('one').finishedMs).toBe(50);
  });

  it.each(['aborted', 'decommissioned'] as const)(
    'of all parts of a device leaves its finished ones, and other devices: %s',
    (status) => {
      create('one', 'a');
      create('two', 'a', 'b');
      report('one', 'failure');
      parts.endAllOf('a', status, 50);
      expect([partOf('one').status, partOf('two').status]).toEqual(['failure', status]);
      expect(partOf('two', 'b').status).toBe('pending');
      expect(deploymentOf('two')).not.toHaveProperty('finishedMs');
    },
  );
});

describe('the parts of a deployment', () => {
  it('are counted by status', () => {
    const deployment = create('one', 'a', 'b', 'c');
    create('two', 'a');
    report('one', 'success');
    expect(parts.statistics(deployment)).toEqual(
      new Map([
        ['pending', 2],
        ['success', 1],
      ]),
    );
  });

  it('are listed by status, or by a word for several', () => {
    const deployment = create('all', ...deviceDeploymentStatuses);
    for (const status of deviceDeploymentStatuses) {
      recordStatus(parts, partOf('all', status), { status, nowMs: 30 });
    }
    const listed = (status?: string): readonly string[] =>
      parts.list(deployment, { status }, wide).map(({ deviceId }) => deviceId);
    const without = (statuses: readonly string[]): readonly string[] =>
      deviceDeploymentStatuses.filter((status) => !statuses.includes(status)).toSorted();
    expect(listed()).toEqual(deviceDeploymentStatuses.toSorted());
    expect(listed('success')).toEqual(['success']);
    expect(listed('finished')).toEqual(finalStatuses.toSorted());
    expect(listed('active')).toEqual(without(finalStatuses));
    expect(listed('pause')).toEqual(listed().filter((status) => status.startsWith('pause_')));
    expect(listed('unheard-of')).toEqual([]);
    expect(parts.count(deployment, { status: 'pause' })).toBe(3);
    expect(parts.count(deployment, {})).toBe(deviceDeploymentStatuses.length);
  });

  it('are narrowed to the groups of their devices', () => {
    const deployment = create('one', 'a', 'b', 'c');
    store.groups.assign('a', 'north');
    store.groups.assign('b', 'south');
    const inside = (...groups: readonly string[]): readonly unknown[] => [
      parts.list(deployment, { groups }, wide).map(({ deviceId }) => deviceId),
      parts.count(deployment, { groups }),
      parts.deviceIds(deployment, { groups }),
    ];
    expect(inside('north', 'west')).toEqual([['a'], 1, ['a']]);
    expect(inside('north', 'south')).toEqual([['a', 'b'], 2, ['a', 'b']]);
    expect(inside()).toEqual([[], 0, []]);
    expect(parts.deviceIds(deployment, {})).toEqual(['a', 'b', 'c']);
    expect(store.deployments.reach(deployment, ['north', 'south'])).toEqual({
      inside: 2,
      outside: 1,
    });
  });

  it('come in pages', () => {
    const deployment = create('one', 'c', 'a', 'b');
    const page = parts.list(deployment, {}, { page: 2, perPage: 2 });
    expect(page.map(({ deviceId }) => deviceId)).toEqual(['c']);
    expect(parts.list(deployment, {}, { page: 3, perPage: 2 })).toEqual([]);
  });
});
