/** Reads typed values from rows. A row that does not match the schema is a bug. */
import type { Sql, SqlRow, SqlValue } from './sql.ts';

/**
 * Returns the value of a text column.
 * @throws TypeError when it is not text
 */
export function text(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`column ${column} is not text`);
  return value;
}

/**
 * Returns the value of a number column.
 * @throws TypeError when it is not a number
 */
export function number(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`column ${column} is not a number`);
  return value;
}

/** Returns the value of a text column; undefined for NULL. */
export function optionalText(row: SqlRow, column: string): string | undefined {
  return isNull(row[column]) ? undefined : text(row, column);
}

/** Returns the value of a number column; undefined for NULL. */
export function optionalNumber(row: SqlRow, column: string): number | undefined {
  return isNull(row[column]) ? undefined : number(row, column);
}

/** Returns the value of a JSON column, which only this store writes. */
export function document<Document>(row: SqlRow, column: string): Document {
  return JSON.parse(text(row, column)) as Document;
}

/** Returns the column `n` of a query, such as a count; 0 without a row. */
export function numberIn(sql: Sql, query: string, values: readonly SqlValue[] = []): number {
  const row = sql.first(query, values);
  return row ? number(row, 'n') : 0;
}

function isNull(value: SqlValue | undefined): boolean {
  return value === null || value === undefined;
}
