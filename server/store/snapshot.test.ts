import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noDeployment } from '../rules/no-update.ts';
import { recordOffer, recordReport } from '../testing/device-deployment-steps.ts';
import { engines, TestFolder } from './engine/testing/engines.ts';
import type { Store } from './store.ts';

const NOW_MS = 100;
const wide = { page: 1, perPage: 500 };

describe.each(engines)('snapshots of a store %s', (_engine, { openStore }) => {
  let folder: TestFolder;
  let store: Store;

  beforeEach(async () => {
    folder = new TestFolder();
    store = await openStore(folder);
  });

  afterEach(() => {
    store.close();
    folder.remove();
  });

  function meet(id: string, identity = `{"mac":"${id}"}`): void {
    const set = { id: `set-${id}`, publicKeyPem: `key of ${id}`, nowMs: 1 };
    store.devices.recordFirstContact({ id, identity }, { ...set, status: 'accepted' });
    store.inventory.replace(id, [{ name: 'mac', value: id, updatedMs: 1 }]);
  }

  function deploy(id: string, ...deviceIds: readonly string[]): void {
    const [name, type] = [id, 'software'] as const;
    const otherFields = {
      artifactName: 'release',
      deviceDigest: id,
      forceInstallation: false,
      nowMs: 1,
    };
    store.deployments.create({ id, type, name, deviceIds, ...otherFields });
  }

  function deviceDeploymentOf(id: string, deviceId = 'a') {
    const deviceDeployment = store.deviceDeployments.find(id, deviceId);
    if (!deviceDeployment) throw new Error(`${deviceId} has no device deployment in ${id}`);
    return deviceDeployment;
  }

  function succeed(id: string, deviceId = 'a'): void {
    recordOffer(store.deviceDeployments, deviceDeploymentOf(id, deviceId), {
      pollData: 'r',
      nowMs: 2,
    });
    recordReport(store.deviceDeployments, deviceDeploymentOf(id, deviceId), {
      status: 'success',
      nowMs: 2,
    });
  }

  function mac(id: string): unknown {
    return store.inventory.list(id).find(({ name }) => name === 'mac')?.value;
  }

  async function upload(id: string): Promise<string> {
    const file = await store.files.receive(Readable.from([Buffer.from(id)]));
    store.files.keep(file);
    const maps = { artifact_provides: {}, artifact_depends: {} };
    const artifact = {
      id,
      name: id,
      device_types_compatible: ['board'],
      ...maps,
      size: file.sizeBytes,
      modified: '',
    };
    store.artifacts.save({ artifact, sha256: file.sha256, modifiedMs: 1 });
    return file.sha256;
  }

  function removeArtifact(id: string, sha256: string): void {
    store.atomically(() => {
      store.artifacts.remove(id, sha256);
      store.files.remove(sha256);
    });
  }

  function isKept(sha256: string): boolean {
    return existsSync(join(store.files.folder, sha256));
  }

  describe('a restored snapshot', () => {
    it('brings back everything changed, added or removed since', async () => {
      meet('a');
      meet('b');
      const snapshot = await store.snapshot();
      store.inventory.replace('a', [{ name: 'mac', value: 'changed', updatedMs: 2 }]);
      store.devices.remove('b');
      meet('c');
      store.tenantSettings.setDeviceLimit(7);
      await store.restore(snapshot);
      expect(store.devices.list({}, wide).map(({ id }) => id)).toEqual(['a', 'b']);
      expect(mac('a')).toBe('a');
      expect(store.tenantSettings.deviceLimit()).toBeUndefined();
    });

    it('restores which tokens are accepted and which devices may have an open deployment', async () => {
      meet('a');
      deploy('d', 'a');
      const snapshot = await store.snapshot();
      store.devices.remove('a');
      store.deviceDeployments.cacheNoUpdate('a', noDeployment);
      meet('b');
      await store.restore(snapshot);
      expect(store.devices.cache.findByAcceptedSet('set-a')?.deviceId).toBe('a');
      expect(store.devices.cache.findByAcceptedSet('set-b')).toBeUndefined();
      expect(store.devices.cache.countAccepted()).toBe(1);
      expect(store.deviceDeployments.cachedNoUpdate('a')).toBeUndefined();
    });

    it('restores the check-in time of a device', async () => {
      meet('a');
      const checkIn = (ms: number): void => {
        const cached = store.devices.cache.findByAcceptedSet('set-a');
        if (cached) cached.checkInMs = ms;
      };
      checkIn(5);
      const snapshot = await store.snapshot();
      checkIn(9);
      await store.restore(snapshot);
      expect(store.devices.find('a')?.checkInMs).toBe(5);
    });

    it('keeps the last poll of remaining devices', async () => {
      meet('a');
      const lastPoll = {
        operation: 'get-next-deployment',
        content: '/?a=b',
        atMs: 9,
        status: 204,
        refused: undefined,
      };
      const snapshot = await store.snapshot();
      meet('b');
      for (const id of ['a', 'b']) Object.assign(store.devices.cache.find(id) ?? {}, { lastPoll });
      store.resetDevice('a', snapshot, NOW_MS);
      expect(store.devices.cache.find('a')?.lastPoll).toBe(lastPoll);
      await store.restore(snapshot);
      expect(store.devices.cache.find('a')?.lastPoll).toBe(lastPoll);
      expect(store.devices.cache.find('b')).toBeUndefined();
      store.devices.remove('a');
      expect(store.devices.cache.find('a')).toBeUndefined();
    });

    it('can be restored repeatedly and is unaffected by later changes', async () => {
      meet('a');
      const snapshot = await store.snapshot();
      for (const round of ['one', 'two', 'three']) {
        store.inventory.replace('a', [{ name: 'mac', value: round, updatedMs: 2 }]);
        meet(round);
        await store.restore(snapshot);
        expect([mac('a'), store.devices.count()]).toEqual(['a', 1]);
      }
    });

    it('continues the former numbering of rows', async () => {
      meet('a');
      const snapshot = await store.snapshot();
      meet('b');
      await store.restore(snapshot);
      meet('c');
      expect(store.devices.list({}, wide).map(({ id }) => id)).toEqual(['a', 'c']);
    });

    it('marks every device as disconnected', async () => {
      store.connections.record('a', 'connected', 1);
      const snapshot = await store.snapshot();
      await store.restore(snapshot);
      expect(store.connections.find('a')?.status).toBe('disconnected');
    });

    it('keeps tokens of present users and drops those of others', async () => {
      store.users.create({ id: 'u', email: 'u@example.com' }, 1);
      const snapshot = await store.snapshot();
      store.users.create({ id: 'v', email: 'v@example.com' }, 1);
      store.userTokens.record({ id: 'of-u', userId: 'u', kind: 'session' }, 2);
      store.userTokens.record({ id: 'of-v', userId: 'v', kind: 'session' }, 2);
      await store.restore(snapshot);
      expect(store.userTokens.find('of-u')).toBeDefined();
      expect(store.userTokens.find('of-v')).toBeUndefined();
      expect(store.users.find('v')).toBeUndefined();
    });

    it('is refused once it is discarded', async () => {
      meet('a');
      const snapshot = await store.snapshot();
      snapshot.discard();
      meet('b');
      await expect(store.restore(snapshot)).rejects.toThrow('discarded');
      expect(() => store.resetDevice('a', snapshot, NOW_MS)).toThrow('discarded');
      expect(store.devices.count()).toBe(2);
    });

    it('may come from another store without moving its users', async () => {
      const sha256 = await upload('art');
      meet('a');
      store.users.create({ id: 'u', email: 'u@example.com' }, 1);
      const fork = await openStore(folder, 'fork');
      fork.users.create({ id: 'w', email: 'w@example.com' }, 1);
      await fork.restore(await store.snapshot(), { keepsUsers: true });
      expect(fork.devices.find('a')).toEqual(store.devices.find('a'));
      expect(existsSync(join(fork.files.folder, sha256))).toBe(true);
      expect([fork.users.find('u'), fork.users.find('w')?.id]).toEqual([undefined, 'w']);
      fork.devices.remove('a');
      expect(store.devices.find('a')).toBeDefined();
      fork.close();
    });
  });

  describe('a snapshot that refers to an artifact file', () => {
    it('keeps the file after the artifact is removed, until discarded', async () => {
      const sha256 = await upload('art');
      const [one, other] = [await store.snapshot(), await store.snapshot()];
      removeArtifact('art', sha256);
      one.discard();
      one.discard();
      expect(isKept(sha256)).toBe(true);
      other.discard();
      expect(isKept(sha256)).toBe(false);
    });

    it('restores the artifact with its file permanently', async () => {
      const sha256 = await upload('art');
      const snapshot = await store.snapshot();
      removeArtifact('art', sha256);
      await store.restore(snapshot);
      snapshot.discard();
      expect(store.artifacts.find('art')?.sha256).toBe(sha256);
      expect(isKept(sha256)).toBe(true);
    });

    it('removes files that were added later', async () => {
      const before = await upload('before');
      const snapshot = await store.snapshot();
      const after = await upload('after');
      await store.restore(snapshot);
      expect([isKept(before), isKept(after)]).toEqual([true, false]);
    });

    it('keeps the file of a removal that was rolled back', async () => {
      const sha256 = await upload('art');
      const failAfterWriting = (): never => {
        removeArtifact('art', sha256);
        throw new Error('rolled back');
      };
      expect(() => store.atomically(failAfterWriting)).toThrow('rolled back');
      expect(isKept(sha256)).toBe(true);
    });
  });

  describe('a snapshot from which one device is reset', () => {
    it('restores that device and no other', async () => {
      meet('a');
      meet('b');
      const snapshot = await store.snapshot();
      for (const id of ['a', 'b']) {
        store.inventory.replace(id, [{ name: 'mac', value: 'changed', updatedMs: 2 }]);
        store.groups.assign(id, 'group');
      }
      expect(store.resetDevice('a', snapshot, NOW_MS)).toBe('restored');
      expect([mac('a'), mac('b')]).toEqual(['a', 'changed']);
    });

    it('removes a device that it does not contain, with its device deployments', async () => {
      meet('b');
      const snapshot = await store.snapshot();
      meet('a');
      deploy('d', 'a', 'b');
      succeed('d', 'b');
      expect(store.resetDevice('a', snapshot, NOW_MS)).toBe('removed');
      expect(store.devices.find('a')).toBeUndefined();
      expect(store.devices.cache.findByAcceptedSet('set-a')).toBeUndefined();
      expect(mac('a')).toBeUndefined();
      expect(store.deviceDeployments.find('d', 'a')).toBeUndefined();
      expect(store.deployments.find('d')?.finishedMs).toBe(NOW_MS);
    });

    it('reports a device unknown to store and snapshot', async () => {
      expect(store.resetDevice('nobody', await store.snapshot(), NOW_MS)).toBe('unknown');
    });

    it('restores a removed device that returned under another ID', async () => {
      meet('a', '{"mac":"same"}');
      const snapshot = await store.snapshot();
      store.devices.remove('a');
      meet('again', '{"mac":"same"}');
      expect(store.resetDevice('again', snapshot, NOW_MS)).toBe('restored');
      expect(store.devices.list({}, wide).map(({ id }) => id)).toEqual(['a']);
      expect(store.devices.cache.findByAcceptedSet('set-a')?.deviceId).toBe('a');
      expect(store.devices.cache.findByAcceptedSet('set-again')).toBeUndefined();
    });

    it('assigns another place in the order if the former is taken', async () => {
      const early = await store.snapshot();
      meet('a');
      const snapshot = await store.snapshot();
      await store.restore(early);
      meet('b');
      expect(store.resetDevice('a', snapshot, NOW_MS)).toBe('restored');
      expect(store.devices.list({}, wide).map(({ id }) => id)).toEqual(['b', 'a']);
    });

    it("undoes the device's reports, and the deployment continues", async () => {
      meet('a');
      deploy('d', 'a');
      const snapshot = await store.snapshot();
      succeed('d');
      expect(store.deployments.find('d')?.finishedMs).toBeDefined();
      store.deviceDeployments.cacheNoUpdate('a', noDeployment);
      store.resetDevice('a', snapshot, NOW_MS);
      expect(deviceDeploymentOf('d')).toMatchObject({ status: 'pending', attempts: 0 });
      expect(store.deployments.find('d')?.finishedMs).toBeUndefined();
      expect(store.deviceDeployments.cachedNoUpdate('a')).toBeUndefined();
    });

    it('restarts the device only in younger deployments that are unfinished', async () => {
      meet('a');
      const snapshot = await store.snapshot();
      deploy('finished', 'a');
      succeed('finished');
      deploy('unfinished', 'a', 'b');
      succeed('unfinished');
      store.resetDevice('a', snapshot, NOW_MS);
      expect([
        deviceDeploymentOf('unfinished').status,
        deviceDeploymentOf('finished').status,
      ]).toEqual(['pending', 'success']);
    });

    it('does not change the cached data of other devices', async () => {
      meet('a');
      meet('b');
      const snapshot = await store.snapshot();
      const cached = store.devices.cache.findByAcceptedSet('set-b');
      if (cached) cached.checkInMs = 77;
      store.resetDevice('a', snapshot, NOW_MS);
      expect(store.devices.find('b')?.checkInMs).toBe(77);
    });
  });

  it('are deleted when their store is closed', async () => {
    const otherStore = await openStore(folder, 'other');
    const snapshot = await otherStore.snapshot();
    otherStore.close();
    expect(snapshot.copy.isDiscarded()).toBe(true);
    const left = readdirSync(folder.path, { recursive: true }).map(String);
    expect(left.filter((name) => name.includes('copy'))).toEqual([]);
  });
});
