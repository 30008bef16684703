/** Reads typed values from rows; a row that differs from the schema is a bug. */
import type { Sql, SqlRow, SqlValue } from './sql.ts';

/** The value of a text column. @throws TypeError */
export function text(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`column ${column} is not text`);
  return value;
}

/** The value of a number column. @throws TypeError */
export function number(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`column ${column} is not a number`);
  return value;
}

/** A text column that may be null. */
export function textOrNothing(row: SqlRow, column: string): string | undefined {
  return isNull(row[column]) ? undefined : text(row, column);
}

/** A number column that may be null. */
export function numberOrNothing(row: SqlRow, column: string): number | undefined {
  return isNull(row[column]) ? undefined : number(row, column);
}

/** A column of JSON that the store itself wrote. */
export function document<Document>(row: SqlRow, column: string): Document {
  return JSON.parse(text(row, column)) as Document;
}

/** The number `n` of a query, such as a count; 0 without a row. */
export function numberIn(sql: Sql, query: string, values: readonly SqlValue[] = []): number {
  const row = sql.first(query, values);
  return row ? number(row, 'n') : 0;
}

function isNull(value: SqlValue | undefined): boolean {
  return value === null || value === undefined;
}
