/**
 * Covering arrays: from the values of several parameters, a short list of combinations in which
 * each pair (or triple) of values of different parameters occurs at least once.
 */

/** The values to combine, by the name of their parameter. */
type ParameterValues = Readonly<Record<string, readonly unknown[]>>;

/** One combination: a value for each parameter. */
type Combination<Values extends ParameterValues> = {
  readonly [Name in keyof Values]: Values[Name][number];
};

/** The index of the selected value, by the index of its parameter; undefined while open. */
type Selection = readonly (number | undefined)[];

/** Some parameters, each with the index of one of its values. */
type Tuple = readonly (readonly [parameter: number, value: number])[];

/**
 * Returns combinations that cover every tuple of values. The same values in the same order always
 * give the same combinations.
 * @param strength the number of parameters whose values are combined in every way: 2 for pairs
 * @throws Error when a parameter has no value
 */
export function coveringArray<const Values extends ParameterValues>(
  values: Values,
  strength: number,
): readonly Combination<Values>[] {
  const names = Object.keys(values);
  const sizes = names.map((name) => values[name]?.length ?? 0);
  const emptyIndex = sizes.indexOf(0);
  if (emptyIndex !== -1)
    throw new Error(`the parameter ${names[emptyIndex]} has no value to combine`);
  return selectionsOf(sizes, Math.min(strength, names.length)).map(
    (selection) =>
      Object.fromEntries(
        names.map((name, parameter) => [name, values[name]?.[selection[parameter] ?? 0]]),
      ) as Combination<Values>,
  );
}

/** Returns selections that cover all tuples, each built around one that is not covered yet. */
function selectionsOf(sizes: readonly number[], strength: number): readonly Selection[] {
  const all = sizes.map((size) => [...Array(size).keys()]);
  const uncoveredTuples = new Map(tuplesOf(all, strength).map((tuple) => [tuple.join(';'), tuple]));
  const selections: Selection[] = [];
  for (const tuple of uncoveredTuples.values()) {
    const values = new Map(tuple);
    let selection: Selection = sizes.map((_, parameter) => values.get(parameter));
    for (const [parameter, size] of sizes.entries()) {
      if (selection[parameter] !== undefined) continue;
      selection = bestSelection(selection, { parameter, size, strength }, uncoveredTuples);
    }
    for (const coveredTuple of tuplesIn(selection, strength))
      uncoveredTuples.delete(coveredTuple.join(';'));
    selections.push(selection);
  }
  return selections;
}

/** Returns the selection with the value of a parameter that covers the most open tuples. */
function bestSelection(
  selection: Selection,
  {
    parameter,
    size,
    strength,
  }: { readonly parameter: number; readonly size: number; readonly strength: number },
  open: ReadonlyMap<string, Tuple>,
): Selection {
  const candidates = Array.from({ length: size }, (_, value) => selection.with(parameter, value));
  const tupleCounts = candidates.map(
    (each) => tuplesIn(each, strength).filter((tuple) => open.has(tuple.join(';'))).length,
  );
  return candidates[tupleCounts.indexOf(Math.max(...tupleCounts))] ?? selection;
}

/** Returns the tuples of the values selected so far. */
function tuplesIn(selection: Selection, strength: number): readonly Tuple[] {
  return tuplesOf(
    selection.map((value) => (value === undefined ? [] : [value])),
    strength,
  );
}

/** Returns every tuple of values of different parameters, in the order of the parameters. */
function tuplesOf(
  values: readonly (readonly number[])[],
  strength: number,
  from = 0,
): readonly Tuple[] {
  if (strength === 0) return [[]];
  return values.slice(from).flatMap((some, offset) => {
    if (some.length === 0) return [];
    const tails = tuplesOf(values, strength - 1, from + offset + 1);
    return some.flatMap((value) => tails.map((tuple): Tuple => [[from + offset, value], ...tuple]));
  });
}
