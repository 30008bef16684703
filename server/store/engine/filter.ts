/** Builds the WHERE part of a query from conditions that may be absent; values are always bound. */
import type { SqlValue } from './sql.ts';

/** A WHERE part (empty when nothing filters) and the values of its placeholders. */
export interface Filter {
  readonly where: string;
  readonly values: readonly SqlValue[];
}

/** One condition with its values; absent when the caller does not filter by it. */
export type Condition = readonly [sql: string, ...values: SqlValue[]];

/** Joins the conditions that are present by AND. */
export function filterBy(...conditions: readonly (Condition | undefined)[]): Filter {
  const present = conditions.filter((condition) => condition !== undefined);
  if (present.length === 0) return { where: '', values: [] };
  return {
    where: `WHERE ${present.map(([sql]) => `(${sql})`).join(' AND ')}`,
    values: present.flatMap(([, ...values]) => values),
  };
}

/** A condition on a column, present when `value` is. */
export function compared(
  column: string,
  sign: '=' | '<' | '<=' | '>' | '>=',
  value: SqlValue | undefined,
): Condition | undefined {
  return value === undefined ? undefined : [`${column} ${sign} ?`, value];
}

/** The condition that the column equals the value; undefined without a value. */
export function equal(column: string, value: SqlValue | undefined): Condition | undefined {
  return compared(column, '=', value);
}

/** A condition that a column has one of the values, present when there is any. */
export function oneOf(column: string, values: readonly string[]): Condition | undefined {
  if (values.length === 0) return undefined;
  return [`${column} IN (${values.map(() => '?').join(', ')})`, ...values];
}
