/** Tracks the devices that may have an open deployment; polls of all others need no query. */
import { type NoUpdate, noDeployment } from '../rules/no-update.ts';
import { text } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/**
 * Every change of device deployments must mark their devices. A superfluous entry only costs a
 * query.
 */
export class DevicesInDeployments {
  readonly #sql: Sql;
  /**
   * Value by device ID: `may be open`, or the reason for no update. A device in no deployment is
   * absent.
   */
  readonly #noUpdateByDevice = new Map<string, NoUpdate | 'may be open'>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Marks every device that has a device deployment. */
  load(): void {
    this.#noUpdateByDevice.clear();
    const rows = this.#sql.all('SELECT DISTINCT device_id FROM device_deployments');
    this.markMayBeOpen(rows.map((row) => text(row, 'device_id')));
  }

  /** Returns why no deployment is open for the device; undefined when one may be. */
  cachedNoUpdate(deviceId: string): NoUpdate | undefined {
    const deployments = this.#noUpdateByDevice.get(deviceId) ?? noDeployment;
    return deployments === 'may be open' ? undefined : deployments;
  }

  /** Records that a deployment may be open for the devices. */
  markMayBeOpen(deviceIds: readonly string[]): void {
    for (const id of deviceIds) this.#noUpdateByDevice.set(id, 'may be open');
  }

  /**
   * Records that no deployment is open for the device, and why; a rollback marks the device again.
   */
  cacheNoUpdate(deviceId: string, why: NoUpdate): void {
    this.#sql.afterRollback(() => this.markMayBeOpen([deviceId]));
    if (why === noDeployment) this.#noUpdateByDevice.delete(deviceId);
    else this.#noUpdateByDevice.set(deviceId, why);
  }
}
