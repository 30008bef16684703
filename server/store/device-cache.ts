/** Keeps in memory what every authenticated request needs to know of its device. */
import type { SqlCondition } from './engine/filter.ts';
import { number, optionalNumber, text } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';
import type { LastPoll } from './last-poll.ts';

/** The facts in memory about a device that has or had an accepted set. */
export interface CachedDevice {
  readonly deviceId: string;
  /** Time of the last authenticated request; 0 before the first. */
  checkInMs: number;
  /** Tokens issued before this time, in seconds since the Unix epoch, are revoked. */
  tokensValidFromSeconds: number;
  /** The last poll since the server was started. */
  lastPoll: LastPoll | undefined;
}

/** The fields of an accepted authentication set that are kept in memory. */
interface AcceptedSet {
  readonly id: string;
  readonly deviceId: string;
  readonly tokensValidFromSeconds: number;
}

/** The cached devices of a tenant, by device and by accepted authentication set. */
export class DeviceCache {
  readonly #sql: Sql;
  readonly #byAcceptedSet = new Map<string, CachedDevice>();
  readonly #byDevice = new Map<string, CachedDevice>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Returns the cached device with this accepted set. */
  findByAcceptedSet(authSetId: string): CachedDevice | undefined {
    return this.#byAcceptedSet.get(authSetId);
  }

  /** Returns a cached device; undefined if it had no accepted set since the start. */
  find(deviceId: string): CachedDevice | undefined {
    return this.#byDevice.get(deviceId);
  }

  /** Returns the number of accepted devices; every acceptance may call it. */
  countAccepted(): number {
    return this.#byAcceptedSet.size;
  }

  /** Rebuilds the cache, including check-ins, after the tables were replaced. */
  load(): void {
    const formerStates = new Map(this.#byDevice);
    this.#byDevice.clear();
    this.#byAcceptedSet.clear();
    this.#loadAccepted(['']);
    this.#keepLastPolls(formerStates);
  }

  /** Rebuilds some devices in the cache, including check-ins. */
  loadDevices(ids: readonly string[]): void {
    const formerStates = new Map(ids.map((id) => [id, this.#byDevice.get(id)]));
    for (const [authSetId, { deviceId }] of this.#byAcceptedSet) {
      if (ids.includes(deviceId)) this.#byAcceptedSet.delete(authSetId);
    }
    for (const id of ids) {
      this.#byDevice.delete(id);
      this.#loadAccepted(['AND s.device_id = ?', id]);
    }
    this.#keepLastPolls(formerStates);
  }

  /** Writes the check-ins to the table of devices. */
  saveCheckIns(): void {
    const save = 'UPDATE devices SET check_in_ms = ? WHERE id = ? AND check_in_ms IS NOT ?';
    this.#sql.atomically(() => {
      for (const { deviceId, checkInMs } of this.#byDevice.values()) {
        if (checkInMs > 0) this.#sql.run(save, [checkInMs, deviceId, checkInMs]);
      }
    });
  }

  /** Discards the last poll of every device. */
  discardPolls(): void {
    for (const cached of this.#byDevice.values()) cached.lastPoll = undefined;
  }

  /**
   * Adds an accepted set. A known check-in of its device is kept, because it is newer than the
   * stored one.
   */
  addAcceptedSet({ id, deviceId, tokensValidFromSeconds }: AcceptedSet, checkInMs = 0): void {
    const created = { deviceId, checkInMs, tokensValidFromSeconds, lastPoll: undefined };
    const cached: CachedDevice = this.#byDevice.get(deviceId) ?? created;
    cached.tokensValidFromSeconds = tokensValidFromSeconds;
    this.#byDevice.set(deviceId, cached);
    this.#byAcceptedSet.set(id, cached);
  }

  /** Removes a set that is no longer accepted. Its device remains. */
  removeAcceptedSet(id: string): void {
    this.#byAcceptedSet.delete(id);
  }

  /** Removes a device, after its sets. */
  removeDevice(id: string): void {
    this.#byDevice.delete(id);
  }

  /**
   * Changes a device and its sets in the cache. If the current transaction is rolled back, they are
   * restored from their rows.
   */
  change(deviceId: string, authSetIds: readonly string[], callback: () => void): void {
    const cached = this.#byDevice.get(deviceId);
    this.#sql.afterRollback(() => {
      for (const id of authSetIds) this.#byAcceptedSet.delete(id);
      if (cached) this.#byDevice.set(deviceId, cached);
      else this.#byDevice.delete(deviceId);
      this.#loadAccepted(['AND s.device_id = ?', deviceId]);
    });
    callback();
  }

  #keepLastPolls(formerStates: ReadonlyMap<string, CachedDevice | undefined>): void {
    for (const [id, formerState] of formerStates) {
      const cached = this.#byDevice.get(id);
      if (cached) cached.lastPoll = formerState?.lastPoll;
    }
  }

  #loadAccepted([more, ...values]: SqlCondition): void {
    const query = `SELECT s.id, s.device_id, s.tokens_valid_from_seconds, d.check_in_ms
      FROM auth_sets s JOIN devices d ON d.id = s.device_id WHERE s.status = 'accepted' ${more}`;
    for (const row of this.#sql.all(query, values)) {
      const set = { id: text(row, 'id'), deviceId: text(row, 'device_id') };
      const tokensValidFromSeconds = number(row, 'tokens_valid_from_seconds');
      this.addAcceptedSet({ ...set, tokensValidFromSeconds }, optionalNumber(row, 'check_in_ms'));
    }
  }
}
