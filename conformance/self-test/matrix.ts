/** The kill matrix: every defect with the cases that kill it, and the gaps found in the suite. */
import { seededRandom } from '../../fixtures/base/random.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import type { Defect } from './defect.ts';
import { type DefectOutcome, type DefectResult, needsNoFix } from './judgement.ts';
import { type AffectedCases, casesAffectedBy, type NamedRequirements } from './self-test.ts';

/** Upper bound of the random ranks by which a sample of cases is drawn. */
const RANK_MAX = 1_000_000_000;
/** Number of affected cases to run that do not name a violated requirement. They must not fail. */
const OTHERS_MAX = 40;

/** A defect with its outcome. */
export interface MatrixRow extends DefectResult {
  readonly title: string;
  readonly violates: readonly RequirementId[];
  /** The kind of a generated defect, and the operation that it is on. */
  readonly kind?: string;
  readonly operation?: string;
  /** The reason why no client can observe the defect; absent if a case must kill it. */
  readonly equivalent?: string;
  /** Number of cases that were not run, since the defect does not affect them or by sampling. */
  readonly untouched: number;
}

/** The totals of a matrix. */
export interface MatrixTotals extends Readonly<Record<DefectOutcome, number>> {
  readonly defects: number;
  readonly falseFailures: number;
  readonly suiteErrors: number;
  readonly casesRun: number;
  readonly untouched: number;
}

/** A complete self-test as plain values. */
export interface KillMatrix {
  /** Number of cases in the run without a defect. */
  readonly cases: number;
  /** Cases that failed, or ended with a suite error, without a defect. */
  readonly baselineFailures: readonly string[];
  readonly totals: MatrixTotals;
  /** Observable musts that no defect violates. */
  readonly untestedDuties: readonly RequirementId[];
  /** Observable musts that a defect violates and for which none was killed. */
  readonly unproven: readonly RequirementId[];
  readonly rows: readonly MatrixRow[];
  /** True when the self-test ended before every defect was run. */
  readonly interrupted: boolean;
}

/** Runs these cases with one defect. Resolves to undefined if the run was interrupted. */
export type RunDefect = (
  defect: Defect,
  ids: ReadonlySet<string>,
) => Promise<DefectResult | undefined>;

/** The inputs of a self-test: its defects, the cases to run for each, and the workers. */
export interface MatrixOptions {
  readonly defects: readonly Defect[];
  readonly affectedCases: AffectedCases;
  readonly named: NamedRequirements;
  readonly baselineFailures: readonly string[];
  /** The workers, each of which runs one defect at a time. */
  readonly workers: readonly RunDefect[];
  readonly onRow?: (row: MatrixRow) => void;
  readonly signal?: AbortSignal;
}

/** Runs every defect. Each worker takes the next one as soon as it is free. */
export async function runMatrix(options: MatrixOptions): Promise<KillMatrix> {
  const { defects, affectedCases, named, baselineFailures, workers, onRow, signal } = options;
  const rows = new Map<string, MatrixRow>();
  const queue = defects.values();
  const work = async (runOf: RunDefect): Promise<void> => {
    for (const defect of queue) {
      if (signal?.aborted) return;
      const touchedCases = casesAffectedBy(defect, affectedCases);
      const result = await runOf(defect, chosenCases(defect, touchedCases, named));
      if (result === undefined) return;
      const row = rowOf(defect, result, affectedCases.size);
      rows.set(defect.id, row);
      onRow?.(row);
    }
  };
  await Promise.all(workers.map(work));
  const inOrder = defects.flatMap(({ id }) => rows.get(id) ?? []);
  const untestedDuties = mustsWithoutDefect(defects);
  return {
    cases: affectedCases.size,
    baselineFailures,
    totals: totalsOf(inOrder),
    untestedDuties,
    unproven: mustsWithoutKill(inOrder).filter((id) => !untestedDuties.includes(id)),
    rows: inOrder,
    interrupted: inOrder.length < defects.length,
  };
}

/**
 * Returns the affected cases to run for a defect. If the defect has a `sample`, this is a sample of
 * that size. Otherwise these are all cases that name a violated requirement, and a sample of the
 * others, which must not fail. The choice is the same in every run.
 */
export function chosenCases(
  defect: Defect,
  touched: ReadonlySet<string>,
  named: NamedRequirements,
): ReadonlySet<string> {
  const { id, sample, violates } = defect;
  if (sample !== undefined) return sampleOf({ id, sample }, touched);
  const isNamed = (each: string): boolean =>
    named.get(each)?.some((requirement) => violates.includes(requirement)) ?? false;
  const otherCases = new Set([...touched].filter((each) => !isNamed(each)));
  const sampledCases = sampleOf({ id, sample: OTHERS_MAX }, otherCases);
  return new Set([...touched].filter((each) => isNamed(each) || sampledCases.has(each)));
}

/** Returns at most `sample` of the cases. The choice depends only on the ID of the defect. */
export function sampleOf(
  { id, sample = Number.POSITIVE_INFINITY }: Pick<Defect, 'id' | 'sample'>,
  touched: ReadonlySet<string>,
): ReadonlySet<string> {
  if (touched.size <= sample) return touched;
  const random = seededRandom('sample').stream(id);
  const ranked = [...touched].map((each) => ({ each, rank: random.integer(0, RANK_MAX) }));
  const lowestRanked = ranked.toSorted((one, other) => one.rank - other.rank).slice(0, sample);
  return new Set(lowestRanked.map(({ each }) => each));
}

/** Returns true if the self-test is complete, and neither the suite nor a defect needs a fix. */
export function isSuccessful({ baselineFailures, rows, interrupted }: KillMatrix): boolean {
  return baselineFailures.length === 0 && !interrupted && rows.every(needsNoFix);
}

/** Returns the observable musts that no defect violates. */
export function mustsWithoutDefect(defects: readonly Defect[]): readonly RequirementId[] {
  return mustsBeside(defects.flatMap(({ violates }) => violates));
}

/** Returns the observable musts for which no defect was killed. */
export function mustsWithoutKill(
  rows: readonly Pick<MatrixRow, 'proves'>[],
): readonly RequirementId[] {
  return mustsBeside(rows.flatMap(({ proves }) => proves));
}

/** Returns the observable MUSTs of the server that are not in `known`. */
function mustsBeside(known: readonly RequirementId[]): readonly RequirementId[] {
  const records: readonly Requirement[] = Object.values(requirements);
  const musts = records.filter(
    ({ level, actor, excluded }) =>
      level === 'must' && actor !== 'client' && excluded === undefined,
  );
  return musts.map(({ id }) => id as RequirementId).filter((id) => !known.includes(id));
}

function rowOf(defect: Defect, result: DefectResult, cases: number): MatrixRow {
  const { title, violates, equivalent } = defect;
  const untouched = cases - result.casesRun;
  return {
    ...result,
    title,
    violates,
    untouched,
    ...kindOf(defect),
    ...(equivalent !== undefined && { equivalent }),
  };
}

/** Returns the kind and the operation of a generated defect; an empty object for other defects. */
export function kindOf({ kind, operations }: Defect): Pick<MatrixRow, 'kind' | 'operation'> {
  const [operation] = operations === 'all' ? [] : operations;
  return kind !== undefined && operation !== undefined ? { kind, operation } : {};
}

function totalsOf(rows: readonly MatrixRow[]): MatrixTotals {
  const outcome = (name: DefectOutcome): number =>
    rows.filter((row) => row.outcome === name).length;
  const sum = (count: (row: MatrixRow) => number): number =>
    rows.reduce((total, row) => total + count(row), 0);
  return {
    defects: rows.length,
    killed: outcome('killed'),
    survived: outcome('survived'),
    unexercised: outcome('unexercised'),
    equivalent: outcome('equivalent'),
    'stale-reason': outcome('stale-reason'),
    falseFailures: sum(({ falseFailures }) => falseFailures.length),
    suiteErrors: sum(({ suiteErrors }) => suiteErrors.length),
    casesRun: sum(({ casesRun }) => casesRun),
    untouched: sum(({ untouched }) => untouched),
  };
}
