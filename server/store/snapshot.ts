/**
 * Snapshots of a store: taken whole, and restored whole or for one device, while handlers keep the
 * same store. Names are given by the caller.
 */
import type { ArtifactStore } from './artifacts.ts';
import type { DeploymentDeviceStore } from './deployment-devices.ts';
import type { DeviceHistoryStore } from './device-history.ts';
import type { FileContent, FileStore } from './files.ts';
import { number, text } from './row.ts';
import type { Sql, SqlCopy } from './sql.ts';

/** The state of a store at one moment; it can be restored in any store of this process. */
export interface Snapshot {
  readonly copy: SqlCopy;
  /** Contents of artifact files, which stay in the folder as long as the snapshot. */
  readonly contents: readonly FileContent[];
  readonly folder: string;
  isDiscarded(): boolean;
  /** Frees its memory and files; it cannot be restored any more. */
  discard(): void;
}

/** How much of a snapshot is restored. */
export interface RestoreOptions {
  /** Leaves users and roles as they are, as when the snapshot is another tenant's. */
  readonly keepsUsers?: boolean;
}

/** The outcome for a device: as in the snapshot, removed as the snapshot lacks it, or unknown. */
export type DeviceReset = 'restored' | 'gone' | 'unknown';

/** Which devices were touched by the reset of one. */
interface ResetDevice {
  readonly reset: DeviceReset;
  readonly ids: readonly string[];
}

/** The areas of the store that a snapshot touches beyond its tables. */
interface Areas {
  readonly artifacts: ArtifactStore;
  readonly files: FileStore;
  readonly parts: DeploymentDeviceStore;
  readonly history: DeviceHistoryStore;
}

/** Sign-ins are not restored: users keep their tokens. */
const signIns = 'user_tokens';
const usersTables: ReadonlySet<string> = new Set([signIns, 'users', 'roles', 'confirmations']);

/** Tables with rows of one device, by `device_id`; presence and parts have rules of their own. */
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

const inSnapshot = 'SELECT id FROM snapshot.deployments';

/** The snapshots of one store. */
export class Snapshots {
  readonly #sql: Sql;
  readonly #artifacts: ArtifactStore;
  readonly #files: FileStore;
  readonly #parts: DeploymentDeviceStore;
  readonly #history: DeviceHistoryStore;
  readonly #live = new Set<Snapshot>();

  constructor(sql: Sql, { artifacts, files, parts, history }: Areas) {
    this.#sql = sql;
    this.#artifacts = artifacts;
    this.#files = files;
    this.#parts = parts;
    this.#history = history;
  }

  take(): Snapshot {
    const contents = this.#artifacts.contents();
    const names = contents.map(({ sha256 }) => sha256);
    const copy = this.#sql.copy();
    this.#files.hold(names);
    const snapshot: Snapshot = {
      copy,
      contents,
      folder: this.#files.folder,
      isDiscarded: () => !this.#live.has(snapshot),
      discard: () => {
        if (!this.#live.delete(snapshot)) return;
        copy.discard();
        this.#files.release(names);
      },
    };
    this.#live.add(snapshot);
    return snapshot;
  }

  /** Brings everything back but presence: every device counts as disconnected. */
  restore(snapshot: Snapshot, { keepsUsers = false }: RestoreOptions): void {
    const { contents, folder } = snapshot;
    if (folder !== this.#files.folder && !snapshot.isDiscarded()) {
      for (const content of contents) this.#files.adopt(folder, content);
    }
    this.#reading(snapshot, () => this.#copyTables(keepsUsers ? usersTables : new Set([signIns])));
    this.#files.keepOnly(new Set(contents.map(({ sha256 }) => sha256)));
  }

  /** Brings one device back; presence stays as it is, unless the device is gone. */
  resetDevice(deviceId: string, snapshot: Snapshot, nowMs: number): ResetDevice {
    return this.#reading(snapshot, () => {
      const { wantedId, ids } = this.#devicesToReset(deviceId);
      const isHere = this.#sql.first('SELECT 1 FROM main.devices WHERE id = ?', [deviceId]);
      const deployments = new Set(ids.flatMap((id) => this.#deploymentsOf(id)));
      for (const id of ids) this.#remove(id, id === wantedId);
      if (wantedId) this.#bringBack(wantedId);
      this.#parts.refresh([...deployments], nowMs);
      const absent = isHere ? 'gone' : 'unknown';
      return { reset: wantedId ? 'restored' : absent, ids };
    });
  }

  discardAll(): void {
    for (const snapshot of this.#live) snapshot.discard();
  }

  #reading<Result>({ copy, isDiscarded }: Snapshot, work: () => Result): Result {
    if (isDiscarded()) throw new Error('the snapshot was discarded');
    this.#sql.run('ATTACH ? AS snapshot', [copy.location]);
    try {
      return this.#sql.atomically(work);
    } finally {
      this.#sql.run('DETACH snapshot');
    }
  }

  #copyTables(kept: ReadonlySet<string>): void {
    const query = `SELECT name FROM main.sqlite_master
      WHERE type = 'table' AND (name NOT LIKE 'sqlite_%' OR name = 'sqlite_sequence')`;
    for (const row of this.#sql.all(query)) {
      const table = text(row, 'name');
      if (kept.has(table)) continue;
      const own = table === 'sqlite_sequence' ? notOf(kept) : '';
      this.#sql.run(`DELETE FROM main.${table} ${own}`);
      this.#sql.run(`INSERT INTO main.${table} SELECT * FROM snapshot.${table} ${own}`);
    }
    this.#sql.run(`DELETE FROM ${signIns} WHERE user_id NOT IN (SELECT id FROM main.users)`);
  }

  /** The device of the snapshot, if it has it, and the ids under which it is to be removed here. */
  #devicesToReset(deviceId: string) {
    const known = 'SELECT identity FROM main.devices WHERE id = ?';
    const wanted = this.#sql.first(
      `SELECT id, identity FROM snapshot.devices WHERE id = ? OR identity = (${known})
       ORDER BY id = ? DESC LIMIT 1`,
      [deviceId, deviceId, deviceId],
    );
    const wantedId = wanted && text(wanted, 'id');
    // A device that was removed since and came again has another id, and the same identity.
    const others = this.#sql.all('SELECT id FROM main.devices WHERE identity = ?', [
      wanted ? text(wanted, 'identity') : null,
    ]);
    const ids = new Set([deviceId, ...others.map((row) => text(row, 'id'))]);
    if (wantedId) ids.add(wantedId);
    return { wantedId, ids: [...ids] };
  }

  /** Those that the device has, or will have, a part in. */
  #deploymentsOf(deviceId: string): number[] {
    const rows = this.#sql.all(
      `SELECT deployment_seq AS seq FROM main.deployment_devices WHERE device_id = ?
       UNION SELECT m.seq FROM main.deployments m JOIN snapshot.deployments d ON d.id = m.id
         JOIN snapshot.deployment_devices p ON p.deployment_seq = d.seq WHERE p.device_id = ?`,
      [deviceId, deviceId],
    );
    return rows.map((row) => number(row, 'seq'));
  }

  #remove(deviceId: string, comesBack: boolean): void {
    for (const table of deviceTables) {
      this.#sql.run(`DELETE FROM main.${table} WHERE device_id = ?`, [deviceId]);
    }
    this.#sql.run('DELETE FROM main.devices WHERE id = ?', [deviceId]);
    if (comesBack) {
      this.#sql.run(
        `DELETE FROM main.deployment_devices WHERE device_id = ? AND deployment_seq IN
           (SELECT seq FROM main.deployments WHERE id IN (${inSnapshot}))`,
        [deviceId],
      );
      this.#history.startOver(deviceId);
    } else {
      this.#sql.run('DELETE FROM main.connections WHERE device_id = ?', [deviceId]);
      this.#sql.run('DELETE FROM main.deployment_devices WHERE device_id = ?', [deviceId]);
    }
  }

  #bringBack(deviceId: string): void {
    this.#copyRows('devices', 'id = ?', deviceId);
    for (const table of deviceTables) this.#copyRows(table, 'device_id = ?', deviceId);
    const [, ...parts] = this.#columns('deployment_devices').map((column) => `s.${column}`);
    this.#sql.run(
      `INSERT INTO main.deployment_devices
       SELECT m.seq, ${parts.join(', ')}
       FROM (SELECT p.*, d.id AS deployment_id FROM snapshot.deployment_devices p
         JOIN snapshot.deployments d ON d.seq = p.deployment_seq WHERE p.device_id = ?) s
       JOIN main.deployments m ON m.id = s.deployment_id`,
      [deviceId],
    );
  }

  /** A place in the order that has been given away meanwhile is changed for a new one. */
  #copyRows(table: string, condition: string, deviceId: string): void {
    const columns = this.#columns(table);
    const values = columns.map((column) =>
      column === 'seq'
        ? `CASE WHEN EXISTS (SELECT 1 FROM main.${table} m WHERE m.seq = s.seq) THEN NULL ELSE seq END`
        : column,
    );
    this.#sql.run(
      `INSERT INTO main.${table} (${columns.join(', ')})
       SELECT ${values.join(', ')} FROM snapshot.${table} s WHERE ${condition}`,
      [deviceId],
    );
  }

  #columns(table: string): string[] {
    const rows = this.#sql.all('SELECT name FROM pragma_table_info(?)', [table]);
    return rows.map((row) => text(row, 'name'));
  }
}

function notOf(tables: ReadonlySet<string>): string {
  return `WHERE name NOT IN (${[...tables].map((table) => `'${table}'`).join(', ')})`;
}
