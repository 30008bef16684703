/**
 * Covering arrays: from the values of several parameters, a short list of combinations in which
 * each pair of values of two parameters occurs at least once. Spec: none; it selects test inputs.
 */

/** The values to combine, by the name of their parameter. */
type ParameterValues = Readonly<Record<string, readonly unknown[]>>;

/** One combination: a value for each parameter. */
type Combination<Values extends ParameterValues> = {
  readonly [Name in keyof Values]: Values[Name][number];
};

/** The index of the selected value, by the index of its parameter; undefined while open. */
type Selection = (number | undefined)[];

/** Two parameters, each with the index of one of its values. */
type Pair = readonly [one: number, valueOfOne: number, other: number, valueOfOther: number];

/**
 * Returns combinations that cover every pair of values. The same values in the same order always
 * give the same combinations. A single parameter gives one combination for each of its values.
 * @throws Error when a parameter has no value
 */
export function coveringPairs<const Values extends ParameterValues>(
  values: Values,
): readonly Combination<Values>[] {
  const names = Object.keys(values);
  const sizes = names.map((name) => values[name]?.length ?? 0);
  const empty = sizes.indexOf(0);
  if (empty !== -1) throw new Error(`the parameter ${names[empty]} has no value to combine`);
  const selections =
    sizes.length > 1
      ? selectionsOf(sizes)
      : [...Array(sizes[0] ?? 0).keys()].map((index) => [index]);
  return selections.map(
    (selection) =>
      Object.fromEntries(
        names.map((name, parameter) => [name, values[name]?.[selection[parameter] ?? 0]]),
      ) as Combination<Values>,
  );
}

/** Returns selections that cover all pairs, each built around a pair that is not covered yet. */
function selectionsOf(sizes: readonly number[]): readonly Selection[] {
  const open = new Map(allPairs(sizes).map((pair) => [pair.join(), pair]));
  const selections: Selection[] = [];
  for (const [one, valueOfOne, other, valueOfOther] of open.values()) {
    const selection: Selection = sizes.map(() => undefined);
    selection[one] = valueOfOne;
    selection[other] = valueOfOther;
    for (const [parameter, size] of sizes.entries()) {
      selection[parameter] ??= bestValue(selection, { parameter, size }, open);
    }
    for (const pair of pairsIn(selection)) open.delete(pair.join());
    selections.push(selection);
  }
  return selections;
}

/** Returns the value of a parameter that covers the most open pairs with the selected values. */
function bestValue(
  selection: Selection,
  { parameter, size }: { readonly parameter: number; readonly size: number },
  open: ReadonlyMap<string, Pair>,
): number {
  const covered = Array.from({ length: size }, (_, value) => {
    const pairs = pairsIn(selection.with(parameter, value));
    return pairs.filter((pair) => open.has(pair.join())).length;
  });
  return covered.indexOf(Math.max(...covered));
}

/** Returns the pairs of the values selected so far. */
function pairsIn(selection: Selection): readonly Pair[] {
  return selection.flatMap((valueOfOne, one) =>
    selection.slice(one + 1).flatMap((valueOfOther, offset): Pair[] => {
      const isSelected = valueOfOne !== undefined && valueOfOther !== undefined;
      return isSelected ? [[one, valueOfOne, one + 1 + offset, valueOfOther]] : [];
    }),
  );
}

function allPairs(sizes: readonly number[]): readonly Pair[] {
  return sizes.flatMap((size, one) =>
    sizes.slice(one + 1).flatMap((otherSize, offset) =>
      [...Array(size * otherSize).keys()].map((index): Pair => {
        const valueOfOther = index % otherSize;
        return [one, (index - valueOfOther) / otherSize, one + 1 + offset, valueOfOther];
      }),
    ),
  );
}
