/** Derives the outcome of a defect from the verdicts of a run with it. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { CaseVerdict } from '../result/result.ts';
import type { Defect } from './defect.ts';

/**
 * `killed`: a case that names a violated requirement failed. `survived`: none did, although the
 * defect had an effect. `unexercised`: no case triggered it. `equivalent`: declared unobservable,
 * and not observed. `stale-reason`: declared unobservable, but observed.
 */
export type DefectOutcome = 'killed' | 'survived' | 'unexercised' | 'equivalent' | 'stale-reason';

/** A case that failed without naming any requirement that the defect violates. */
interface FalseFailure {
  readonly caseId: string;
  /** The requirements that the case reports as violated. */
  readonly requirements: readonly RequirementId[];
  readonly expected?: string;
  readonly actual?: string;
}

/** The outcome of one defect. */
export interface DefectResult {
  readonly id: string;
  readonly outcome: DefectOutcome;
  /** Failed cases that name a requirement which the defect violates. */
  readonly killedBy: readonly string[];
  /** The violated requirements that those cases name. */
  readonly proves: readonly RequirementId[];
  readonly falseFailures: readonly FalseFailure[];
  /**
   * Further requirements that were violated without being false failures: those of passive checks of
   * the operations of the defect, since a wrong response is often wrong in several ways, and
   * sweeping ones.
   */
  readonly alsoViolates: readonly RequirementId[];
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
  'audit.links-work',
  'download.valid-until-expiry',
]);

/** Judges a defect by the verdicts of the cases that were run with it. */
export function judgeDefect(defect: Defect, { verdicts, changes }: DefectRun): DefectResult {
  const planted = new Set<RequirementId>(defect.violates);
  const failures = verdicts.filter(({ verdict }) => verdict === 'fail');
  const kills = failures.filter((each) => violatedBy(each).some((id) => planted.has(id)));
  const violatedIds = new Set(kills.flatMap(violatedBy));
  const killedBy = kills.map(({ id }) => id);
  const isAlsoViolating = (caseVerdict: CaseVerdict): boolean =>
    isByPassiveChecks(caseVerdict, defect) ||
    violatedBy(caseVerdict).some((id) => generalRequirements.has(id));
  const alsoViolating = failures.filter((each) => !kills.includes(each) && isAlsoViolating(each));
  return {
    id: defect.id,
    outcome: outcomeOf(defect, { isKilled: killedBy.length > 0, isExercised: changes > 0 }),
    killedBy,
    proves: defect.violates.filter((id) => violatedIds.has(id)),
    falseFailures: failures
      .filter((each) => !kills.includes(each) && !alsoViolating.includes(each))
      .map(falseFailureOf),
    alsoViolates: [...new Set(alsoViolating.flatMap(violatedBy))].sort(),
    suiteErrors: verdicts.filter(({ verdict }) => verdict === 'error').map(({ id }) => id),
    casesRun: verdicts.length,
    changes,
  };
}

/** Returns true when neither the suite nor the defect's row needs a fix. */
export function needsNoFix({ outcome, falseFailures, suiteErrors }: DefectResult): boolean {
  const isRight = outcome === 'killed' || outcome === 'equivalent';
  return isRight && falseFailures.length === 0 && suiteErrors.length === 0;
}

function outcomeOf(
  { equivalent }: Defect,
  { isKilled, isExercised }: { readonly isKilled: boolean; readonly isExercised: boolean },
): DefectOutcome {
  if (equivalent !== undefined) return isKilled ? 'stale-reason' : 'equivalent';
  if (isKilled) return 'killed';
  return isExercised ? 'survived' : 'unexercised';
}

/**
 * Returns the requirements violated by a failed case: all that it names, unless it narrows them.
 */
function violatedBy({ violated, requirements }: CaseVerdict): readonly RequirementId[] {
  return violated ?? requirements;
}

/** Returns true if the case failed only by passive checks, all on operations of the defect. */
function isByPassiveChecks(verdict: CaseVerdict, { operations }: Defect): boolean {
  const { violations = [] } = verdict;
  const violatedIds = new Set(violations.flatMap(({ requirements }) => requirements));
  const isTouched = (operation: string): boolean =>
    operations === 'all' || operations.some((each) => each === operation);
  return (
    violations.length > 0 &&
    violations.every(({ operation }) => isTouched(operation)) &&
    violatedBy(verdict).every((id) => violatedIds.has(id))
  );
}

function falseFailureOf(verdict: CaseVerdict): FalseFailure {
  const { id, expected, actual } = verdict;
  return {
    caseId: id,
    requirements: violatedBy(verdict),
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
  };
}
