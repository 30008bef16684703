/**
 * The tables of an exported state: the tables of a tenant, with the tenant's ID as first column;
 * the server's own tables; and the artifact files. All tenants share one file, which any SQLite can
 * read.
 */
import { serverShape } from '../data-layout.ts';
import { text } from '../engine/row.ts';
import { openMemorySql } from '../engine/sql-memory.ts';
import { SCHEMA_VERSION, schema } from '../schema.ts';

/** A table of a tenant. */
export interface StateTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Identifies an exported state among other databases. */
export const stateFormat = 'fleetbed state';

/** Changes with the tables of a tenant, of the server, or of the export. */
export const stateVersion = `1.${serverShape.version}.${SCHEMA_VERSION}`;

/**
 * Size in bytes of the parts in which an artifact file is stored, so that none fills the memory.
 */
export const PART_BYTES = 1_048_576;

/** Returns the tables of a tenant, read from the schema. */
export async function tenantTables(): Promise<StateTable[]> {
  const sql = await openMemorySql(schema);
  try {
    return sql
      .all("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
      .map((row) => text(row, 'name'))
      .filter((name) => !name.startsWith('sqlite_'))
      .map((name) => {
        const info = sql.all('SELECT name FROM pragma_table_info(?)', [name]);
        return { name, columns: info.map((column) => text(column, 'name')) };
      });
  } finally {
    sql.close();
  }
}

/** Returns the statements that create the tables of an exported state. */
export function stateSchema(tables: readonly StateTable[]): string {
  const ofTenants = tables.map(
    ({ name, columns }) => `CREATE TABLE ${name} (tenant TEXT NOT NULL, ${columns.join(', ')});`,
  );
  return `
${serverShape.schema}
CREATE TABLE state (format TEXT NOT NULL, version TEXT NOT NULL);
CREATE TABLE artifact_files (
  tenant TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  part INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (tenant, sha256, part)
) WITHOUT ROWID;
${ofTenants.join('\n')}
`;
}
