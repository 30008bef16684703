/** A device's parts in all its deployments, seen from the device. */
import { filterBy } from './filter.ts';
import { bounds, type Page } from './page.ts';
import { finals, part, partQuery, type StoredPart, statusCondition } from './part-rows.ts';
import { number } from './row.ts';
import type { Sql } from './sql.ts';

const runs = 'SELECT seq FROM deployments WHERE finished_ms IS NULL';
/** A part as it is before it is offered. */
const anew = `status = 'pending', substate = NULL, request = NULL, artifact_id = NULL, attempts = 0,
  offered_ms = NULL, started_ms = NULL, finished_ms = NULL, log = NULL,
  retries_left = (SELECT retries FROM deployments d WHERE d.seq = deployment_seq)`;

/** The verbs for the history of a device. */
export class DeviceHistoryStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Its parts, the newest deployment first; in a status, or `pause`, `active` or `finished`. */
  list(deviceId: string, status: string | undefined, page: Page): StoredPart[] {
    const { where, values } = historyFilter(deviceId, status);
    const query = `${partQuery} ${where} ORDER BY p.deployment_seq DESC LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map(part);
  }

  count(deviceId: string, status: string | undefined): number {
    const { where, values } = historyFilter(deviceId, status);
    const query = `SELECT count(*) AS n FROM deployment_devices p ${where}`;
    const row = this.#sql.first(query, values);
    return row ? number(row, 'n') : 0;
  }

  /**
   * Forgets what the device has finished: of deployments that still run it may have its part anew,
   * those that are over it has no part in any more. The deployments' own figures stay.
   */
  forget(deviceId: string): void {
    const isOver = `device_id = ? AND status IN (${finals}) AND NOT is_forgotten`;
    this.#sql.atomically(() => {
      this.#sql.run(
        `UPDATE deployment_devices SET is_forgotten = 1
         WHERE ${isOver} AND deployment_seq NOT IN (${runs})`,
        [deviceId],
      );
      this.#sql.run(
        `UPDATE deployment_devices SET ${anew} WHERE ${isOver} AND deployment_seq IN (${runs})`,
        [deviceId],
      );
    });
  }

  /** Makes the device one that has not begun any of its deployments that still run. */
  startOver(deviceId: string): void {
    this.#sql.run(
      `UPDATE deployment_devices SET ${anew} WHERE device_id = ? AND deployment_seq IN (${runs})`,
      [deviceId],
    );
  }
}

function historyFilter(deviceId: string, status: string | undefined) {
  return filterBy(['p.device_id = ? AND NOT p.is_forgotten', deviceId], statusCondition(status));
}
