/** The history of a device: all its device deployments. */
import { historyDeletion, initialState } from '../rules/device-deployment.ts';
import {
  deviceDeployment,
  queryWithoutPollData,
  type StoredDeviceDeployment,
  stateColumns,
  stateValues,
  statusCondition,
} from './device-deployment-rows.ts';
import type { DevicesInDeployments } from './devices-in-deployments.ts';
import { filterBy } from './engine/filter.ts';
import { bounds, type Page } from './engine/page.ts';
import { numberIn } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/** Reads and writes the history of a device. */
export class DeviceHistoryStore {
  readonly #sql: Sql;
  readonly #inDeployments: DevicesInDeployments;

  constructor(sql: Sql, inDeployments: DevicesInDeployments) {
    this.#sql = sql;
    this.#inDeployments = inDeployments;
  }

  /**
   * Returns a page of the history, newest deployment first. `status` is a status, or one of the
   * groups `pause`, `active` and `finished`.
   */
  list(deviceId: string, status: string | undefined, page: Page): StoredDeviceDeployment[] {
    const { where, values } = historyFilter(deviceId, status);
    const query = `${queryWithoutPollData} ${where} ORDER BY dd.deployment_seq DESC LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map(deviceDeployment);
  }

  count(deviceId: string, status: string | undefined): number {
    const { where, values } = historyFilter(deviceId, status);
    const query = `SELECT count(*) AS n FROM device_deployments dd ${where}`;
    return numberIn(this.#sql, query, values);
  }

  /**
   * Deletes the device deployments with a final status from the history. Those of finished
   * deployments are hidden; the others are offered to the device again. The statistics of the
   * deployments are unchanged.
   */
  delete(deviceId: string): void {
    this.#sql.atomically(() => {
      for (const deleted of this.#all(deviceId, 'AND NOT dd.is_forgotten')) {
        const decision = historyDeletion(deleted, deleted.deployment);
        if (decision === 'restart') this.#restart(deleted);
        if (decision === 'remove') this.#hide(deleted);
      }
    });
    this.#inDeployments.markMayBeOpen([deviceId]);
  }

  /**
   * Resets the device to the state before its first offer in all unfinished deployments.
   */
  restart(deviceId: string): void {
    for (const deviceDeployment of this.#all(deviceId, 'AND d.finished_ms IS NULL'))
      this.#restart(deviceDeployment);
  }

  #all(deviceId: string, condition: string): StoredDeviceDeployment[] {
    return this.#sql
      .all(`${queryWithoutPollData} WHERE dd.device_id = ? ${condition}`, [deviceId])
      .map(deviceDeployment);
  }

  #restart({ deployment: { seq, retries = 0 }, deviceId }: StoredDeviceDeployment): void {
    this.#sql.run(
      `UPDATE device_deployments SET ${stateColumns}, log = NULL
       WHERE deployment_seq = ? AND device_id = ?`,
      [...stateValues(initialState(retries)), seq, deviceId],
    );
  }

  #hide({ deployment, deviceId }: StoredDeviceDeployment): void {
    this.#sql.run(
      'UPDATE device_deployments SET is_forgotten = 1 WHERE deployment_seq = ? AND device_id = ?',
      [deployment.seq, deviceId],
    );
  }
}

function historyFilter(deviceId: string, status: string | undefined) {
  return filterBy(['dd.device_id = ? AND NOT dd.is_forgotten', deviceId], statusCondition(status));
}
