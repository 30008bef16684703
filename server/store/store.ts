/** The store: all verbs of all areas over one database and one folder of files. */
import { ArtifactStore } from './artifacts.ts';
import { AuditLogStore } from './audit-logs.ts';
import { ConfigurationStore } from './configurations.ts';
import { ConfirmationStore } from './confirmations.ts';
import { ConnectionStore } from './connections.ts';
import { DeltaJobStore } from './delta-jobs.ts';
import { DeploymentDeviceStore } from './deployment-devices.ts';
import { DeploymentStore } from './deployments.ts';
import { DeviceHistoryStore } from './device-history.ts';
import { DeviceStore } from './devices.ts';
import { FileStore } from './files.ts';
import { GroupStore } from './groups.ts';
import { InventoryStore } from './inventory.ts';
import { MonitorStore } from './monitor.ts';
import { ReleaseStore } from './releases.ts';
import { RoleStore } from './roles.ts';
import { schema } from './schema.ts';
import { openSql } from './sql.ts';
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
  readonly parts: DeploymentDeviceStore;
  readonly history: DeviceHistoryStore;
  readonly configurations: ConfigurationStore;
  readonly connections: ConnectionStore;
  readonly inventory: InventoryStore;
  readonly tags: InventoryStore;
  readonly groups: GroupStore;
  readonly tenantSettings: TenantSettingStore;
  readonly monitor: MonitorStore;
  readonly auditLogs: AuditLogStore;
  readonly files: FileStore;
  /** Runs `work` so that an exception undoes all it wrote. */
  atomically<Result>(work: () => Result): Result;
  close(): void;
}

/** Opens an empty store in memory, with a temporary folder for artifact files. */
export async function openStore(): Promise<Store> {
  const sql = await openSql(schema);
  const devices = new DeviceStore(sql);
  const files = new FileStore();
  return {
    users: new UserStore(sql),
    userTokens: new UserTokenStore(sql),
    roles: new RoleStore(sql),
    confirmations: new ConfirmationStore(sql),
    devices,
    artifacts: new ArtifactStore(sql),
    releases: new ReleaseStore(sql),
    deltaJobs: new DeltaJobStore(sql),
    deployments: new DeploymentStore(sql),
    parts: new DeploymentDeviceStore(sql),
    history: new DeviceHistoryStore(sql),
    configurations: new ConfigurationStore(sql),
    connections: new ConnectionStore(sql),
    inventory: new InventoryStore(sql, 'inventory'),
    tags: new InventoryStore(sql, 'tags'),
    groups: new GroupStore(sql),
    tenantSettings: new TenantSettingStore(sql),
    monitor: new MonitorStore(sql),
    auditLogs: new AuditLogStore(sql),
    files,
    atomically: (work) => {
      try {
        return sql.atomically(work);
      } catch (fault) {
        devices.reload();
        throw fault;
      }
    },
    close: () => {
      sql.close();
      files.close();
    },
  };
}
