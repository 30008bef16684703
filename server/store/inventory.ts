/**
 * Attributes of the scopes that are written: `inventory` by the device, `tags` by users. The other
 * scopes are derived from other stores.
 */
import type { KeptAttribute } from '../rules/inventory.ts';
import { document, text } from './row.ts';
import type { Sql, SqlRow } from './sql.ts';

/** The verbs for the attributes of one scope. */
export class InventoryStore {
  readonly #sql: Sql;
  readonly #scope: string;

  constructor(sql: Sql, scope: 'inventory' | 'tags') {
    this.#sql = sql;
    this.#scope = scope;
  }

  list(deviceId: string): KeptAttribute[] {
    const query = 'SELECT document FROM attributes WHERE device_id = ? AND scope = ?';
    const row = this.#sql.first(query, [deviceId, this.#scope]);
    return row ? attributesIn(row) : [];
  }

  /** The values of these attributes that are texts, by the ids of these devices. */
  textsOf(
    deviceIds: readonly string[],
    names: readonly string[],
  ): Map<string, Readonly<Record<string, string>>> {
    const query = `SELECT device_id, document FROM attributes
       WHERE scope = ? AND device_id IN (SELECT value FROM json_each(?))`;
    const texts = new Map<string, Readonly<Record<string, string>>>();
    for (const row of this.#sql.all(query, [this.#scope, JSON.stringify(deviceIds)])) {
      const wanted = attributesIn(row).flatMap(({ name, value }): [string, string][] =>
        names.includes(name) && typeof value === 'string' ? [[name, value]] : [],
      );
      texts.set(text(row, 'device_id'), Object.fromEntries(wanted));
    }
    return texts;
  }

  /** Makes these the whole set. */
  replace(deviceId: string, attributes: readonly KeptAttribute[]): void {
    // Bytes are copied into the engine at once, the characters of a text one by one.
    this.#sql.run('INSERT OR REPLACE INTO attributes VALUES (?, ?, CAST(? AS TEXT))', [
      deviceId,
      this.#scope,
      Buffer.from(JSON.stringify(attributes)),
    ]);
  }

  /** What `setVersion` last set; nothing before that. */
  version(deviceId: string): string | undefined {
    const query = 'SELECT version FROM attribute_versions WHERE device_id = ? AND scope = ?';
    const row = this.#sql.first(query, [deviceId, this.#scope]);
    return row && text(row, 'version');
  }

  /** Marks the set as changed, by an opaque text that is new each time. */
  setVersion(deviceId: string, version: string): void {
    this.#sql.run('INSERT OR REPLACE INTO attribute_versions VALUES (?, ?, ?)', [
      deviceId,
      this.#scope,
      version,
    ]);
  }

  remove(deviceId: string): void {
    const rows = 'DELETE FROM attributes WHERE device_id = ? AND scope = ?';
    this.#sql.run(rows, [deviceId, this.#scope]);
    const versions = 'DELETE FROM attribute_versions WHERE device_id = ? AND scope = ?';
    this.#sql.run(versions, [deviceId, this.#scope]);
  }
}

function attributesIn(row: SqlRow): KeptAttribute[] {
  return document(row, 'document');
}
