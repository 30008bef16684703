/** Runs randomly drawn defects and counts how many of them the suite kills. */
import type { DefectResult } from '../judgement.ts';
import { type RunDefect, sampleOf } from '../matrix.ts';
import { type AffectedCases, casesAffectedBy } from '../self-test.ts';
import type { ViolatedLevel } from './alteration.ts';
import type { FuzzDefect } from './draw.ts';

/**
 * `killed`: a case failed. `survived`: no case failed. `unexercised`: no response had the altered
 * place, so nothing was altered.
 */
type FuzzOutcome = 'killed' | 'survived' | 'unexercised';

/** The outcome of one alteration. */
export interface FuzzRow {
  readonly id: string;
  readonly title: string;
  readonly operation: string;
  readonly kind: string;
  readonly violatedLevel: ViolatedLevel;
  readonly outcome: FuzzOutcome;
  /** IDs of the cases that failed. */
  readonly by: readonly string[];
  /** Cases in which the suite itself broke down. */
  readonly suiteErrors: readonly string[];
  readonly casesRun: number;
  /** Number of responses that were altered. */
  readonly changes: number;
}

/** A fuzzed self-test as plain values. */
export interface FuzzResult {
  readonly seed: string;
  readonly count: number;
  /** Cases that failed, or ended with a suite error, without an alteration. */
  readonly baselineFailures: readonly string[];
  readonly rows: readonly FuzzRow[];
  /** Share, from 0 to 1, of the killed ones among alterations that violate a MUST with effect. */
  readonly share: number;
  readonly interrupted: boolean;
}

/** The alterations to run, and what runs them. */
export interface FuzzOptions {
  readonly defects: readonly FuzzDefect[];
  /** Total number of alterations; `defects` may be a part of them. */
  readonly count: number;
  readonly seed: string;
  readonly affectedCases: AffectedCases;
  readonly baselineFailures: readonly string[];
  /** The workers, each of which runs one defect at a time. */
  readonly workers: readonly RunDefect[];
  readonly onRow?: (row: FuzzRow) => void;
  readonly signal?: AbortSignal;
}

/** Runs every defect. Each worker takes the next one as soon as it is free. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { defects, count, seed, affectedCases, baselineFailures, workers, onRow, signal } = options;
  const rows = new Map<string, FuzzRow>();
  const queue = defects.values();
  const work = async (runOf: RunDefect): Promise<void> => {
    for (const defect of queue) {
      if (signal?.aborted) return;
      const row = await resultRow(defect, casesAffectedBy(defect, affectedCases), runOf);
      if (row === undefined) return;
      rows.set(defect.id, row);
      onRow?.(row);
    }
  };
  await Promise.all(workers.map(work));
  const inOrder = defects.flatMap(({ id }) => rows.get(id) ?? []);
  const interrupted = inOrder.length < defects.length;
  const share = shareOf(inOrder);
  return { seed, count, baselineFailures, rows: inOrder, share, interrupted };
}

/**
 * Runs a sample of the affected cases. If a forbidden alteration survives them, all affected cases
 * run. If they fail on a conforming one, the sample runs again, to exclude chance.
 */
async function resultRow(
  defect: FuzzDefect,
  touched: ReadonlySet<string>,
  runOf: RunDefect,
): Promise<FuzzRow | undefined> {
  const sample = sampleOf(defect, touched);
  const firstResult = await runOf(defect, sample);
  if (firstResult === undefined) return undefined;
  const isKilled = hasFailed(firstResult);
  const isForbidden = defect.violatedLevel !== 'nothing';
  const isDecided = isForbidden ? isKilled || sample.size === touched.size : !isKilled;
  if (isDecided) return rowOf(defect, firstResult);
  // A failure on a conforming alteration counts only if it recurs.
  const secondResult = await runOf(defect, isForbidden ? touched : sample);
  return secondResult && rowOf(defect, secondResult);
}

function hasFailed({ killedBy, falseFailures, alsoViolates }: DefectResult): boolean {
  return killedBy.length + falseFailures.length + alsoViolates.length > 0;
}

function rowOf(defect: FuzzDefect, result: DefectResult): FuzzRow {
  const { id, title, operation, kind, violatedLevel } = defect;
  const { killedBy, falseFailures, alsoViolates, suiteErrors, casesRun, changes } = result;
  const by = [...killedBy, ...falseFailures.map(({ caseId }) => caseId), ...alsoViolates];
  const unkilled = changes > 0 ? 'survived' : 'unexercised';
  const outcome = hasFailed(result) ? 'killed' : unkilled;
  return { id, title, operation, kind, violatedLevel, outcome, by, suiteErrors, casesRun, changes };
}

/** Returns the share of killed alterations among the forbidden ones; 1 if there are none. */
function shareOf(rows: readonly FuzzRow[]): number {
  const counted = mustViolations(rows);
  const killed = counted.filter(({ outcome }) => outcome === 'killed').length;
  return counted.length === 0 ? 1 : killed / counted.length;
}

/** Returns the alterations that violate a MUST and had an effect. */
export function mustViolations(rows: readonly FuzzRow[]): readonly FuzzRow[] {
  return rows.filter(
    ({ violatedLevel, outcome }) => violatedLevel === 'must' && outcome !== 'unexercised',
  );
}

/** Returns the conforming alterations on which a case failed. */
export function falseFailures(rows: readonly FuzzRow[]): readonly FuzzRow[] {
  return rows.filter(
    ({ violatedLevel, outcome }) => violatedLevel === 'nothing' && outcome === 'killed',
  );
}

/** Returns true if a complete run reaches the floor without false failures and suite errors. */
export function reachesFloor(
  { baselineFailures, rows, share, interrupted }: FuzzResult,
  floor: number,
): boolean {
  const isWhole = baselineFailures.length === 0 && !interrupted;
  const isRight = falseFailures(rows).length === 0;
  return isWhole && isRight && share >= floor && rows.every((row) => row.suiteErrors.length === 0);
}
