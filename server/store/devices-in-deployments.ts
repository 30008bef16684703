/** Tracks the devices that may have an open deployment; polls of all others need no query. */
import { type NoUpdate, noDeployment } from '../rules/no-update.ts';
import { text } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/**
 * Every change of device deployments must add their devices. A superfluous entry only costs a
 * query.
 */
export class DevicesInDeployments {
  readonly #sql: Sql;
  /**
   * Value by device ID: `may be open`, or the reason for no update. A device in no deployment is
   * absent.
   */
  readonly #known = new Map<string, NoUpdate | 'may be open'>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Adds every device that has a device deployment. */
  load(): void {
    this.#known.clear();
    const rows = this.#sql.all('SELECT DISTINCT device_id FROM device_deployments');
    this.add(rows.map((row) => text(row, 'device_id')));
  }

  /** Returns why no deployment is open for the device; undefined when one may be. */
  cachedNoUpdate(deviceId: string): NoUpdate | undefined {
    const deployments = this.#known.get(deviceId) ?? noDeployment;
    return deployments === 'may be open' ? undefined : deployments;
  }

  add(deviceIds: readonly string[]): void {
    for (const id of deviceIds) this.#known.set(id, 'may be open');
  }

  /**
   * Records that no deployment is open for the device, and why; a rollback adds the device again.
   */
  rememberNoUpdate(deviceId: string, why: NoUpdate): void {
    this.#sql.afterRollback(() => this.add([deviceId]));
    if (why === noDeployment) this.#known.delete(deviceId);
    else this.#known.set(deviceId, why);
  }
}
