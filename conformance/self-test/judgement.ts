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

/** A case that failed for something that it does not name. */
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
  return {
    id: defect.id,
    outcome: outcomeOf(defect, { isCaught: killedBy.length > 0, isExercised: changes > 0 }),
    killedBy,
    proves: defect.breaks.filter((id) => missed.has(id)),
    falseCatches: failed.filter((each) => !catches.includes(each)).map(falseCatchOf),
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

function falseCatchOf(verdict: CaseVerdict): FalseCatch {
  const { id, expected, actual } = verdict;
  return {
    caseId: id,
    requirements: missedBy(verdict),
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
  };
}
