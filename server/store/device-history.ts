/** A device's parts in all its deployments, seen from the device. */
import { notBegun, whenForgotten } from '../rules/device-deployment.ts';
import { filterBy } from './engine/filter.ts';
import { bounds, type Page } from './engine/page.ts';
import { numberIn } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';
import {
  part,
  type StoredPart,
  shownPartQuery,
  stateColumns,
  stateValues,
  statusCondition,
} from './part-rows.ts';
import type { WaitingDevices } from './waiting-devices.ts';

/** The verbs for the history of a device. */
export class DeviceHistoryStore {
  readonly #sql: Sql;
  readonly #waiting: WaitingDevices;

  constructor(sql: Sql, waiting: WaitingDevices) {
    this.#sql = sql;
    this.#waiting = waiting;
  }

  /** Its parts, the newest deployment first; in a status, or `pause`, `active` or `finished`. */
  list(deviceId: string, status: string | undefined, page: Page): StoredPart[] {
    const { where, values } = historyFilter(deviceId, status);
    const query = `${shownPartQuery} ${where} ORDER BY p.deployment_seq DESC LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map(part);
  }

  count(deviceId: string, status: string | undefined): number {
    const { where, values } = historyFilter(deviceId, status);
    const query = `SELECT count(*) AS n FROM deployment_devices p ${where}`;
    return numberIn(this.#sql, query, values);
  }

  /**
   * Forgets what the device has finished: of deployments that still run it may have its part anew,
   * those that are over it has no part in any more. The deployments' own figures stay.
   */
  forget(deviceId: string): void {
    this.#sql.atomically(() => {
      for (const forgotten of this.#all(deviceId, 'AND NOT p.is_forgotten')) {
        const decision = whenForgotten(forgotten, forgotten.deployment);
        if (decision === 'start-over') this.#startOver(forgotten);
        if (decision === 'forget') this.#hide(forgotten);
      }
    });
    this.#waiting.add([deviceId]);
  }

  /** Makes the device one that has not begun any of its deployments that still run. */
  startOver(deviceId: string): void {
    for (const begun of this.#all(deviceId, 'AND d.finished_ms IS NULL')) this.#startOver(begun);
  }

  #all(deviceId: string, condition: string): StoredPart[] {
    return this.#sql
      .all(`${shownPartQuery} WHERE p.device_id = ? ${condition}`, [deviceId])
      .map(part);
  }

  #startOver({ deployment: { seq, retries = 0 }, deviceId }: StoredPart): void {
    this.#sql.run(
      `UPDATE deployment_devices SET ${stateColumns}, log = NULL
       WHERE deployment_seq = ? AND device_id = ?`,
      [...stateValues(notBegun(retries)), seq, deviceId],
    );
  }

  #hide({ deployment, deviceId }: StoredPart): void {
    this.#sql.run(
      'UPDATE deployment_devices SET is_forgotten = 1 WHERE deployment_seq = ? AND device_id = ?',
      [deployment.seq, deviceId],
    );
  }
}

function historyFilter(deviceId: string, status: string | undefined) {
  return filterBy(['p.device_id = ? AND NOT p.is_forgotten', deviceId], statusCondition(status));
}
