/**
 * Static groups of devices. A device is in at most one group; a group exists while it contains
 * devices.
 */
import { bounds, type Page } from './engine/page.ts';
import { numberIn, text } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/** Reads and writes the groups of a tenant. */
export class GroupStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Returns the group of the device; undefined if it is in none. */
  groupOf(deviceId: string): string | undefined {
    const query = 'SELECT name FROM device_groups WHERE device_id = ?';
    const row = this.#sql.first(query, [deviceId]);
    return row && text(row, 'name');
  }

  /** Moves the device to the group. */
  assign(deviceId: string, name: string): void {
    this.#sql.run('INSERT OR REPLACE INTO device_groups VALUES (?, ?)', [deviceId, name]);
  }

  /** Removes the device from its group. */
  clear(deviceId: string): void {
    this.#sql.run('DELETE FROM device_groups WHERE device_id = ?', [deviceId]);
  }

  /** Returns the names of all groups, sorted; at most `max`. */
  names(max: number): string[] {
    const query = 'SELECT DISTINCT name FROM device_groups ORDER BY name LIMIT ?';
    return this.#sql.all(query, [max]).map((row) => text(row, 'name'));
  }

  /** Returns a page of the IDs of a group's devices, sorted. */
  deviceIds(name: string, page: Page): string[] {
    const query =
      'SELECT device_id FROM device_groups WHERE name = ? ORDER BY device_id LIMIT ? OFFSET ?';
    return this.#sql.all(query, [name, ...bounds(page)]).map((row) => text(row, 'device_id'));
  }

  count(name: string): number {
    const query = 'SELECT count(*) AS n FROM device_groups WHERE name = ?';
    return numberIn(this.#sql, query, [name]);
  }
}
