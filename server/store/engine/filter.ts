/** Builds the WHERE part of a query from optional conditions; values are always bound. */
import type { SqlValue } from './sql.ts';

/** A WHERE part, empty without conditions, and the values of its placeholders. */
export interface SqlFilter {
  readonly where: string;
  readonly values: readonly SqlValue[];
}

/** An SQL condition with the values of its placeholders. */
export type SqlCondition = readonly [sql: string, ...values: SqlValue[]];

/** Joins the present conditions by AND. */
export function filterBy(...conditions: readonly (SqlCondition | undefined)[]): SqlFilter {
  const present = conditions.filter((condition) => condition !== undefined);
  if (present.length === 0) return { where: '', values: [] };
  return {
    where: `WHERE ${present.map(([sql]) => `(${sql})`).join(' AND ')}`,
    values: present.flatMap(([, ...values]) => values),
  };
}

/** Returns a condition on a column; undefined without a value. */
export function comparison(
  column: string,
  sign: '=' | '<' | '<=' | '>' | '>=',
  value: SqlValue | undefined,
): SqlCondition | undefined {
  return value === undefined ? undefined : [`${column} ${sign} ?`, value];
}

/** Returns the condition that the column equals the value; undefined without a value. */
export function equal(column: string, value: SqlValue | undefined): SqlCondition | undefined {
  return comparison(column, '=', value);
}

/** Returns the condition that a column has one of the values; undefined without values. */
export function oneOf(column: string, values: readonly string[]): SqlCondition | undefined {
  if (values.length === 0) return undefined;
  return [`${column} IN (${values.map(() => '?').join(', ')})`, ...values];
}
