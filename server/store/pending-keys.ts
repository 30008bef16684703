/** The number of pending keys; in memory, because every first contact reads it. */
import type { Condition } from './engine/filter.ts';
import { number } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/** Keys that were never accepted, rejected ones included; bytes of these and of their identities. */
export interface PendingKeys {
  readonly count: number;
  readonly bytes: number;
}

/** The totals over all devices. */
export class PendingKeyTotals {
  readonly #sql: Sql;
  #totals: PendingKeys = { count: 0, bytes: 0 };

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get totals(): PendingKeys {
    return this.#totals;
  }

  /** Counts anew, after the tables were replaced. */
  load(): void {
    this.#totals = this.#waitingIn(['']);
  }

  /** Changes sets of one device in a transaction, and counts that device anew. */
  during(deviceId: string, change: () => void): void {
    this.#sql.atomically(() => {
      const before = this.#waitingIn(['AND s.device_id = ?', deviceId]);
      change();
      const after = this.#waitingIn(['AND s.device_id = ?', deviceId]);
      const kept = this.#totals;
      this.#sql.afterUndo(() => {
        this.#totals = kept;
      });
      this.#totals = {
        count: kept.count + after.count - before.count,
        bytes: kept.bytes + after.bytes - before.bytes,
      };
    });
  }

  /** A key that was accepted once, as before a rotation, is not waiting. In SQL, as there may be many. */
  #waitingIn([more, ...values]: Condition): PendingKeys {
    const query = `SELECT count(*) AS n, coalesce(sum(length(CAST(s.pubkey AS BLOB))
        + length(CAST(d.identity AS BLOB))), 0) AS bytes
      FROM auth_sets s JOIN devices d ON d.id = s.device_id
      WHERE s.status IN ('pending', 'rejected') AND s.tokens_from = 0 ${more}`;
    const row = this.#sql.first(query, values);
    return { count: row ? number(row, 'n') : 0, bytes: row ? number(row, 'bytes') : 0 };
  }
}
