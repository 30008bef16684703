/** Conditions on text columns from what a user searches for. */
import type { TextSearch } from '../rules/text-search.ts';
import type { Condition } from './filter.ts';
import type { SqlValue } from './sql.ts';

/** A condition that the column fits one of the searches, present when there is any. */
export function fitsAny(column: string, searches: readonly TextSearch[]): Condition | undefined {
  if (searches.length === 0) return undefined;
  const conditions = searches.map((search) => fits(column, search));
  const values = conditions.flatMap(([, ...bound]): SqlValue[] => bound);
  return [conditions.map(([sql]) => sql).join(' OR '), ...values];
}

function fits(column: string, { how, text }: TextSearch): Condition {
  if (how === 'exact') return [`${column} = ?`, text];
  if (how === 'part') return [`instr(lower(${column}), lower(?)) > 0`, text];
  // The engine counts characters otherwise than JavaScript does, so it counts both.
  return [`substr(${column}, 1, length(?)) = ?`, text, text];
}
