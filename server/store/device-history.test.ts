import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import { choiceFor } from '../testing/choice.ts';
import { recordOffer, recordReport } from '../testing/device-deployment-steps.ts';
import { openStore, type Store } from './store.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore();
  for (const id of ['one', 'two', 'three']) {
    store.deployments.create({
      id,
      type: 'software',
      name: id,
      artifactName: 'release',
      deviceIds: ['a', 'b'],
      deviceDigest: id,
      forceInstallation: false,
      retries: 1,
      nowMs: 10,
    });
  }
  end('one', 'a', 'success');
  end('one', 'b', 'success');
  end('two', 'a', 'already-installed');
});

afterEach(() => store.close());

function end(id: string, deviceId: string, status: ReportableStatus): void {
  const deviceDeployment = store.deviceDeployments.find(id, deviceId);
  if (!deviceDeployment) throw new Error(`${deviceId} has no device deployment in ${id}`);
  const offer = { pollData: 'r', artifactId: 'art', nowMs: 20 };
  const offered = recordOffer(store.deviceDeployments, deviceDeployment, offer);
  recordReport(store.deviceDeployments, offered, { status, substate: 'step', nowMs: 30 });
  store.deviceDeployments.saveLog(deviceDeployment, 'log');
}

function listIds(status?: string, page = { page: 1, perPage: 20 }): string[] {
  const found = store.history.list('a', status, page).map(({ deployment }) => deployment.id);
  if (page.perPage === 20) expect(store.history.count('a', status)).toBe(found.length);
  return found;
}

describe('the deployment history of a device', () => {
  it('lists the newest deployment first, in pages', () => {
    expect(listIds()).toEqual(['three', 'two', 'one']);
    expect(listIds(undefined, { page: 2, perPage: 2 })).toEqual(['one']);
    expect(listIds(undefined, { page: 3, perPage: 2 })).toEqual([]);
    expect(store.history.list('c', undefined, { page: 1, perPage: 20 })).toEqual([]);
  });

  it.each([
    ['success', ['one']],
    ['finished', ['two', 'one']],
    ['active', ['three']],
    ['pause', []],
  ])('can be limited to %s', (status, expected) => {
    expect(listIds(status)).toEqual(expected);
  });
});

describe('a deployment history that is deleted', () => {
  beforeEach(() => store.history.delete('a'));

  it('no longer lists finished deployments', () => {
    expect(listIds()).toEqual(['three', 'two']);
    expect(store.deviceDeployments.findOffered('one', 'a')).toBeUndefined();
  });

  it("resets the device's part in running deployments", () => {
    const deviceDeployment = store.deviceDeployments.find('two', 'a');
    expect(deviceDeployment).toEqual({
      deployment: deviceDeployment?.deployment,
      deviceId: 'a',
      status: 'pending',
      attempts: 0,
      retriesLeft: 1,
      hasLog: false,
    });
    expect(choiceFor(store.deviceDeployments, 'a')).toEqual(['offer', 'two']);
  });

  it('keeps the statistics of finished deployments and other devices', () => {
    const one = store.deployments.find('one');
    expect(one && store.deviceDeployments.statistics(one)).toEqual(new Map([['success', 2]]));
    expect(one?.finishedMs).toBe(30);
    expect(store.deviceDeployments.findOffered('one', 'b')).toMatchObject({ status: 'success' });
  });
});
