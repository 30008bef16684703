/** Runs randomly drawn defects and counts how many of them the suite notices. */
import type { DefectResult } from '../judgement.ts';
import { type RunDefect, sampleOf } from '../matrix.ts';
import { type AffectedCases, casesAffectedBy } from '../self-test.ts';
import type { ViolatedLevel } from './alteration.ts';
import type { FuzzDefect } from './draw.ts';

/**
 * `noticed`: a case failed. `missed`: no case failed. `unexercised`: no response had the altered
 * place, so nothing was altered.
 */
type FuzzOutcome = 'noticed' | 'missed' | 'unexercised';

/** The outcome of one alteration. */
export interface FuzzRow {
  readonly id: string;
  readonly title: string;
  readonly operation: string;
  readonly kind: string;
  readonly violatedLevel: ViolatedLevel;
  readonly outcome: FuzzOutcome;
  /** Ids of the cases that failed. */
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
  /** Share, from 0 to 1, of the noticed ones among alterations that broke a MUST with effect. */
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
  const waiting = defects.values();
  const work = async (runOf: RunDefect): Promise<void> => {
    for (const defect of waiting) {
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
 * Runs a sample of the affected cases. If they miss a forbidden alteration, all affected cases run.
 * If they fail on a legal one, the sample runs again, to exclude chance.
 */
async function resultRow(
  defect: FuzzDefect,
  touched: ReadonlySet<string>,
  runOf: RunDefect,
): Promise<FuzzRow | undefined> {
  const sample = sampleOf(defect, touched);
  const first = await runOf(defect, sample);
  if (first === undefined) return undefined;
  const isNoticed = hasNoticed(first);
  const isForbidden = defect.violatedLevel !== 'nothing';
  const isDecided = isForbidden ? isNoticed || sample.size === touched.size : !isNoticed;
  if (isDecided) return rowOf(defect, first);
  // A failure on a legal alteration counts only if it recurs.
  const second = await runOf(defect, isForbidden ? touched : sample);
  return second && rowOf(defect, second);
}

function hasNoticed({ killedBy, falseCatches, alsoBreaks }: DefectResult): boolean {
  return killedBy.length + falseCatches.length + alsoBreaks.length > 0;
}

function rowOf(defect: FuzzDefect, result: DefectResult): FuzzRow {
  const { id, title, operation, kind, violatedLevel } = defect;
  const { killedBy, falseCatches, alsoBreaks, suiteErrors, casesRun, changes } = result;
  const by = [...killedBy, ...falseCatches.map(({ caseId }) => caseId), ...alsoBreaks];
  const unnoticed = changes > 0 ? 'missed' : 'unexercised';
  const outcome = hasNoticed(result) ? 'noticed' : unnoticed;
  return { id, title, operation, kind, violatedLevel, outcome, by, suiteErrors, casesRun, changes };
}

/** Returns the share of noticed alterations among the forbidden ones; 1 if there are none. */
function shareOf(rows: readonly FuzzRow[]): number {
  const counted = mustViolations(rows);
  const noticed = counted.filter(({ outcome }) => outcome === 'noticed').length;
  return counted.length === 0 ? 1 : noticed / counted.length;
}

/** Returns the alterations that violate a MUST and had an effect. */
export function mustViolations(rows: readonly FuzzRow[]): readonly FuzzRow[] {
  return rows.filter(
    ({ violatedLevel, outcome }) => violatedLevel === 'must' && outcome !== 'unexercised',
  );
}

/** Returns the legal alterations on which a case failed. */
export function falseVerdicts(rows: readonly FuzzRow[]): readonly FuzzRow[] {
  return rows.filter(
    ({ violatedLevel, outcome }) => violatedLevel === 'nothing' && outcome === 'noticed',
  );
}

/** Returns true if a complete run reaches the floor without false verdicts and suite errors. */
export function reachesFloor(
  { baselineFailures, rows, share, interrupted }: FuzzResult,
  floor: number,
): boolean {
  const isWhole = baselineFailures.length === 0 && !interrupted;
  const isRight = falseVerdicts(rows).length === 0;
  return isWhole && isRight && share >= floor && rows.every((row) => row.suiteErrors.length === 0);
}
