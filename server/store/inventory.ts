/**
 * Attributes of the scopes that are written: `inventory` by the device, `tags` by users. The other
 * scopes are derived from other stores.
 */
import type { Attribute, AttributeValue } from '../../fixtures/contract/resources.ts';
import { document, number, text, textOrNothing } from './row.ts';
import type { Sql } from './sql.ts';

export interface StoredAttribute {
  readonly name: string;
  readonly value: AttributeValue;
  readonly description?: string;
  readonly updatedMs: number;
}

/** The verbs for the attributes of one scope. */
export class InventoryStore {
  readonly #sql: Sql;
  readonly #scope: string;

  constructor(sql: Sql, scope: 'inventory' | 'tags') {
    this.#sql = sql;
    this.#scope = scope;
  }

  list(deviceId: string): StoredAttribute[] {
    const query =
      'SELECT * FROM attributes WHERE device_id = ? AND scope = ? ORDER BY name LIMIT 1000';
    return this.#sql.all(query, [deviceId, this.#scope]).map((row) => {
      const description = textOrNothing(row, 'description');
      return {
        name: text(row, 'name'),
        value: document<AttributeValue>(row, 'value'),
        updatedMs: number(row, 'updated_ms'),
        ...(description !== undefined && { description }),
      };
    });
  }

  /** The values of one attribute, by the ids of the devices that have it. */
  valuesOf(name: string): Map<string, AttributeValue> {
    const query = 'SELECT device_id, value FROM attributes WHERE scope = ? AND name = ?';
    const rows = this.#sql.all(query, [this.#scope, name]);
    return new Map(rows.map((row) => [text(row, 'device_id'), document(row, 'value')]));
  }

  /** Adds or changes the named attributes; an absent description leaves the former one. */
  upsert(deviceId: string, attributes: readonly Attribute[], nowMs: number): void {
    this.#sql.atomically(() => {
      for (const { name, value, description } of attributes) {
        this.#sql.run(
          `INSERT INTO attributes VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (device_id, scope, name)
           DO UPDATE SET value = excluded.value, updated_ms = excluded.updated_ms,
             description = coalesce(excluded.description, description)`,
          [deviceId, this.#scope, name, JSON.stringify(value), description ?? null, nowMs],
        );
      }
    });
  }

  /** Replaces the whole set. */
  replace(deviceId: string, attributes: readonly Attribute[], nowMs: number): void {
    this.#sql.atomically(() => {
      this.#clear(deviceId);
      this.upsert(deviceId, attributes, nowMs);
    });
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
    this.#clear(deviceId);
    const versions = 'DELETE FROM attribute_versions WHERE device_id = ? AND scope = ?';
    this.#sql.run(versions, [deviceId, this.#scope]);
  }

  #clear(deviceId: string): void {
    const rows = 'DELETE FROM attributes WHERE device_id = ? AND scope = ?';
    this.#sql.run(rows, [deviceId, this.#scope]);
  }
}
