/** Random orders and choices from lists. */
import type { Random } from '../../fixtures/random.ts';

/** The items in an order of chance. */
export function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, rank: random.fraction() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
}

/** One of the items by chance; there must be some. */
export function pick<Item>(items: readonly [Item, ...Item[]], random: Random): Item {
  return items[random.integer(0, items.length - 1)] ?? items[0];
}
