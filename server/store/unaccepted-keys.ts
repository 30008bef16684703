/**
 * Counts keys that were never accepted. The totals are kept in memory, because every first contact
 * reads them.
 */
import type { SqlCondition } from './engine/filter.ts';
import { number } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/**
 * Keys that were never accepted, including rejected ones: their number, and the bytes of these keys
 * and their identities.
 */
export interface UnacceptedKeys {
  readonly count: number;
  readonly bytes: number;
}

/** The totals of all devices. */
export class UnacceptedKeyTotals {
  readonly #sql: Sql;
  #totals: UnacceptedKeys = { count: 0, bytes: 0 };

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get totals(): UnacceptedKeys {
    return this.#totals;
  }

  /** Counts again after the tables were replaced. */
  load(): void {
    this.#totals = this.#countedIn(['']);
  }

  /**
   * Runs a change of one device's sets in a transaction, and updates the totals by the difference.
   */
  updateTotalsAround(deviceId: string, change: () => void): void {
    this.#sql.atomically(() => {
      const countBefore = this.#countedIn(['AND s.device_id = ?', deviceId]);
      change();
      const countAfter = this.#countedIn(['AND s.device_id = ?', deviceId]);
      const formerTotals = this.#totals;
      this.#sql.afterRollback(() => {
        this.#totals = formerTotals;
      });
      this.#totals = {
        count: formerTotals.count + countAfter.count - countBefore.count,
        bytes: formerTotals.bytes + countAfter.bytes - countBefore.bytes,
      };
    });
  }

  /**
   * Counts keys that were never accepted; `tokens_valid_from_seconds` is set for a key that was
   * accepted once. Counted in SQL, because there may be many.
   */
  #countedIn([more, ...values]: SqlCondition): UnacceptedKeys {
    const query = `SELECT count(*) AS n, coalesce(sum(length(CAST(s.pubkey AS BLOB))
        + length(CAST(d.identity AS BLOB))), 0) AS bytes
      FROM auth_sets s JOIN devices d ON d.id = s.device_id
      WHERE s.status IN ('pending', 'rejected') AND s.tokens_valid_from_seconds = 0 ${more}`;
    const row = this.#sql.first(query, values);
    return { count: row ? number(row, 'n') : 0, bytes: row ? number(row, 'bytes') : 0 };
  }
}
