/**
 * Restores tenants to stored states: their start state, named snapshots, and world files. Also
 * forks a tenant.
 */
import { systemClock } from '../../fixtures/base/clock.ts';
import { faultPlansOf } from '../faults/tenant-faults.ts';
import { findNamedDevice } from '../journal/known-devices.ts';
import { journalOf } from '../journal/tenant-journal.ts';
import type { Services } from '../pipeline/services.ts';
import { readIdentity } from '../rules/identity.ts';
import type { DeviceReset, Snapshot } from '../store/snapshot.ts';
import type { AddedTenant, NewAdmin, Tenant, TenantProblem } from '../tenants/tenants.ts';
import { type LoadedWorld, loadWorld } from './load.ts';
import type { CallApi } from './steps.ts';
import type { World } from './world-shape.ts';

/** A snapshot with its name. */
export interface NamedSnapshot {
  readonly name: string;
  /** The tenant's time, in milliseconds since the Unix epoch. */
  readonly takenMs: number;
}

/** Maximum number of snapshots of a tenant. Each is a copy of the whole state. */
export const SNAPSHOTS_MAX = 20;

interface StoredSnapshot extends NamedSnapshot {
  readonly snapshot: Snapshot;
}

interface InnerListener {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Thrown if the server could not write a copy of the tenant's state at its start, for example
 * because the disk was full.
 */
export class StartStateUnavailable extends Error {
  override readonly name = 'StartStateUnavailable';

  constructor() {
    super(
      'the start state cannot be restored: the server could not write a copy of it when it started; ' +
        'free some space and restart the server',
    );
  }
}

/** Takes snapshots of tenants, and restores tenants to them. */
export class TenantStates {
  readonly #services: Services;
  readonly #openInside: () => Promise<InnerListener>;
  readonly #onRestored: (tenant: Tenant, deviceId?: string) => void;
  readonly #named = new WeakMap<Tenant, Map<string, StoredSnapshot>>();
  /** Snapshots of the tenants before a world was loaded. */
  readonly #origins = new WeakMap<Tenant, Snapshot>();
  readonly #starts = new WeakMap<Tenant, Snapshot>();
  /** Changes run one after the other, because a load also moves the clock of its tenant. */
  #changed: Promise<unknown> = Promise.resolve();

  /** @param onRestored called when the state of a tenant, or of one of its devices, was replaced */
  constructor(
    services: Services,
    openInside: () => Promise<InnerListener>,
    onRestored: (tenant: Tenant, deviceId?: string) => void = () => undefined,
  ) {
    this.#services = services;
    this.#openInside = openInside;
    this.#onRestored = onRestored;
  }

  /** Adds a tenant with its first user. Its start state has no devices and no artifacts. */
  async add(name: string, admin: NewAdmin): Promise<AddedTenant | TenantProblem> {
    const added = await this.#services.tenants.add(name, admin);
    if (typeof added !== 'string') await this.markStart(added.tenant);
    return added;
  }

  /**
   * Removes a tenant other than the first. Its tokens, devices and users become unknown first; then
   * its sockets, mail, store and folder are removed. Has no effect on a tenant that is already
   * removed.
   */
  async drop(tenant: Tenant): Promise<void> {
    if (tenant.isFirst) return;
    faultPlansOf(tenant).clear();
    const { tenants, sockets, outbox } = this.#services;
    if (tenants.forget(tenant)) {
      await sockets.closeTenant(tenant.store);
      // Handlers that waited for a socket now write to the audit log, so the store is removed last.
      await systemClock.sleep(0);
      outbox.forget(tenant.id);
      tenants.remove(tenant);
    }
    journalOf(tenant).clear();
  }

  /**
   * Makes the current state the start state, to which `reset` returns and into which world files are
   * loaded.
   */
  async markStart(tenant: Tenant): Promise<void> {
    const start = await tenant.store.snapshot();
    this.#origins.set(tenant, start);
    this.#starts.set(tenant, start);
  }

  /**
   * Removes all tenants except the first.
   * @returns the removed tenants
   */
  async dropOthers(): Promise<readonly Tenant[]> {
    const [, ...otherTenants] = this.#services.tenants.list();
    await Promise.all(otherTenants.map((tenant) => this.drop(tenant)));
    return otherTenants;
  }

  /**
   * Restores the state and clock of the start. Closes sockets, and removes faults, mail and journal
   * entries. Rejects with StartStateUnavailable.
   */
  reset(tenant: Tenant): Promise<void> {
    return this.#runInTurn(async () => {
      const start = savedSnapshot(this.#starts, tenant);
      await this.#services.sockets.closeTenant(tenant.store);
      await this.#restore(tenant, start);
      tenant.clock.reset();
      tenant.rates.set(this.#services.settings.rateLimit);
      faultPlansOf(tenant).clear();
      tenant.status = 'active';
      this.#services.outbox.forget(tenant.id);
      journalOf(tenant).clear();
    });
  }

  /**
   * Restores one device to its start state, or removes it if it did not exist then. Closes its
   * socket.
   * @param named the device's ID, or its identity as JSON
   * @throws StartStateUnavailable
   */
  resetDevice(tenant: Tenant, named: string): DeviceReset {
    const start = savedSnapshot(this.#starts, tenant);
    const deviceId = deviceIdOf(tenant, named);
    this.#services.sockets.drop(deviceId, 'the device was reset');
    this.#onRestored(tenant, deviceId);
    return tenant.store.resetDevice(deviceId, start, tenant.clock.now());
  }

  /**
   * Replaces the state and the start state of the tenant. Planned faults are kept, and paused while
   * loading. If the world is refused, the state is unchanged. Rejects with WorldFileError or
   * StartStateUnavailable.
   */
  load(tenant: Tenant, world: World): Promise<LoadedWorld> {
    return this.#runInTurn(() => this.#load(tenant, world));
  }

  snapshots(tenant: Tenant): readonly NamedSnapshot[] {
    return [...this.#snapshotsOf(tenant).values()].map(({ name, takenMs }) => ({ name, takenMs }));
  }

  /** Takes a snapshot, and replaces one with the same name. Returns false if there are too many. */
  take(tenant: Tenant, name: string): Promise<boolean> {
    return this.#runInTurn(async () => {
      const snapshots = this.#snapshotsOf(tenant);
      const former = snapshots.get(name);
      if (!former && snapshots.size >= SNAPSHOTS_MAX) return false;
      const snapshot = await tenant.store.snapshot();
      snapshots.set(name, { name, takenMs: tenant.clock.now(), snapshot });
      former?.snapshot.discard();
      return true;
    });
  }

  /** Restores a snapshot. Returns false if there is none with this name. */
  restore(tenant: Tenant, name: string): Promise<boolean> {
    return this.#runInTurn(async () => {
      const snapshot = this.#snapshotsOf(tenant).get(name);
      if (snapshot) await this.#restore(tenant, snapshot.snapshot);
      return snapshot !== undefined;
    });
  }

  /** Deletes a snapshot. Returns false if there is none with this name. */
  discard(tenant: Tenant, name: string): Promise<boolean> {
    return this.#runInTurn(async () => {
      const snapshots = this.#snapshotsOf(tenant);
      snapshots.get(name)?.snapshot.discard();
      return snapshots.delete(name);
    });
  }

  /** Creates a tenant with the current state of this one, but with its own admin. */
  fork(
    tenant: Tenant,
    { name, admin }: { name: string; admin: NewAdmin },
  ): Promise<AddedTenant | TenantProblem> {
    return this.#runInTurn(async () => {
      const added = await this.#services.tenants.add(name, admin);
      if (typeof added === 'string') return added;
      try {
        const snapshot = await tenant.store.snapshot();
        await added.tenant.store.restore(snapshot, { keepsUsers: true });
        snapshot.discard();
        await this.markStart(added.tenant);
        return added;
      } catch (error) {
        await this.drop(added.tenant);
        throw error;
      }
    });
  }

  #runInTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const lastChange = this.#changed.then(change);
    this.#changed = lastChange.catch(() => undefined);
    return lastChange;
  }

  async #load(tenant: Tenant, world: World): Promise<LoadedWorld> {
    const origin = savedSnapshot(this.#origins, tenant);
    const snapshotBefore = await tenant.store.snapshot();
    const insideServer = await this.#openInside();
    const goOn = faultPlansOf(tenant).pause();
    try {
      await this.#restore(tenant, origin);
      const loadedWorld = await loadWorld(this.#services, tenant, {
        world,
        callApi: apiCallerAt(insideServer.url),
      });
      const former = this.#starts.get(tenant);
      if (former !== origin) former?.discard();
      this.#starts.set(tenant, await tenant.store.snapshot());
      return loadedWorld;
    } catch (error) {
      await this.#restore(tenant, snapshotBefore);
      throw error;
    } finally {
      goOn();
      snapshotBefore.discard();
      await insideServer.close();
    }
  }

  /**
   * Restores a snapshot. Closes all sockets, because the restored store does not know them; devices
   * reconnect.
   */
  #restore(tenant: Tenant, snapshot: Snapshot): Promise<void> {
    const { sockets } = this.#services;
    const { store } = tenant;
    const beforeRestore = (): void => {
      this.#onRestored(tenant);
      for (const id of [...store.connections.connectedIds()])
        sockets.drop(id, 'the tenant was reset');
    };
    return store.restore(snapshot, { beforeRestore });
  }

  #snapshotsOf(tenant: Tenant): Map<string, StoredSnapshot> {
    const snapshots = this.#named.get(tenant) ?? new Map<string, StoredSnapshot>();
    this.#named.set(tenant, snapshots);
    return snapshots;
  }
}

function deviceIdOf({ store }: Tenant, named: string): string {
  const identity = readIdentity(named);
  const device = findNamedDevice(store, 'reason' in identity ? named : identity.canonical);
  return 'id' in device ? device.id : named;
}

/** Returns a function that calls the API at this URL. */
function apiCallerAt(url: string): CallApi {
  return async ({ method }, path, { token, json, form }) => {
    const headers = new Headers({ Authorization: `Bearer ${token}` });
    if (json !== undefined) headers.set('Content-Type', 'application/json');
    const body = form ?? (json === undefined ? null : JSON.stringify(json));
    const response = await fetch(url + path, { method, headers, body });
    return {
      status: response.status,
      text: await response.text(),
      location: response.headers.get('location'),
    };
  };
}

function savedSnapshot(snapshots: WeakMap<Tenant, Snapshot>, tenant: Tenant): Snapshot {
  const snapshot = snapshots.get(tenant);
  if (!snapshot) throw new StartStateUnavailable();
  return snapshot;
}
