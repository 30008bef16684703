/** What the verdicts of a run say of the defect that was planted in it. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { CaseVerdict } from '../result/result.ts';
import type { Defect } from './defect.ts';

/**
 * `killed`: a case that names a broken requirement failed. `survived`: none did, although the
 * defect showed. `unexercised`: nothing that was played brought it about. `equivalent`: it says
 * that nothing can see it, and nothing did. `stale-reason`: it says so, and was seen.
 */
export type DefectOutcome = 'killed' | 'survived' | 'unexercised' | 'equivalent' | 'stale-reason';

/**
 * A case that failed for something that the defect does not break, or in which an operation that the
 * defect does not touch broke an invariant.
 */
interface FalseCatch {
  readonly caseId: string;
  /** What the case says that the target missed. */
  readonly requirements: readonly RequirementId[];
  readonly expected?: string;
  readonly actual?: string;
}

/** What became of one defect. */
export interface DefectResult {
  readonly id: string;
  readonly outcome: DefectOutcome;
  /** Cases that failed and name a requirement that the defect breaks. */
  readonly killedBy: readonly string[];
  /** Those of the broken requirements by whose names the defect was caught. */
  readonly proves: readonly RequirementId[];
  readonly falseCatches: readonly FalseCatch[];
  /**
   * What invariants found beside on the operations of the defect: an answer that is wrong in one way
   * is often wrong in others, such as a status without its Error body.
   */
  readonly alsoBreaks: readonly RequirementId[];
  /** Cases in which the suite itself broke down. */
  readonly suiteErrors: readonly string[];
  /** Cases that were played. */
  readonly played: number;
  /** Requests, answers and frames that the defect changed. */
  readonly changes: number;
}

/** The part of a run that a defect is judged by. */
export interface PlayedDefect {
  readonly verdicts: readonly CaseVerdict[];
  readonly changes: number;
}

/** Judges a defect by the verdicts of the cases that were played with it. */
export function judgedDefect(defect: Defect, { verdicts, changes }: PlayedDefect): DefectResult {
  const broken = new Set<RequirementId>(defect.breaks);
  const failed = verdicts.filter(({ verdict }) => verdict === 'fail');
  const catches = failed.filter((each) => missedBy(each).some((id) => broken.has(id)));
  const missed = new Set(catches.flatMap(missedBy));
  const killedBy = catches.map(({ id }) => id);
  const isOnTheWire = (each: CaseVerdict): boolean => isOfInvariants(each, defect);
  const beside = failed.filter((each) => !catches.includes(each) && isOnTheWire(each));
  return {
    id: defect.id,
    outcome: outcomeOf(defect, { isCaught: killedBy.length > 0, isExercised: changes > 0 }),
    killedBy,
    proves: defect.breaks.filter((id) => missed.has(id)),
    falseCatches: failed
      .filter((each) => !catches.includes(each) && !beside.includes(each))
      .map(falseCatchOf),
    alsoBreaks: [...new Set(beside.flatMap(missedBy))].sort(),
    suiteErrors: verdicts.filter(({ verdict }) => verdict === 'error').map(({ id }) => id),
    played: verdicts.length,
    changes,
  };
}

/** Whether nothing is to be mended: neither the suite nor the defect's row. */
export function isSound({ outcome, falseCatches, suiteErrors }: DefectResult): boolean {
  const isRight = outcome === 'killed' || outcome === 'equivalent';
  return isRight && falseCatches.length === 0 && suiteErrors.length === 0;
}

function outcomeOf(
  { equivalent }: Defect,
  { isCaught, isExercised }: { readonly isCaught: boolean; readonly isExercised: boolean },
): DefectOutcome {
  if (equivalent !== undefined) return isCaught ? 'stale-reason' : 'equivalent';
  if (isCaught) return 'killed';
  return isExercised ? 'survived' : 'unexercised';
}

/** What the target missed by a failed case: all that the case names, unless it says less. */
function missedBy({ missed, requirements }: CaseVerdict): readonly RequirementId[] {
  return missed ?? requirements;
}

/** Whether the case failed by nothing but invariants, all on operations that the defect touches. */
function isOfInvariants(verdict: CaseVerdict, { operations }: Defect): boolean {
  const { breaches = [] } = verdict;
  const broken = new Set(breaches.flatMap(({ requirements }) => requirements));
  const isTouched = (operation: string): boolean =>
    operations === 'all' || operations.some((each) => each === operation);
  return (
    breaches.length > 0 &&
    breaches.every(({ operation }) => isTouched(operation)) &&
    missedBy(verdict).every((id) => broken.has(id))
  );
}

function falseCatchOf(verdict: CaseVerdict): FalseCatch {
  const { id, expected, actual } = verdict;
  return {
    caseId: id,
    requirements: missedBy(verdict),
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
  };
}
