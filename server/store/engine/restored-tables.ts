/** Restores tables from a copy of the database that is attached as `snapshot`. */
import { text } from './row.ts';
import type { Sql } from './sql.ts';

/**
 * Makes all tables but the kept ones equal to those of the snapshot. Writes only rows that differ,
 * because every write goes through the log into the file.
 */
export function restoreTables(sql: Sql, keptTables: ReadonlySet<string>): void {
  // Tables are restored in the order of the schema, so that rows that a trigger writes are
  // corrected after the trigger's table.
  const query = `SELECT name, wr FROM pragma_table_list l JOIN main.sqlite_master s USING (name)
    WHERE l.schema = 'main' AND l.type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY s.rowid`;
  for (const row of sql.all(query)) {
    const table = text(row, 'name');
    if (!keptTables.has(table)) restoreTable(sql, table, row.wr === 0);
  }
  const otherTables = `WHERE name NOT IN (${[...keptTables].map((table) => `'${table}'`).join(', ')})`;
  sql.run(`DELETE FROM main.sqlite_sequence ${otherTables}`);
  sql.run(`INSERT INTO main.sqlite_sequence SELECT * FROM snapshot.sqlite_sequence ${otherTables}`);
}

function restoreTable(sql: Sql, table: string, hasRowId: boolean): void {
  const columns = sql.all('SELECT name, pk FROM pragma_table_info(?)', [table]);
  const names = columns.map((column) => text(column, 'name'));
  const keys = hasRowId ? ['rowid'] : names.filter((_, at) => columns[at]?.pk !== 0);
  const isSame = keys.map((key) => `m.${key} = s.${key}`).join(' AND ');
  const columnsOf = (alias: string): string => names.map((name) => `${alias}.${name}`).join(', ');
  const rowId = hasRowId ? { into: 'rowid, ', from: 's.rowid, ' } : { into: '', from: '' };
  sql.run(
    `DELETE FROM main.${table} AS m
     WHERE NOT EXISTS (SELECT 1 FROM snapshot.${table} s WHERE ${isSame})`,
  );
  // A row that REPLACE removes because of a unique value also differs from the snapshot, so it is
  // written again.
  sql.run(
    `INSERT OR REPLACE INTO main.${table} (${rowId.into}${names.join(', ')})
     SELECT ${rowId.from}${columnsOf('s')} FROM snapshot.${table} s
     LEFT JOIN main.${table} m ON ${isSame} WHERE (${columnsOf('s')}) IS NOT (${columnsOf('m')})`,
  );
}
