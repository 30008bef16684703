/** Records of counts. */

/** Adds two records field by field. */
export function summed<Counts extends Readonly<Record<keyof Counts, number>>>(
  one: Counts,
  other: Counts,
): Counts {
  const names = Object.keys(one) as (keyof Counts & string)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as Counts;
}
