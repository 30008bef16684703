/** The devices that may have an open deployment; all others are answered without a query. */
import { text } from './row.ts';
import type { Sql } from './sql.ts';

/** Every change of parts adds their devices here. A device too many costs only a query. */
export class WaitingDevices {
  readonly #sql: Sql;
  readonly #ids = new Set<string>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Takes every device with a part for one that may have something to be served. */
  load(): void {
    this.#ids.clear();
    const rows = this.#sql.all('SELECT DISTINCT device_id FROM deployment_devices');
    this.add(rows.map((row) => text(row, 'device_id')));
  }

  has(deviceId: string): boolean {
    return this.#ids.has(deviceId);
  }

  add(deviceIds: readonly string[]): void {
    for (const id of deviceIds) this.#ids.add(id);
  }

  /** Takes the device out, until the work under way is undone. */
  remove(deviceId: string): void {
    if (this.#ids.delete(deviceId)) this.#sql.afterUndo(() => this.add([deviceId]));
  }
}
