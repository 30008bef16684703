/** Stores devices and their authentication sets. Spec: States and transitions */
import type { AuthSetStatus, DeviceStatus } from '../../fixtures/contract/vocabulary.ts';
import {
  deviceStatusOf,
  statusOfOtherSet,
  tokensValidFromAfter,
  tokensValidFromRevocation,
} from '../rules/auth-set-status.ts';
import { DeviceCache } from './device-cache.ts';
import { type DeviceFilter, deviceFilter } from './device-filter.ts';
import { bounds, type Page } from './engine/page.ts';
import { number, numberIn, optionalNumber, optionalText, text } from './engine/row.ts';
import type { Sql, SqlRow } from './engine/sql.ts';
import { type UnacceptedKeys, UnacceptedKeyTotals } from './unaccepted-keys.ts';

export interface StoredAuthSet {
  readonly id: string;
  readonly deviceId: string;
  readonly publicKeyPem: string;
  readonly status: AuthSetStatus;
  readonly createdMs: number;
  /** Tokens issued before this time, in seconds since the Unix epoch, are revoked. */
  readonly tokensValidFromSeconds: number;
}

export interface StoredDevice {
  readonly id: string;
  /** Canonical JSON text of the identity. */
  readonly identity: string;
  readonly status: DeviceStatus;
  readonly externalId?: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  /** Time of the first acceptance; absent for a device that was never accepted. */
  readonly acceptedMs?: number;
  /** Time of the last authenticated request; absent before the first. */
  readonly checkInMs?: number;
}

/**
 * An authentication set to be stored, for an identity and a key that were not seen together before.
 */
export interface NewAuthSet {
  readonly id: string;
  readonly publicKeyPem: string;
  readonly status: AuthSetStatus;
  readonly nowMs: number;
}

/** Number of devices that `readBatches` reads at a time. */
const BATCH_DEVICES = 500;

/**
 * Number of sets of a device that are read. No device has as many (`limits.authSetsMax`), but every
 * read has a limit.
 */
const AUTH_SETS_READ_MAX = 1000;

/** Reads and writes the devices of a tenant. */
export class DeviceStore {
  readonly cache: DeviceCache;
  readonly #sql: Sql;
  readonly #unacceptedKeys: UnacceptedKeyTotals;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.cache = new DeviceCache(sql);
    this.#unacceptedKeys = new UnacceptedKeyTotals(sql);
  }

  /** Number and size of the keys that were never accepted. */
  get unacceptedKeys(): UnacceptedKeys {
    return this.#unacceptedKeys.totals;
  }

  /** Rebuilds what is kept in memory, after the tables were replaced. */
  load(): void {
    this.cache.load();
    this.#unacceptedKeys.load();
  }

  /** Rebuilds what is kept in memory of some devices. */
  loadDevices(ids: readonly string[]): void {
    this.cache.loadDevices(ids);
    this.#unacceptedKeys.load();
  }

  findByIdentity(identity: string): StoredDevice | undefined {
    const row = this.#sql.first('SELECT * FROM devices WHERE identity = ?', [identity]);
    return row && this.#device(row);
  }

  find(id: string): StoredDevice | undefined {
    const row = this.#sql.first('SELECT * FROM devices WHERE id = ?', [id]);
    return row && this.#device(row);
  }

  /** Returns a page of devices in order of first contact. */
  list(filter: DeviceFilter, page: Page): StoredDevice[] {
    const { where, values } = deviceFilter(filter);
    const query = `SELECT * FROM devices ${where} ORDER BY seq LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map((row) => this.#device(row));
  }

  /** Returns a page of device IDs in order of first contact. */
  listIds(filter: DeviceFilter, page: Page): string[] {
    const { where, values } = deviceFilter(filter);
    const query = `SELECT id FROM devices ${where} ORDER BY seq LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map((row) => text(row, 'id'));
  }

  /** Returns the first ID that no device has, or no device in these groups. */
  firstUnknownId(ids: readonly string[], groups?: readonly string[]): string | undefined {
    const { where, values } = deviceFilter({ groups });
    const query = `SELECT value FROM json_each(?)
      WHERE value NOT IN (SELECT id FROM devices ${where}) ORDER BY key LIMIT 1`;
    const row = this.#sql.first(query, [JSON.stringify(ids), ...values]);
    return row && text(row, 'value');
  }

  /**
   * Yields all devices in order of first contact. Reads a few hundred at a time, so that other work
   * can run in between.
   */
  *readBatches(filter: DeviceFilter): Generator<StoredDevice[]> {
    for (let afterSeq = 0; ; ) {
      const { where, values } = deviceFilter({ ...filter, afterSeq });
      const query = `SELECT * FROM devices ${where} ORDER BY seq LIMIT ${BATCH_DEVICES}`;
      const rows = this.#sql.all(query, values);
      const last = rows.at(-1);
      if (!last) return;
      afterSeq = number(last, 'seq');
      yield rows.map((row) => this.#device(row));
    }
  }

  count(filter: DeviceFilter = {}): number {
    const { where, values } = deviceFilter(filter);
    return numberIn(this.#sql, `SELECT count(*) AS n FROM devices ${where}`, values);
  }

  listAuthSets(deviceId: string): StoredAuthSet[] {
    const query = 'SELECT * FROM auth_sets WHERE device_id = ? ORDER BY created_ms, rowid LIMIT ?';
    return this.#sql.all(query, [deviceId, AUTH_SETS_READ_MAX]).map(authSetOf);
  }

  findAuthSet(deviceId: string, publicKeyPem: string): StoredAuthSet | undefined {
    const query = 'SELECT * FROM auth_sets WHERE device_id = ? AND pubkey = ?';
    const row = this.#sql.first(query, [deviceId, publicKeyPem]);
    return row && authSetOf(row);
  }

  findAuthSetById(id: string): StoredAuthSet | undefined {
    const row = this.#sql.first('SELECT * FROM auth_sets WHERE id = ?', [id]);
    return row && authSetOf(row);
  }

  /** Returns at most `max` public keys: those of this identity first, then the newest. */
  newestKeys(identity: string, max: number): Pick<StoredAuthSet, 'deviceId' | 'publicKeyPem'>[] {
    const query = `SELECT device_id, pubkey FROM auth_sets JOIN devices ON devices.id = device_id
       ORDER BY identity = ? DESC, auth_sets.rowid DESC LIMIT ?`;
    return this.#sql
      .all(query, [identity, max])
      .map((row) => ({ deviceId: text(row, 'device_id'), publicKeyPem: text(row, 'pubkey') }));
  }

  /** Stores a new device with its first set. */
  recordFirstContact(device: { id: string; identity: string }, set: NewAuthSet): StoredAuthSet {
    return this.#sql.atomically(() => {
      this.#sql.run(
        `INSERT INTO devices (id, identity, status, created_ms, updated_ms)
         VALUES (?, ?, ?, ?, ?)`,
        [device.id, device.identity, set.status, set.nowMs, set.nowMs],
      );
      return this.recordAuthSet(device.id, set);
    });
  }

  /** Adds a set to an existing device. */
  recordAuthSet(deviceId: string, set: NewAuthSet): StoredAuthSet {
    this.#unacceptedKeys.updateTotalsAround(deviceId, () => {
      this.#sql.run(
        `INSERT INTO auth_sets (id, device_id, pubkey, status, created_ms)
         VALUES (?, ?, ?, ?, ?)`,
        [set.id, deviceId, set.publicKeyPem, set.status, set.nowMs],
      );
      this.#refreshStatus(deviceId, set.nowMs);
    });
    const { id, publicKeyPem, status, nowMs: createdMs } = set;
    return { id, deviceId, publicKeyPem, status, createdMs, tokensValidFromSeconds: 0 };
  }

  recordExternalId(deviceId: string, externalId: string): void {
    this.#sql.run('UPDATE devices SET external_id = ? WHERE id = ?', [externalId, deviceId]);
  }

  /**
   * Sets the status of an authentication set, and updates the device and its other sets
   * accordingly.
   */
  setAuthSetStatus(
    { id, deviceId }: Pick<StoredAuthSet, 'id' | 'deviceId'>,
    status: AuthSetStatus,
    nowMs: number,
  ): void {
    this.#unacceptedKeys.updateTotalsAround(deviceId, () => {
      for (const authSet of this.listAuthSets(deviceId)) {
        const next = authSet.id === id ? status : statusOfOtherSet(authSet.status, status);
        if (next === authSet.status) continue;
        this.#sql.run(
          'UPDATE auth_sets SET status = ?, tokens_valid_from_seconds = ? WHERE id = ?',
          [next, tokensValidFromAfter(authSet, next, seconds(nowMs)), authSet.id],
        );
      }
      this.#refreshStatus(deviceId, nowMs);
    });
  }

  /** Revokes every token that was issued for the set; tokens issued later are valid. */
  revokeTokens({ id }: Pick<StoredAuthSet, 'id'>, nowMs: number): void {
    const set = this.findAuthSetById(id);
    if (!set) return;
    const tokensValidFromSeconds = tokensValidFromRevocation(set, seconds(nowMs));
    this.#sql.run('UPDATE auth_sets SET tokens_valid_from_seconds = ? WHERE id = ?', [
      tokensValidFromSeconds,
      id,
    ]);
    this.cache.change(set.deviceId, [id], () => {
      if (set.status === 'accepted') this.cache.addAcceptedSet({ ...set, tokensValidFromSeconds });
    });
  }

  /** Removes one set; the device remains. */
  removeAuthSet(set: StoredAuthSet, nowMs: number): void {
    this.#unacceptedKeys.updateTotalsAround(set.deviceId, () => {
      this.#sql.run('DELETE FROM auth_sets WHERE id = ?', [set.id]);
      this.cache.change(set.deviceId, [set.id], () => this.cache.removeAcceptedSet(set.id));
      this.#refreshStatus(set.deviceId, nowMs);
    });
  }

  /** Removes the device and its sets. */
  remove(deviceId: string): void {
    this.#unacceptedKeys.updateTotalsAround(deviceId, () => {
      const ids = this.listAuthSets(deviceId).map(({ id }) => id);
      this.#sql.run('DELETE FROM auth_sets WHERE device_id = ?', [deviceId]);
      this.#sql.run('DELETE FROM devices WHERE id = ?', [deviceId]);
      this.cache.change(deviceId, ids, () => {
        for (const id of ids) this.cache.removeAcceptedSet(id);
        this.cache.removeDevice(deviceId);
      });
    });
  }

  #refreshStatus(deviceId: string, nowMs: number): void {
    const sets = this.listAuthSets(deviceId);
    const status = deviceStatusOf(sets.map((set) => set.status));
    this.#sql.run(
      `UPDATE devices SET status = ?, updated_ms = ?, accepted_ms = coalesce(accepted_ms, ?)
       WHERE id = ?`,
      [status, nowMs, status === 'accepted' ? nowMs : null, deviceId],
    );
    const ids = sets.map(({ id }) => id);
    this.cache.change(deviceId, ids, () => {
      for (const set of sets) {
        if (set.status === 'accepted') this.cache.addAcceptedSet(set);
        else this.cache.removeAcceptedSet(set.id);
      }
    });
  }

  #device(row: SqlRow): StoredDevice {
    const id = text(row, 'id');
    const externalId = optionalText(row, 'external_id');
    const acceptedMs = optionalNumber(row, 'accepted_ms');
    const checkInMs = this.cache.find(id)?.checkInMs;
    return {
      id,
      identity: text(row, 'identity'),
      status: text(row, 'status') as DeviceStatus,
      createdMs: number(row, 'created_ms'),
      updatedMs: number(row, 'updated_ms'),
      ...(externalId !== undefined && { externalId }),
      ...(acceptedMs !== undefined && { acceptedMs }),
      ...(checkInMs && { checkInMs }),
    };
  }
}

function authSetOf(row: SqlRow): StoredAuthSet {
  return {
    id: text(row, 'id'),
    deviceId: text(row, 'device_id'),
    publicKeyPem: text(row, 'pubkey'),
    status: text(row, 'status') as AuthSetStatus,
    createdMs: number(row, 'created_ms'),
    tokensValidFromSeconds: number(row, 'tokens_valid_from_seconds'),
  };
}

function seconds(atMs: number): number {
  return Math.floor(atMs / 1000);
}
