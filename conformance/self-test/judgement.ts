/** Derives the outcome of a defect from the verdicts of a run with it. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { CaseVerdict } from '../result/result.ts';
import type { Defect } from './defect.ts';

/**
 * `killed`: a case that names a broken requirement failed. `survived`: none did, although the
 * defect had an effect. `unexercised`: no case triggered it. `equivalent`: declared unobservable,
 * and not observed. `stale-reason`: declared unobservable, but observed.
 */
export type DefectOutcome = 'killed' | 'survived' | 'unexercised' | 'equivalent' | 'stale-reason';

/** A case that failed without naming any requirement that the defect violates. */
interface FalseCatch {
  readonly caseId: string;
  /** The requirements that the case reports as missed. */
  readonly requirements: readonly RequirementId[];
  readonly expected?: string;
  readonly actual?: string;
}

/** The outcome of one defect. */
export interface DefectResult {
  readonly id: string;
  readonly outcome: DefectOutcome;
  /** Failed cases that name a requirement which the defect breaks. */
  readonly killedBy: readonly string[];
  /** The broken requirements that those cases name. */
  readonly proves: readonly RequirementId[];
  readonly falseCatches: readonly FalseCatch[];
  /**
   * Further requirements that were missed without being false catches: those of invariants on the
   * operations of the defect, since a wrong response is often wrong in several ways, and sweeping
   * ones.
   */
  readonly alsoBreaks: readonly RequirementId[];
  /** Cases in which the suite itself broke down. */
  readonly suiteErrors: readonly string[];
  /** Number of cases that were run. */
  readonly casesRun: number;
  /** Number of requests, responses and frames that the defect changed. */
  readonly changes: number;
}

/** The part of a run that decides the outcome. */
export interface DefectRun {
  readonly verdicts: readonly CaseVerdict[];
  readonly changes: number;
}

/**
 * Requirements on everything that an operation accepts or returns. Many defects violate them as
 * well, although the row of the defect does not list them.
 */
const generalRequirements: ReadonlySet<RequirementId> = new Set([
  'service.legal-values',
  'service.legal-values-are-kept',
  'service.concurrent-writes',
  'audit.export-same-entries',
  'audit.links-lead',
  'download.outlives-changes',
]);

/** Judges a defect by the verdicts of the cases that were run with it. */
export function judgeDefect(defect: Defect, { verdicts, changes }: DefectRun): DefectResult {
  const broken = new Set<RequirementId>(defect.violates);
  const failed = verdicts.filter(({ verdict }) => verdict === 'fail');
  const catches = failed.filter((each) => missedBy(each).some((id) => broken.has(id)));
  const missed = new Set(catches.flatMap(missedBy));
  const killedBy = catches.map(({ id }) => id);
  const isAlsoBroken = (each: CaseVerdict): boolean =>
    isOfInvariants(each, defect) || missedBy(each).some((id) => generalRequirements.has(id));
  const alsoBroken = failed.filter((each) => !catches.includes(each) && isAlsoBroken(each));
  return {
    id: defect.id,
    outcome: outcomeOf(defect, { isCaught: killedBy.length > 0, isExercised: changes > 0 }),
    killedBy,
    proves: defect.violates.filter((id) => missed.has(id)),
    falseCatches: failed
      .filter((each) => !catches.includes(each) && !alsoBroken.includes(each))
      .map(falseCatchOf),
    alsoBreaks: [...new Set(alsoBroken.flatMap(missedBy))].sort(),
    suiteErrors: verdicts.filter(({ verdict }) => verdict === 'error').map(({ id }) => id),
    casesRun: verdicts.length,
    changes,
  };
}

/** Returns true when neither the suite nor the defect's row needs a fix. */
export function needsNoFix({ outcome, falseCatches, suiteErrors }: DefectResult): boolean {
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

/** Returns the requirements missed by a failed case: all that it names, unless it narrows them. */
function missedBy({ missed, requirements }: CaseVerdict): readonly RequirementId[] {
  return missed ?? requirements;
}

/** Returns true if the case failed only by invariants, all on operations of the defect. */
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
