/**
 * Attributes of the scopes that are written: `inventory` by the device, `tags` by users. The other
 * scopes are derived from other stores.
 */
import { shortenText } from '../../fixtures/base/characters.ts';
import type { StoredAttribute } from '../rules/inventory.ts';
import { document, optionalText, text } from './engine/row.ts';
import type { Sql, SqlRow } from './engine/sql.ts';

/** Text attributes that lists of devices show, truncated. */
export interface ShownAttributes {
  readonly deviceType: string | undefined;
  readonly artifactName: string | undefined;
}

const SHOWN_CHARACTERS = 256;

/** Reads and writes the inventory attributes of one scope. */
export class InventoryStore {
  readonly #sql: Sql;
  readonly #scope: string;

  constructor(sql: Sql, scope: 'inventory' | 'tags') {
    this.#sql = sql;
    this.#scope = scope;
  }

  list(deviceId: string): StoredAttribute[] {
    const query = 'SELECT document FROM attributes WHERE device_id = ? AND scope = ?';
    const row = this.#sql.first(query, [deviceId, this.#scope]);
    return row ? attributesIn(row) : [];
  }

  /**
   * Returns the shown attributes by device ID, for those of these devices that have attributes.
   * Does not read the other attributes.
   */
  shownOf(deviceIds: readonly string[]): Map<string, ShownAttributes> {
    const query = `SELECT device_id, device_type, artifact_name FROM attributes
       WHERE scope = ? AND device_id IN (SELECT value FROM json_each(?))`;
    const rows = this.#sql.all(query, [this.#scope, JSON.stringify(deviceIds)]);
    return new Map(
      rows.map((row) => [
        text(row, 'device_id'),
        {
          deviceType: optionalText(row, 'device_type'),
          artifactName: optionalText(row, 'artifact_name'),
        },
      ]),
    );
  }

  /** Replaces the whole set of attributes. */
  replace(deviceId: string, attributes: readonly StoredAttribute[]): void {
    // Bound as bytes: sql.js copies bytes in one step, but a string character by character.
    this.#sql.run('INSERT OR REPLACE INTO attributes VALUES (?, ?, ?, ?, CAST(? AS TEXT))', [
      deviceId,
      this.#scope,
      attributeText(attributes, 'device_type'),
      attributeText(attributes, 'artifact_name'),
      Buffer.from(JSON.stringify(attributes)),
    ]);
  }

  /** Returns the version that `setVersion` set last; undefined if none was set. */
  version(deviceId: string): string | undefined {
    const query = 'SELECT version FROM attribute_versions WHERE device_id = ? AND scope = ?';
    const row = this.#sql.first(query, [deviceId, this.#scope]);
    return row && text(row, 'version');
  }

  /** Marks the set as changed; `version` must be a new opaque text each time. */
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

function attributesIn(row: SqlRow): StoredAttribute[] {
  return document(row, 'document');
}

function attributeText(attributes: readonly StoredAttribute[], name: string): string | null {
  const value = attributes.find((attribute) => attribute.name === name)?.value;
  if (typeof value !== 'string') return null;
  return shortenText(value, SHOWN_CHARACTERS);
}
