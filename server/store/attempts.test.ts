import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  deviceDeploymentStatuses,
  type ReportableStatus,
} from '../../fixtures/contract/vocabulary.ts';
import { isFinal, mayTryAgain } from '../rules/device-deployment.ts';
import { withholdingCondition } from '../rules/device-deployment-choice.ts';
import { choiceFor } from '../testing/choice.ts';
import {
  recordOffer,
  recordReport,
  recordRetry,
  recordStatus,
} from '../testing/device-deployment-steps.ts';
import type { NewStoredDeployment, StoredDeployment } from './deployments.ts';
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

const offer = { pollData: 'r', artifactId: 'art', nowMs: 20 };

function create(id: string, ...deviceIds: readonly string[]): StoredDeployment {
  return createWith({ id, deviceIds });
}

function createWith(fields: Partial<NewStoredDeployment>): StoredDeployment {
  const { id = 'one', deviceIds = ['a'] } = fields;
  store.deployments.create({
    id,
    type: 'software',
    name: id,
    artifactName: 'release',
    deviceIds,
    deviceDigest: deviceIds.join(),
    forceInstallation: false,
    nowMs: 10,
    ...fields,
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

function offered(id: string, deviceId = 'a'): StoredDeviceDeployment {
  return recordOffer(deviceDeployments, deviceDeploymentOf(id, deviceId), offer);
}

function report(id: string, status: ReportableStatus, nowMs = 30): StoredDeviceDeployment {
  return recordReport(deviceDeployments, deviceDeploymentOf(id), { status, nowMs });
}

describe('a failed device deployment', () => {
  beforeEach(() => {
    createWith({ retries: 2 });
    offered('one');
    report('one', 'failure');
  });

  it('can be retried up to the configured number, and counts each attempt', () => {
    const attempts = [deviceDeploymentOf('one').attempts];
    for (let retry = 1; retry <= 2; retry += 1) {
      expect(choiceFor(deviceDeployments, 'a')).toEqual(['retry', 'one']);
      const retry = recordRetry(deviceDeployments, deviceDeploymentOf('one'));
      expect(retry).toMatchObject({ status: 'pending', offeredMs: 20 });
      for (const name of [
        'pollData',
        'artifactId',
        'startedMs',
        'finishedMs',
        'substate',
      ] as const) {
        expect(retry[name]).toBeUndefined();
      }
      expect(choiceFor(deviceDeployments, 'a')).toEqual(['continue', 'one']);
      report('one', 'failure');
      attempts.push(deviceDeploymentOf('one').attempts);
    }
    expect(attempts).toEqual([1, 2, 3]);
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['nothing']);
  });

  it('keeps its deployment unfinished while retries are left', () => {
    expect(deploymentOf('one')).not.toHaveProperty('finishedMs');
    for (const nowMs of [40, 50]) {
      recordRetry(deviceDeployments, deviceDeploymentOf('one'));
      report('one', 'failure', nowMs);
    }
    expect(deploymentOf('one').finishedMs).toBe(50);
  });

  it.each<[string, () => void]>([
    ['abort of the deployment', () => deviceDeployments.abortAll(deploymentOf('one'), 60)],
    ['abort on the device', () => deviceDeployments.stopAllOfDevice('a', 'aborted', 60)],
    ['removal of the device', () => deviceDeployments.stopAllOfDevice('a', 'decommissioned', 60)],
  ])('stays failed without a retry after the %s', (_, stop) => {
    stop();
    expect([deviceDeploymentOf('one').status, ...choiceFor(deviceDeployments, 'a')]).toEqual([
      'failure',
      'nothing',
    ]);
    expect(deploymentOf('one').finishedMs).toBe(60);
  });

  it('is not retried after the device reports another final status', () => {
    report('one', 'success');
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['nothing']);
    expect(deploymentOf('one').finishedMs).toBe(30);
  });
});

describe('the device deployments that the store finds', () => {
  const cells = deviceDeploymentStatuses.flatMap((status) =>
    [0, 1].map((retries) => [status, retries] as const),
  );

  it.each(cells)("match the rules' decision for %s with %i retries", (status, retries) => {
    createWith({ deviceIds: ['a', 'b'], retries });
    recordStatus(deviceDeployments, offered('one'), { status, nowMs: 30 });
    const { deviceDeployments: found } = deviceDeployments.listOpen('a');
    const kept = withholdingCondition(
      { ...deviceDeploymentOf('one'), offeredDevices: 1 },
      { nowMs: 99, lastFinishedSeq: 0 },
    );
    expect(found.length).toBe(kept === undefined ? 1 : 0);
  });

  it.each(cells)('finish the deployment or not: %s with %i retries', (status, retries) => {
    createWith({ retries });
    recordStatus(deviceDeployments, offered('one'), { status, nowMs: 30 });
    const { finishedMs } = deploymentOf('one');
    const isOpen = !isFinal({ status }) || mayTryAgain({ status, retriesLeft: retries });
    expect(finishedMs).toBe(isOpen ? undefined : 30);
  });
});

describe('a deployment with a device maximum or phases', () => {
  const three = ['a', 'b', 'c'];
  const decided = (deviceId: string, nowMs = 99) =>
    choiceFor(deviceDeployments, deviceId, nowMs)[0];

  it('makes other devices wait after that many offers', () => {
    createWith({ deviceIds: three, maxDevices: 2 });
    expect(three.map((id) => decided(id))).toEqual(['offer', 'offer', 'offer']);
    offered('one', 'c');
    offered('one', 'a');
    expect(decided('b')).toBe('wait');
  });

  it('is finished once that many devices have finished, whatever the others are', () => {
    createWith({ deviceIds: three, maxDevices: 2 });
    recordStatus(deviceDeployments, offered('one', 'a'), { status: 'success', nowMs: 40 });
    expect(deploymentOf('one')).not.toHaveProperty('finishedMs');
    recordStatus(deviceDeployments, offered('one', 'b'), { status: 'failure', nowMs: 50 });
    expect(deploymentOf('one').finishedMs).toBe(50);
    expect(decided('c')).toBe('nothing');
  });

  it('is not finished while one of its devices may retry', () => {
    createWith({ deviceIds: three, maxDevices: 1, retries: 1 });
    recordStatus(deviceDeployments, offered('one', 'a'), { status: 'failure', nowMs: 40 });
    expect(deploymentOf('one')).not.toHaveProperty('finishedMs');
    const retry = recordRetry(deviceDeployments, deviceDeploymentOf('one', 'a'));
    recordStatus(deviceDeployments, retry, { status: 'failure', nowMs: 50 });
    expect(deploymentOf('one').finishedMs).toBe(50);
  });

  it('starts its phases one after the other', () => {
    const phases = [
      { batchSize: 40, startMs: 100, devicesUntil: 1 },
      { batchSize: 60, startMs: 200, devicesUntil: 3 },
    ];
    createWith({ deviceIds: three, phases });
    expect([decided('a', 99), decided('a', 100)]).toEqual(['wait', 'offer']);
    offered('one', 'a');
    expect([decided('b', 199), decided('b', 200)]).toEqual(['wait', 'offer']);
  });

  it('counts correctly after writes since the last request', () => {
    const deployment = createWith({ deviceIds: three, maxDevices: 2 });
    const seen = (): readonly unknown[] => [
      deviceDeployments.countOffered(deployment),
      decided('c'),
    ];
    expect(seen()).toEqual([0, 'offer']);
    const first = offered('one', 'a');
    recordOffer(deviceDeployments, first, offer);
    deviceDeployments.saveLog(first, 'a line');
    expect(seen()).toEqual([1, 'offer']);
    const failAfterWriting = (): void => {
      offered('one', 'b');
      expect(seen()).toEqual([2, 'wait']);
      throw new Error('rolled back');
    };
    expect(() => store.atomically(failAfterWriting)).toThrow('rolled back');
    expect(seen()).toEqual([1, 'offer']);
    recordStatus(deviceDeployments, offered('one', 'b'), { status: 'failure', nowMs: 40 });
    expect(seen()).toEqual([2, 'wait']);
    store.history.delete('b');
    expect(seen()).toEqual([1, 'offer']);
  });

  it('does not hide a newer deployment from the device', () => {
    createWith({ phases: [{ batchSize: 100, startMs: 1000, devicesUntil: 1 }] });
    create('two', 'a');
    expect(choiceFor(deviceDeployments, 'a')).toEqual(['offer', 'two']);
  });
});
