/** The store: all verbs of all areas over one database and one folder of files. */
import { ArtifactStore } from './artifacts.ts';
import { AuditLogStore } from './audit-logs.ts';
import { ConfigurationStore } from './configurations.ts';
import { ConnectionStore } from './connections.ts';
import { DeploymentDeviceStore } from './deployment-devices.ts';
import { DeploymentStore } from './deployments.ts';
import { DeviceStore } from './devices.ts';
import { FileStore } from './files.ts';
import { InventoryStore } from './inventory.ts';
import { MonitorStore } from './monitor.ts';
import { schema } from './schema.ts';
import { openSql } from './sql.ts';
import { UserStore } from './users.ts';

export interface Store {
  readonly users: UserStore;
  readonly devices: DeviceStore;
  readonly artifacts: ArtifactStore;
  readonly deployments: DeploymentStore;
  readonly parts: DeploymentDeviceStore;
  readonly configurations: ConfigurationStore;
  readonly connections: ConnectionStore;
  readonly inventory: InventoryStore;
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
    devices,
    artifacts: new ArtifactStore(sql),
    deployments: new DeploymentStore(sql),
    parts: new DeploymentDeviceStore(sql),
    configurations: new ConfigurationStore(sql),
    connections: new ConnectionStore(sql),
    inventory: new InventoryStore(sql),
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
