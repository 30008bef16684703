/** The kill matrix: every defect, the cases that catch it, and what that implies for the suite. */
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import { seededRandom } from '../../fixtures/random.ts';
import type { Defect } from './defect.ts';
import { type DefectOutcome, type DefectResult, isSound } from './judgement.ts';
import { type AffectedCases, casesTouched, type NamedRequirements } from './self-test.ts';

/** Ranks of cases in a sample are drawn from so many numbers. */
const RANK_MAX = 1_000_000_000;
/** Cases that a defect affects without their naming what it breaks. */
const OTHERS_MAX = 40;

/** A defect and what became of it. */
export interface MatrixRow extends DefectResult {
  readonly title: string;
  readonly violates: readonly RequirementId[];
  /** The kind of a generated defect, and the operation that it is on. */
  readonly kind?: string;
  readonly operation?: string;
  /** Why nothing can see it; absent when something must. */
  readonly equivalent?: string;
  /** Cases that were not run: not affected by the defect, or not in the sample of the others. */
  readonly untouched: number;
}

/** The totals of a matrix. */
export interface MatrixTotals extends Readonly<Record<DefectOutcome, number>> {
  readonly defects: number;
  readonly falseCatches: number;
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
  /** Observable musts that no defect breaks. */
  readonly undefended: readonly RequirementId[];
  /** Observable musts that a defect breaks and for which none was caught. */
  readonly unproven: readonly RequirementId[];
  readonly rows: readonly MatrixRow[];
  /** True when the self-test ended before every defect was run. */
  readonly interrupted: boolean;
}

/** Runs one defect against these cases; undefined when it was interrupted. */
export type RunDefect = (
  defect: Defect,
  ids: ReadonlySet<string>,
) => Promise<DefectResult | undefined>;

/** What a self-test runs: its defects, the cases to run for each, and the workers. */
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
  const waiting = defects.values();
  const work = async (runOf: RunDefect): Promise<void> => {
    for (const defect of waiting) {
      if (signal?.aborted) return;
      const touched = casesTouched(defect, affectedCases);
      const result = await runOf(defect, chosenCases(defect, touched, named));
      if (result === undefined) return;
      const row = rowOf(defect, result, affectedCases.size);
      rows.set(defect.id, row);
      onRow?.(row);
    }
  };
  await Promise.all(workers.map(work));
  const inOrder = defects.flatMap(({ id }) => rows.get(id) ?? []);
  const undefended = undefendedMusts(defects);
  return {
    cases: affectedCases.size,
    baselineFailures,
    totals: totalsOf(inOrder),
    undefended,
    unproven: unprovenMusts(inOrder).filter((id) => !undefended.includes(id)),
    rows: inOrder,
    interrupted: inOrder.length < defects.length,
  };
}

/**
 * Of the cases that a defect touches those that are run, always the same ones: as many as the
 * defect says, else all that name what it breaks and some of the others, which must not fail.
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
  const others = new Set([...touched].filter((each) => !isNamed(each)));
  const chosen = sampleOf({ id, sample: OTHERS_MAX }, others);
  return new Set([...touched].filter((each) => isNamed(each) || chosen.has(each)));
}

/** So many of the cases, or all when there are no more, always the same ones for an id. */
export function sampleOf(
  { id, sample = Number.POSITIVE_INFINITY }: Pick<Defect, 'id' | 'sample'>,
  touched: ReadonlySet<string>,
): ReadonlySet<string> {
  if (touched.size <= sample) return touched;
  const random = seededRandom('sample').stream(id);
  const ranked = [...touched].map((each) => ({ each, rank: random.integer(0, RANK_MAX) }));
  const chosen = ranked.toSorted((one, other) => one.rank - other.rank).slice(0, sample);
  return new Set(chosen.map(({ each }) => each));
}

/** Whether suite and defects are as they should be, so far as they were run. */
export function holds({ baselineFailures, rows, interrupted }: KillMatrix): boolean {
  return baselineFailures.length === 0 && !interrupted && rows.every(isSound);
}

/** Returns the observable musts that no defect breaks. */
export function undefendedMusts(defects: readonly Defect[]): readonly RequirementId[] {
  return mustsBeside(defects.flatMap(({ violates }) => violates));
}

/** Returns the observable musts for which no defect was caught. */
export function unprovenMusts(
  rows: readonly Pick<MatrixRow, 'proves'>[],
): readonly RequirementId[] {
  return mustsBeside(rows.flatMap(({ proves }) => proves));
}

/** Returns the observable musts for the server other than these. */
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

/** The kind of a generated defect, and the operation that it is on. */
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
    falseCatches: sum(({ falseCatches }) => falseCatches.length),
    suiteErrors: sum(({ suiteErrors }) => suiteErrors.length),
    casesRun: sum(({ casesRun }) => casesRun),
    untouched: sum(({ untouched }) => untouched),
  };
}
