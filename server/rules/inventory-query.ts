/**
 * Reads the conditions in the query of the inventory list: every parameter except those of paging
 * is an attribute with its required value.
 */
import { firstCharacters } from '../../fixtures/base/characters.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import type {
  AttributeKey,
  InventoryFilter,
  InventorySort,
} from '../../fixtures/contract/management/inventory-search.ts';
import { attributeScopes, sortOrders } from '../../fixtures/contract/vocabulary.ts';
import type { Problem } from './problem.ts';

export interface ListTerms {
  readonly filters: readonly InventoryFilter[];
  readonly sort: readonly InventorySort[];
}

const ownParameters = ['page', 'per_page', 'group', 'has_group', 'sort'];

/** Reads `name=value` and `sort=name:asc,other:desc`; a name may have its scope in front. */
export function readListTerms(query: URLSearchParams): ListTerms | Problem {
  const names = [...new Set(query.keys())].filter((name) => !ownParameters.includes(name));
  const keys = (query.get('sort') ?? '').split(',').filter((key) => key !== '');
  const max = limits.searchTermsMax;
  if (names.length > max) return { problem: `must filter by at most ${max} attributes` };
  if (keys.length > max) return { path: 'sort', problem: `has more than ${max} attributes` };
  const sort = keys.map(sortKey);
  const wrong = keys.find((_, index) => sort[index] === undefined);
  if (wrong !== undefined) {
    const problem = `${firstCharacters(wrong, 100)}: the order must be asc or desc`;
    return { path: 'sort', problem };
  }
  return {
    filters: names.map((name) => ({
      ...keyOf(name),
      type: '$in',
      value: query.getAll(name).flatMap(valuesOf),
    })),
    sort: sort.filter((key) => key !== undefined),
  };
}

function keyOf(name: string): AttributeKey {
  const scope = attributeScopes.find((known) => name.startsWith(`${known}/`));
  if (scope === undefined) return { scope: 'inventory', attribute: name };
  return { scope, attribute: name.slice(scope.length + 1) };
}

/**
 * Returns the values that a string in the query may stand for: the text, and the number or boolean it
 * spells.
 */
function valuesOf(given: string): (string | number | boolean)[] {
  const text = given.startsWith('eq:') ? given.slice('eq:'.length) : given;
  if (text === 'true' || text === 'false') return [text, text === 'true'];
  return text.trim() === '' || Number.isNaN(Number(text)) ? [text] : [text, Number(text)];
}

/** The default order is descending. */
function sortKey(key: string): InventorySort | undefined {
  const mark = key.lastIndexOf(':');
  if (mark < 0) return { ...keyOf(key), order: 'desc' };
  const order = sortOrders.find((known) => known === key.slice(mark + 1));
  return order && { ...keyOf(key.slice(0, mark)), order };
}
