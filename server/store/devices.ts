/** Devices and their authentication sets. Spec: States and transitions, device identity */
import type { AuthSetStatus, DeviceStatus } from '../../fixtures/contract/vocabulary.ts';
import { equal, filterBy, oneOf } from './filter.ts';
import { bounds, type Page } from './page.ts';
import { number, text, textOrNothing } from './row.ts';
import type { Sql, SqlRow } from './sql.ts';

export interface StoredAuthSet {
  readonly id: string;
  readonly deviceId: string;
  readonly publicKeyPem: string;
  readonly status: AuthSetStatus;
  readonly createdMs: number;
}

export interface StoredDevice {
  readonly id: string;
  /** Canonical JSON text of the identity. */
  readonly identity: string;
  readonly status: DeviceStatus;
  readonly externalId?: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  /** Last authenticated call, when there was one. */
  readonly checkInMs?: number;
}

/** What the hot path needs of a device with an accepted set, held in memory. */
export interface DeviceFacts {
  readonly deviceId: string;
  /** Last authenticated call; 0 before the first. */
  checkInMs: number;
}

/** What is recorded when an identity and a key are seen together for the first time. */
export interface NewAuthSet {
  readonly authSetId: string;
  readonly publicKeyPem: string;
  readonly status: AuthSetStatus;
  readonly nowMs: number;
}

/** The better status wins when a device's status is made from its sets. */
const statusRank: Record<AuthSetStatus, number> = {
  accepted: 4,
  preauthorized: 3,
  pending: 2,
  rejected: 1,
};

export interface DeviceFilter {
  readonly status: readonly DeviceStatus[];
  readonly id: readonly string[];
}

/** The verbs for devices. */
export class DeviceStore {
  readonly #sql: Sql;
  readonly #accepted = new Map<string, DeviceFacts>();
  readonly #facts = new Map<string, DeviceFacts>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The device whose accepted set this is; memory only, for every authenticated call. */
  acceptedDevice(authSetId: string): DeviceFacts | undefined {
    return this.#accepted.get(authSetId);
  }

  /** Builds the facts in memory anew from the tables, as after an undone transaction. */
  reload(): void {
    this.#accepted.clear();
    const query = "SELECT id, device_id FROM auth_sets WHERE status = 'accepted'";
    for (const row of this.#sql.all(query)) this.#accept(text(row, 'id'), text(row, 'device_id'));
  }

  findByIdentity(identity: string): StoredDevice | undefined {
    const row = this.#sql.first('SELECT * FROM devices WHERE identity = ?', [identity]);
    return row && this.#device(row);
  }

  find(id: string): StoredDevice | undefined {
    const row = this.#sql.first('SELECT * FROM devices WHERE id = ?', [id]);
    return row && this.#device(row);
  }

  /** Devices in order of their first contact. */
  list(filter: DeviceFilter, page: Page): StoredDevice[] {
    const { where, values } = filterBy(oneOf('status', filter.status), oneOf('id', filter.id));
    const query = `SELECT * FROM devices ${where} ORDER BY seq LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map((row) => this.#device(row));
  }

  count(status?: DeviceStatus): number {
    const { where, values } = filterBy(equal('status', status));
    const row = this.#sql.first(`SELECT count(*) AS n FROM devices ${where}`, values);
    return row ? number(row, 'n') : 0;
  }

  /** Ids of all accepted devices, at most `most`. */
  acceptedIds(most: number): string[] {
    const query = "SELECT id FROM devices WHERE status = 'accepted' ORDER BY seq LIMIT ?";
    return this.#sql.all(query, [most]).map((row) => text(row, 'id'));
  }

  authSets(deviceId: string): StoredAuthSet[] {
    const query =
      'SELECT * FROM auth_sets WHERE device_id = ? ORDER BY created_ms, rowid LIMIT 1000';
    return this.#sql.all(query, [deviceId]).map(authSet);
  }

  findAuthSet(deviceId: string, publicKeyPem: string): StoredAuthSet | undefined {
    const query = 'SELECT * FROM auth_sets WHERE device_id = ? AND pubkey = ?';
    const row = this.#sql.first(query, [deviceId, publicKeyPem]);
    return row && authSet(row);
  }

  /** Makes the device of a new identity together with its first set. */
  recordFirstContact(device: { id: string; identity: string }, set: NewAuthSet): void {
    this.#sql.atomically(() => {
      this.#sql.run(
        `INSERT INTO devices (id, identity, status, created_ms, updated_ms)
         VALUES (?, ?, ?, ?, ?)`,
        [device.id, device.identity, set.status, set.nowMs, set.nowMs],
      );
      this.recordAuthSet(device.id, set);
    });
  }

  /** Adds a set to a known device. */
  recordAuthSet(deviceId: string, set: NewAuthSet): void {
    this.#sql.atomically(() => {
      this.#sql.run('INSERT INTO auth_sets VALUES (?, ?, ?, ?, ?)', [
        set.authSetId,
        deviceId,
        set.publicKeyPem,
        set.status,
        set.nowMs,
      ]);
      this.#refreshStatus(deviceId, set.nowMs);
    });
  }

  recordExternalId(deviceId: string, externalId: string): void {
    this.#sql.run('UPDATE devices SET external_id = ? WHERE id = ?', [externalId, deviceId]);
  }

  /** Sets a set's status; accepting one rejects every other accepted set of the device. */
  setAuthSetStatus(set: StoredAuthSet, status: AuthSetStatus, nowMs: number): void {
    this.#sql.atomically(() => {
      if (status === 'accepted') {
        const others = `UPDATE auth_sets SET status = 'rejected'
          WHERE device_id = ? AND id <> ? AND status = 'accepted'`;
        this.#sql.run(others, [set.deviceId, set.id]);
      }
      this.#sql.run('UPDATE auth_sets SET status = ? WHERE id = ?', [status, set.id]);
      this.#refreshStatus(set.deviceId, nowMs);
    });
  }

  /** Forgets the device and its sets. */
  remove(deviceId: string): void {
    this.#sql.atomically(() => {
      for (const { id } of this.authSets(deviceId)) this.#accepted.delete(id);
      this.#sql.run('DELETE FROM auth_sets WHERE device_id = ?', [deviceId]);
      this.#sql.run('DELETE FROM devices WHERE id = ?', [deviceId]);
      this.#facts.delete(deviceId);
    });
  }

  #refreshStatus(deviceId: string, nowMs: number): void {
    const sets = this.authSets(deviceId);
    const best = sets.toSorted((a, b) => statusRank[b.status] - statusRank[a.status])[0];
    this.#sql.run('UPDATE devices SET status = ?, updated_ms = ? WHERE id = ?', [
      best?.status ?? 'noauth',
      nowMs,
      deviceId,
    ]);
    for (const { id, status } of sets) {
      if (status === 'accepted') this.#accept(id, deviceId);
      else this.#accepted.delete(id);
    }
  }

  #accept(authSetId: string, deviceId: string): void {
    const facts = this.#facts.get(deviceId) ?? { deviceId, checkInMs: 0 };
    this.#facts.set(deviceId, facts);
    this.#accepted.set(authSetId, facts);
  }

  #device(row: SqlRow): StoredDevice {
    const id = text(row, 'id');
    const externalId = textOrNothing(row, 'external_id');
    const checkInMs = this.#facts.get(id)?.checkInMs;
    return {
      id,
      identity: text(row, 'identity'),
      status: text(row, 'status') as DeviceStatus,
      createdMs: number(row, 'created_ms'),
      updatedMs: number(row, 'updated_ms'),
      ...(externalId !== undefined && { externalId }),
      ...(checkInMs && { checkInMs }),
    };
  }
}

function authSet(row: SqlRow): StoredAuthSet {
  return {
    id: text(row, 'id'),
    deviceId: text(row, 'device_id'),
    publicKeyPem: text(row, 'pubkey'),
    status: text(row, 'status') as AuthSetStatus,
    createdMs: number(row, 'created_ms'),
  };
}
