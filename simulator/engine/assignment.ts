/**
 * Assigns choices by weight, without randomness. The counts are exact by the largest remainder
 * method, and equal choices are evenly distributed.
 */

/** A choice and its weight. */
export interface WeightedChoice<Choice> {
  readonly choice: Choice;
  /** Weight relative to the other weights, 0 or more. */
  readonly weight: number;
}

/**
 * Returns a sequence of `count` choices. Each appears in proportion to its weight; remainders are
 * rounded by the largest remainder method, with earlier choices first. Every part of the sequence
 * has about the same proportions.
 * @throws RangeError when no weight is above 0
 */
export function assignByWeight<Choice>(
  weighted: readonly WeightedChoice<Choice>[],
  count: number,
): readonly Choice[] {
  const quotas = quotasOf(weighted, count);
  const assignedCounts = quotas.map(() => 0);
  return Array.from({ length: count }, (_, position) => {
    const chosenIndex = mostBehind(quotas, assignedCounts, (position + 1) / count);
    assignedCounts[chosenIndex] = (assignedCounts[chosenIndex] ?? 0) + 1;
    const row = weighted[chosenIndex];
    if (row === undefined) throw new RangeError('there is nothing to assign');
    return row.choice;
  });
}

/**
 * Returns one choice per member. The proportions are exact over all members and about the same in
 * each group, so that choice and group are independent.
 * @param groups the group of each member
 */
export function assignAcrossGroups<Choice, Group>(
  weighted: readonly WeightedChoice<Choice>[],
  groups: readonly Group[],
): readonly Choice[] {
  const members = [...new Set(groups)].flatMap((group) =>
    [...groups.keys()].filter((index) => groups[index] === group),
  );
  const choices = assignByWeight(weighted, groups.length);
  const placedChoices: Choice[] = new Array(groups.length);
  for (const [position, choice] of choices.entries())
    placedChoices[members[position] ?? 0] = choice;
  return placedChoices;
}

function quotasOf(weighted: readonly WeightedChoice<unknown>[], count: number): readonly number[] {
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  if (!(total > 0)) throw new RangeError('at least one weight must be above zero');
  const shares = weighted.map(({ weight }) => (count * weight) / total);
  const quotas = shares.map(Math.floor);
  const remainder = count - quotas.reduce((sum, quota) => sum + quota, 0);
  const byRemainder = [...shares.keys()].sort(
    (one, other) => ((shares[other] ?? 0) % 1) - ((shares[one] ?? 0) % 1),
  );
  for (const index of byRemainder.slice(0, remainder)) quotas[index] = (quotas[index] ?? 0) + 1;
  return quotas;
}

/** Returns the index of the choice that is furthest below its quota. */
function mostBehind(
  quotas: readonly number[],
  assignedCounts: readonly number[],
  progress: number,
): number {
  let chosenIndex = 0;
  let largestDue = Number.NEGATIVE_INFINITY;
  for (const [index, quota] of quotas.entries()) {
    const had = assignedCounts[index] ?? 0;
    const due = had < quota ? quota * progress - had : Number.NEGATIVE_INFINITY;
    if (due > largestDue) {
      largestDue = due;
      chosenIndex = index;
    }
  }
  return chosenIndex;
}
