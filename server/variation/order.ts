/** Random orders of lists. */
import type { Random } from '../../fixtures/base/random.ts';

/** Returns the items in random order. */
export function shuffleItems<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, rank: random.fraction() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
}
