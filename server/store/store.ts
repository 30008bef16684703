/**
 * The store of a tenant: the stores of all areas, on one database and one folder of files.
 *
 * A store may keep what a poll or an authentication reads again and again
 * (`engine/table-changes.ts`): such a cache names the tables that it was read from, and is empty
 * after any write to one of them. `DevicesInDeployments` also knows which devices no open
 * deployment can concern, so that their polls read nothing.
 */
import { join } from 'node:path';
import { ArtifactStore, contentsIn } from './artifacts.ts';
import { AuditLogStore } from './audit-logs.ts';
import { ConfigurationStore } from './configurations.ts';
import { ConfirmationStore } from './confirmations.ts';
import { ConnectionStore } from './connections.ts';
import { artifactsFolder, tenantFile } from './data-layout.ts';
import { DeltaJobStore } from './delta-jobs.ts';
import { DeploymentStore } from './deployments.ts';
import { DeviceDeploymentStore } from './device-deployments.ts';
import { DeviceHistoryStore } from './device-history.ts';
import { DeviceStore } from './devices.ts';
import { DevicesInDeployments } from './devices-in-deployments.ts';
import type { Sql } from './engine/sql.ts';
import { openMemorySql } from './engine/sql-memory.ts';
import { ignoreUnwritable } from './engine/storage-error.ts';
import { FileStore } from './files.ts';
import { GroupStore } from './groups.ts';
import { InventoryStore } from './inventory.ts';
import { MonitorStore } from './monitor.ts';
import { ReleaseStore } from './releases.ts';
import { RoleStore } from './roles.ts';
import { schema, tenantShape } from './schema.ts';
import { type DeviceReset, type RestoreOptions, type Snapshot, Snapshots } from './snapshot.ts';
import { TenantSettingStore } from './tenant-settings.ts';
import { UserTokenStore } from './user-tokens.ts';
import { UserStore } from './users.ts';

export interface Store {
  readonly users: UserStore;
  readonly userTokens: UserTokenStore;
  readonly roles: RoleStore;
  readonly confirmations: ConfirmationStore;
  readonly devices: DeviceStore;
  readonly artifacts: ArtifactStore;
  readonly releases: ReleaseStore;
  readonly deltaJobs: DeltaJobStore;
  readonly deployments: DeploymentStore;
  readonly deviceDeployments: DeviceDeploymentStore;
  readonly history: DeviceHistoryStore;
  readonly configurations: ConfigurationStore;
  readonly connections: ConnectionStore;
  readonly inventory: InventoryStore;
  /** The tags of the devices, which users write; `inventory` holds what devices report. */
  readonly tags: InventoryStore;
  readonly groups: GroupStore;
  readonly tenantSettings: TenantSettingStore;
  readonly monitor: MonitorStore;
  readonly auditLogs: AuditLogStore;
  readonly files: FileStore;
  /** Runs `work` in a transaction; an exception rolls back everything it wrote. */
  atomically<Result>(work: () => Result): Result;
  /**
   * Takes a snapshot of the whole state, including last check-ins, at one point in time between
   * call and end.
   */
  snapshot(): Promise<Snapshot>;
  /**
   * Restores this store from a snapshot, which may be another store's. Existing tokens of users
   * stay valid; every device counts as disconnected until it connects again.
   */
  restore(snapshot: Snapshot, options?: RestoreOptions): Promise<void>;
  /**
   * Restores one device and its device deployments from a snapshot. Newer unfinished deployments
   * are reset to the state before their first offer. Connection state and audit log are unchanged.
   */
  resetDevice(deviceId: string, snapshot: Snapshot, nowMs: number): DeviceReset;
  close(): void;
}

/** The location of a store: a folder, or memory and a temporary folder. */
interface StoreOptions {
  /** Created if missing. */
  readonly folder?: string;
}

/**
 * Opens the store in a folder, or an empty one.
 * @throws StateError when the folder's store cannot be used
 */
export async function openStore({ folder }: StoreOptions = {}): Promise<Store> {
  if (folder === undefined) {
    const memory = await openMemorySql(schema);
    return storeOver(memory, new FileStore(waitingFor(memory)));
  }
  // Loaded on demand, because only a server with a data folder needs the file engine.
  const { openStateFile } = await import('./engine/state-file.ts');
  const sql = openStateFile(join(folder, tenantFile), tenantShape);
  try {
    const files = new FileStore({
      folder: join(folder, artifactsFolder),
      ...waitingFor(sql),
    });
    const store = storeOver(sql, files);
    files.removeUnfinished();
    files.keepOnly(new Set(contentsIn(sql).map(({ sha256 }) => sha256)));
    store.devices.load();
    return store;
  } catch (error) {
    sql.abandon();
    throw error;
  }
}

function waitingFor(sql: Sql) {
  return {
    afterCommit: (callback: () => void) => sql.afterCommit(callback),
    afterRollback: (callback: () => void) => sql.afterRollback(callback),
  };
}

function storeOver(sql: Sql, files: FileStore): Store {
  const inDeployments = new DevicesInDeployments(sql);
  const areas = { ...areasOver(sql, inDeployments), files };
  const { auditLogs, connections, devices } = areas;
  inDeployments.load();
  const snapshots = new Snapshots(sql, areas);
  return {
    ...areas,
    atomically: (work) => sql.atomically(work),
    snapshot: () => {
      devices.cache.saveCheckIns();
      return snapshots.take();
    },
    restore: (snapshot, options = {}) => {
      const afterRestore = () => {
        auditLogs.load();
        devices.load();
        inDeployments.load();
        connections.disconnectAll();
      };
      return snapshots.restore(snapshot, { ...options, afterRestore });
    },
    resetDevice: (deviceId, snapshot, nowMs) => {
      const { reset, ids } = snapshots.resetDevice(deviceId, snapshot, nowMs);
      devices.loadDevices(ids);
      inDeployments.markMayBeOpen(ids);
      return reset;
    },
    close: () => {
      ignoreUnwritable(() => devices.cache.saveCheckIns());
      snapshots.discardAll();
      sql.close();
      files.close();
    },
  };
}

function areasOver(sql: Sql, inDeployments: DevicesInDeployments) {
  return {
    users: new UserStore(sql),
    userTokens: new UserTokenStore(sql),
    roles: new RoleStore(sql),
    confirmations: new ConfirmationStore(sql),
    devices: new DeviceStore(sql),
    artifacts: new ArtifactStore(sql),
    releases: new ReleaseStore(sql),
    deltaJobs: new DeltaJobStore(sql),
    deployments: new DeploymentStore(sql, inDeployments),
    deviceDeployments: new DeviceDeploymentStore(sql, inDeployments),
    history: new DeviceHistoryStore(sql, inDeployments),
    configurations: new ConfigurationStore(sql),
    connections: new ConnectionStore(sql),
    inventory: new InventoryStore(sql, 'inventory'),
    tags: new InventoryStore(sql, 'tags'),
    groups: new GroupStore(sql),
    tenantSettings: new TenantSettingStore(sql),
    monitor: new MonitorStore(sql),
    auditLogs: new AuditLogStore(sql),
  };
}
