/** The kill matrix: every defect, by which cases it is caught, and what that says of the suite. */
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import { seededRandom } from '../../fixtures/random.ts';
import type { Defect } from './defect.ts';
import { type DefectOutcome, type DefectResult, isSound } from './judgement.ts';
import { type AffectedCases, casesTouched } from './self-test.ts';

/** Ranks of cases in a sample are drawn from so many numbers. */
const RANK_MAX = 1_000_000_000;

/** A defect and what became of it. */
export interface MatrixRow extends DefectResult {
  readonly title: string;
  readonly breaks: readonly RequirementId[];
  /** The kind of a generated defect, and the operation that it is on. */
  readonly kind?: string;
  readonly operation?: string;
  /** Why nothing can see it; absent when something must. */
  readonly equivalent?: string;
  /** Cases that were not played, since the defect touches none of their requests. */
  readonly untouched: number;
}

/** The figures of a matrix. */
export interface MatrixTotals extends Readonly<Record<DefectOutcome, number>> {
  readonly defects: number;
  readonly falseCatches: number;
  readonly suiteErrors: number;
  readonly played: number;
  readonly untouched: number;
}

/** A whole self-test as plain values. */
export interface KillMatrix {
  /** Cases of the run without a defect. */
  readonly cases: number;
  /** Cases that failed, or ended with an error of the suite, although nothing was planted. */
  readonly baselineFaults: readonly string[];
  readonly totals: MatrixTotals;
  /** Musts that can be seen from outside and that no defect breaks. */
  readonly undefended: readonly RequirementId[];
  /** Such musts that a defect breaks, and by whose name none was caught. */
  readonly unproven: readonly RequirementId[];
  readonly rows: readonly MatrixRow[];
  /** True when the self-test was ended before every defect was played. */
  readonly interrupted: boolean;
}

/** Plays one defect against these cases; undefined when it was interrupted. */
export type PlayDefect = (
  defect: Defect,
  ids: ReadonlySet<string>,
) => Promise<DefectResult | undefined>;

/** What a matrix is made of. */
export interface MatrixOptions {
  readonly defects: readonly Defect[];
  readonly affectedCases: AffectedCases;
  readonly baselineFaults: readonly string[];
  /** Each plays one defect at a time. */
  readonly players: readonly PlayDefect[];
  readonly onRow?: (row: MatrixRow) => void;
  readonly signal?: AbortSignal;
}

/** Plays every defect. Players take the next one as soon as they are free. */
export async function playMatrix(options: MatrixOptions): Promise<KillMatrix> {
  const { defects, affectedCases, baselineFaults, players, onRow, signal } = options;
  const rows = new Map<string, MatrixRow>();
  const waiting = defects.values();
  const work = async (play: PlayDefect): Promise<void> => {
    for (const defect of waiting) {
      if (signal?.aborted) return;
      const touched = casesTouched(defect, affectedCases);
      const result = await play(defect, sampleOf(defect, touched));
      if (result === undefined) return;
      const row = rowOf(defect, result, affectedCases.size);
      rows.set(defect.id, row);
      onRow?.(row);
    }
  };
  await Promise.all(players.map(work));
  const inOrder = defects.flatMap(({ id }) => rows.get(id) ?? []);
  const undefended = undefendedMusts(defects);
  return {
    cases: affectedCases.size,
    baselineFaults,
    totals: totalsOf(inOrder),
    undefended,
    unproven: unprovenMusts(inOrder).filter((id) => !undefended.includes(id)),
    rows: inOrder,
    interrupted: inOrder.length < defects.length,
  };
}

/** Of the cases that a defect touches those that are played, always the same ones. */
export function sampleOf(
  { id, sample = Number.POSITIVE_INFINITY }: Defect,
  touched: ReadonlySet<string>,
): ReadonlySet<string> {
  if (touched.size <= sample) return touched;
  const random = seededRandom('sample').stream(id);
  const ranked = [...touched].map((each) => ({ each, rank: random.integer(0, RANK_MAX) }));
  const chosen = ranked.toSorted((one, other) => one.rank - other.rank).slice(0, sample);
  return new Set(chosen.map(({ each }) => each));
}

/** Whether suite and defects are as they should be, so far as they were played. */
export function holds({ baselineFaults, rows, interrupted }: KillMatrix): boolean {
  return baselineFaults.length === 0 && !interrupted && rows.every(isSound);
}

/** The observable musts that no defect breaks. */
export function undefendedMusts(defects: readonly Defect[]): readonly RequirementId[] {
  return mustsBeside(defects.flatMap(({ breaks }) => breaks));
}

/** The observable musts by whose name no defect was caught. */
export function unprovenMusts(
  rows: readonly Pick<MatrixRow, 'proves'>[],
): readonly RequirementId[] {
  return mustsBeside(rows.flatMap(({ proves }) => proves));
}

/** The musts that can be seen from outside and bind the server, beside these. */
function mustsBeside(known: readonly RequirementId[]): readonly RequirementId[] {
  const records: readonly Requirement[] = Object.values(requirements);
  const musts = records.filter(
    ({ level, actor, excluded }) =>
      level === 'must' && actor !== 'client' && excluded === undefined,
  );
  return musts.map(({ id }) => id as RequirementId).filter((id) => !known.includes(id));
}

function rowOf(defect: Defect, result: DefectResult, cases: number): MatrixRow {
  const { title, breaks, equivalent, kind, operations } = defect;
  const untouched = cases - result.played;
  const [operation] = operations === 'all' ? [] : operations;
  return {
    ...result,
    title,
    breaks,
    untouched,
    ...(kind !== undefined && operation !== undefined && { kind, operation }),
    ...(equivalent !== undefined && { equivalent }),
  };
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
    played: sum(({ played }) => played),
    untouched: sum(({ untouched }) => untouched),
  };
}
