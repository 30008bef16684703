/** The devices that may have an open deployment; all others are answered without a query. */
import { type NoUpdate, noDeployment } from '../rules/no-update.ts';
import { text } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/** Every change of device deployments adds their devices here. A device too many costs only a query. */
export class WaitingDevices {
  readonly #sql: Sql;
  /** Those that may have one, and why the others have none; a device in no deployment is absent. */
  readonly #known = new Map<string, NoUpdate | 'may have work'>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Takes every device with a device deployment for one that may have something to be served. */
  load(): void {
    this.#known.clear();
    const rows = this.#sql.all('SELECT DISTINCT device_id FROM deployment_devices');
    this.add(rows.map((row) => text(row, 'device_id')));
  }

  /** Why nothing is open for the device; undefined when something may be. */
  whyNothing(deviceId: string): NoUpdate | undefined {
    const known = this.#known.get(deviceId) ?? noDeployment;
    return known === 'may have work' ? undefined : known;
  }

  add(deviceIds: readonly string[]): void {
    for (const id of deviceIds) this.#known.set(id, 'may have work');
  }

  /** Takes the device out, until the work under way is undone. */
  remove(deviceId: string, why: NoUpdate): void {
    this.#sql.afterUndo(() => this.add([deviceId]));
    if (why === noDeployment) this.#known.delete(deviceId);
    else this.#known.set(deviceId, why);
  }
}
