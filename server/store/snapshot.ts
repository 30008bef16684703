/**
 * Snapshots of a store. A snapshot is restored as a whole or for one device, while handlers keep
 * using the same store object.
 */
import { contentsIn } from './artifacts.ts';
import type { ConnectionStore } from './connections.ts';
import type { DeviceDeploymentStore } from './device-deployments.ts';
import type { DeviceHistoryStore } from './device-history.ts';
import { number, text } from './engine/row.ts';
import { insertRow, type Sql, type SqlCopy, type SqlRow } from './engine/sql.ts';
import type { FileContent, FileStore } from './files.ts';

/** The state of a store at one point in time. It can be restored in any store of this process. */
export interface Snapshot {
  readonly copy: SqlCopy;
  /** The artifact files of the snapshot, which stay in the folder until it is discarded. */
  readonly contents: readonly FileContent[];
  readonly folder: string;
  /** Frees memory and files; the snapshot cannot be restored any more. */
  discard(): void;
}

/** Options of a restore. */
export interface RestoreOptions {
  /** Leaves users and roles unchanged; for a snapshot of another tenant. */
  readonly keepsUsers?: boolean;
  /** Runs immediately before the restore, in the same iteration of the event loop. */
  readonly beforeRestore?: () => void;
}

interface AfterRestore {
  readonly afterRestore: () => void;
}

/**
 * The outcome for a device: restored, removed because the snapshot does not contain it, or unknown
 * in both.
 */
export type DeviceReset = 'restored' | 'removed' | 'unknown';

/** The result of resetting a device, with the IDs of all devices that were changed. */
interface ResetDevice {
  readonly reset: DeviceReset;
  readonly ids: readonly string[];
}

/** Stores that a restore must update besides the tables. */
interface Areas {
  readonly connections: ConnectionStore;
  readonly files: FileStore;
  readonly deviceDeployments: DeviceDeploymentStore;
  readonly history: DeviceHistoryStore;
}

/** Tokens are not restored: users stay logged in. */
const userTokens = 'user_tokens';
const usersTables: ReadonlySet<string> = new Set([userTokens, 'users', 'roles', 'confirmations']);

/**
 * Tables with rows of a device, by `device_id`. Connections and device deployments are handled
 * separately.
 */
const deviceTables = [
  'device_groups',
  'auth_sets',
  'configurations',
  'attributes',
  'attribute_versions',
  'alerts',
  'alert_subjects',
  'monitor_configurations',
] as const;

/** Takes and restores the snapshots of one store. */
export class Snapshots {
  readonly #sql: Sql;
  readonly #connections: ConnectionStore;
  readonly #files: FileStore;
  readonly #deviceDeployments: DeviceDeploymentStore;
  readonly #history: DeviceHistoryStore;
  readonly #live = new Set<Snapshot>();

  constructor(sql: Sql, { connections, files, deviceDeployments, history }: Areas) {
    this.#sql = sql;
    this.#connections = connections;
    this.#files = files;
    this.#deviceDeployments = deviceDeployments;
    this.#history = history;
  }

  /** Takes a snapshot of the state at one point in time between call and end. */
  async take(): Promise<Snapshot> {
    const heldNames = namesOf(contentsIn(this.#sql));
    // Files that the copy refers to must not be removed while it is made.
    this.#files.hold(heldNames);
    try {
      const copy = await this.#sql.copy();
      const contents = contentsIn(copy);
      this.#files.hold(namesOf(contents));
      return this.#keep(copy, contents);
    } finally {
      this.#files.release(heldNames);
    }
  }

  #keep(copy: SqlCopy, contents: readonly FileContent[]): Snapshot {
    const snapshot: Snapshot = {
      copy,
      contents,
      folder: this.#files.folder,
      discard: () => {
        if (!this.#live.delete(snapshot)) return;
        copy.discard();
        this.#files.release(namesOf(contents));
      },
    };
    this.#live.add(snapshot);
    return snapshot;
  }

  /**
   * Restores everything except the connection state.
   * @param afterRestore runs immediately after the restore, in the same iteration of the event loop
   */
  async restore(
    { copy, contents, folder }: Snapshot,
    {
      keepsUsers = false,
      beforeRestore = () => undefined,
      afterRestore,
    }: RestoreOptions & AfterRestore,
  ): Promise<void> {
    requireKept(copy);
    if (folder !== this.#files.folder) {
      for (const content of contents) await this.#files.adopt(folder, content);
    }
    requireKept(copy);
    const keptTables = keepsUsers ? usersTables : new Set([userTokens]);
    const within = (): void => {
      this.#sql.run(`DELETE FROM ${userTokens} WHERE user_id NOT IN (SELECT id FROM users)`);
    };
    await this.#sql.restore(copy, { keptTables, beforeRestore, within, afterRestore });
    this.#files.keepOnly(new Set(namesOf(contents)));
  }

  /** Restores one device. Its connection state changes only if the device is removed. */
  resetDevice(deviceId: string, { copy }: Snapshot, nowMs: number): ResetDevice {
    requireKept(copy);
    return this.#sql.atomically(() => {
      const { wantedId, ids } = this.#devicesToReset(deviceId, copy);
      const isHere = this.#sql.first('SELECT 1 FROM devices WHERE id = ?', [deviceId]);
      const deployments = new Set(ids.flatMap((id) => this.#deploymentsOf(id, copy)));
      for (const id of ids) this.#remove(id, id === wantedId ? copy : undefined);
      if (wantedId) this.#bringBack(wantedId, copy);
      this.#deviceDeployments.refresh([...deployments], nowMs);
      const absent = isHere ? 'removed' : 'unknown';
      return { reset: wantedId ? 'restored' : absent, ids };
    });
  }

  discardAll(): void {
    for (const snapshot of this.#live) snapshot.discard();
  }

  /** Finds the device in the snapshot, and the IDs of the devices to remove from the store. */
  #devicesToReset(deviceId: string, copy: SqlCopy) {
    const identityOf = 'SELECT identity FROM devices WHERE id = ?';
    const identity = this.#sql.first(identityOf, [deviceId])?.identity ?? null;
    const [wanted] = copy.all(
      'SELECT id, identity FROM devices WHERE id = ? OR identity = ? ORDER BY id = ? DESC LIMIT 1',
      [deviceId, identity, deviceId],
    );
    const wantedId = wanted && text(wanted, 'id');
    // A device that was removed and has registered again has a new ID, but the same identity.
    const sameIdentity = this.#sql.all('SELECT id FROM devices WHERE identity = ?', [
      wanted ? text(wanted, 'identity') : null,
    ]);
    const ids = new Set([deviceId, ...sameIdentity.map((row) => text(row, 'id'))]);
    if (wantedId) ids.add(wantedId);
    return { wantedId, ids: [...ids] };
  }

  /** Returns the deployments that contain the device now or after the reset. */
  #deploymentsOf(deviceId: string, copy: SqlCopy): number[] {
    const rows = this.#sql.all(
      `SELECT deployment_seq AS seq FROM device_deployments WHERE device_id = ?
       UNION SELECT seq FROM deployments WHERE id IN (SELECT value FROM json_each(?))`,
      [deviceId, JSON.stringify(deploymentIds(copy, deviceId))],
    );
    return rows.map((row) => number(row, 'seq'));
  }

  /**
   * Removes a device.
   * @param copy the snapshot from which the device is restored afterwards; undefined if it is not
   */
  #remove(deviceId: string, copy: SqlCopy | undefined): void {
    for (const table of deviceTables) {
      this.#sql.run(`DELETE FROM ${table} WHERE device_id = ?`, [deviceId]);
    }
    this.#sql.run('DELETE FROM devices WHERE id = ?', [deviceId]);
    if (copy) {
      const deploymentsJson = JSON.stringify(deploymentIds(this.#sql, deviceId));
      const inCopy = copy.all(
        'SELECT id FROM deployments WHERE id IN (SELECT value FROM json_each(?))',
        [deploymentsJson],
      );
      this.#sql.run(
        `DELETE FROM device_deployments WHERE device_id = ? AND deployment_seq IN
           (SELECT seq FROM deployments WHERE id IN (SELECT value FROM json_each(?)))`,
        [deviceId, JSON.stringify(inCopy.map(({ id }) => id))],
      );
      this.#history.restart(deviceId);
    } else {
      this.#connections.remove(deviceId);
      this.#sql.run('DELETE FROM device_deployments WHERE device_id = ?', [deviceId]);
    }
  }

  #bringBack(deviceId: string, copy: SqlCopy): void {
    for (const row of copy.all('SELECT * FROM devices WHERE id = ?', [deviceId])) {
      this.#insert('devices', row);
    }
    for (const table of deviceTables) {
      const rows = copy.all(`SELECT * FROM ${table} WHERE device_id = ?`, [deviceId]);
      for (const row of rows) this.#insert(table, row);
    }
    const deviceDeployments = copy.all(
      `SELECT dd.*, d.id AS deployment_id FROM device_deployments dd
       JOIN deployments d ON d.seq = dd.deployment_seq WHERE dd.device_id = ?`,
      [deviceId],
    );
    for (const { deployment_id: id = null, ...deviceDeployment } of deviceDeployments) {
      const seq = this.#sql.first('SELECT seq FROM deployments WHERE id = ?', [id])?.seq;
      if (seq !== undefined)
        this.#insert('device_deployments', { ...deviceDeployment, deployment_seq: seq });
    }
  }

  /** Inserts a row; gives it a new `seq` if another row uses the old one by now. */
  #insert(table: string, row: SqlRow): void {
    const seqQuery = row.seq === undefined ? undefined : `SELECT 1 FROM ${table} WHERE seq = ?`;
    const isTaken = seqQuery !== undefined && this.#sql.first(seqQuery, [row.seq ?? null]);
    insertRow(this.#sql, table, isTaken ? { ...row, seq: null } : row);
  }
}

/** Returns the IDs of the deployments that contain the device. */
function deploymentIds(sql: Pick<Sql, 'all'>, deviceId: string): string[] {
  const rows = sql.all(
    `SELECT d.id FROM device_deployments dd JOIN deployments d ON d.seq = dd.deployment_seq
     WHERE dd.device_id = ?`,
    [deviceId],
  );
  return rows.map((row) => text(row, 'id'));
}

function namesOf(contents: readonly FileContent[]): string[] {
  return contents.map(({ sha256 }) => sha256);
}

function requireKept(copy: SqlCopy): void {
  if (copy.isDiscarded()) throw new Error('the snapshot was discarded');
}
