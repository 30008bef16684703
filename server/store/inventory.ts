/** Attributes that devices report of themselves; the other scopes are made from other stores. */
import type { Attribute, AttributeValue } from '../../fixtures/contract/resources.ts';
import { document, number, text, textOrNothing } from './row.ts';
import type { Sql } from './sql.ts';

export interface StoredAttribute {
  readonly name: string;
  readonly value: AttributeValue;
  readonly description?: string;
  readonly updatedMs: number;
}

/** The verbs for inventory. */
export class InventoryStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  list(deviceId: string): StoredAttribute[] {
    const query = 'SELECT * FROM attributes WHERE device_id = ? ORDER BY name LIMIT 1000';
    return this.#sql.all(query, [deviceId]).map((row) => {
      const description = textOrNothing(row, 'description');
      return {
        name: text(row, 'name'),
        value: document<AttributeValue>(row, 'value'),
        updatedMs: number(row, 'updated_ms'),
        ...(description !== undefined && { description }),
      };
    });
  }

  /** Adds or changes the named attributes; an absent description leaves the former one. */
  upsert(deviceId: string, attributes: readonly Attribute[], nowMs: number): void {
    this.#sql.atomically(() => {
      for (const { name, value, description } of attributes) {
        this.#sql.run(
          `INSERT INTO attributes VALUES (?, ?, ?, ?, ?) ON CONFLICT (device_id, name)
           DO UPDATE SET value = excluded.value, updated_ms = excluded.updated_ms,
             description = coalesce(excluded.description, description)`,
          [deviceId, name, JSON.stringify(value), description ?? null, nowMs],
        );
      }
    });
  }

  /** Replaces the whole set. */
  replace(deviceId: string, attributes: readonly Attribute[], nowMs: number): void {
    this.#sql.atomically(() => {
      this.remove(deviceId);
      this.upsert(deviceId, attributes, nowMs);
    });
  }

  remove(deviceId: string): void {
    this.#sql.run('DELETE FROM attributes WHERE device_id = ?', [deviceId]);
  }
}
