/** The result of a run: an object of plain values from which every report is rendered. */
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type {
  Requirement,
  RequirementLevel,
} from '../../fixtures/contract/requirements/requirement.ts';
import type { ResourceCounts } from '../context/resource.ts';
import type { ReadBackCounts } from '../passive/trackers/read-back-counter.ts';
import type { CaseListing } from '../suite/case.ts';
import type { ReportedOptions } from '../suite/options.ts';
import type { TargetExchange } from '../target/exchange.ts';
import type { TrafficCounts } from '../target/request-totals.ts';

/** The six verdicts, the worst first. */
export const verdictNames = ['fail', 'error', 'inconclusive', 'pass', 'observed', 'skip'] as const;
/** The verdict on a case. */
export type VerdictName = (typeof verdictNames)[number];

/** A verdict with the facts that explain it. */
export interface CaseOutcome {
  readonly verdict: VerdictName;
  /** Skip: the missing capability. Inconclusive: a reason code. Error: the suite's own fault. */
  readonly reason?: {
    readonly code: string;
    readonly text: string;
    /** The expectation that kept the case from its start state, as in `expected` of a failure. */
    readonly expected?: string;
  };
  readonly expected?: string;
  readonly actual?: string;
  readonly observation?: string;
  /** Fail: the violated requirements of the case; absent if all of them count as violated. */
  readonly violated?: readonly RequirementId[];
}

/** One of several runs of a case. */
export interface CaseAttempt extends CaseOutcome {
  readonly startedMs: number;
  readonly durationMs: number;
}

/** A waiver, which tolerates a known failure until a day. */
interface AppliedWaiver {
  readonly reason: string;
  readonly owner: string;
  /** The last day on which the waiver is valid, in ISO 8601. */
  readonly expires: string;
  /** The ID of the case that the waiver names, if this case only follows from its failure. */
  readonly follows?: string;
}

/** Returns a waiver as the end of a sentence: `waived by Ada until 2027-03-31: ticket 4711`. */
export function waiverText({ owner, expires, reason, follows }: AppliedWaiver): string {
  const cause = follows === undefined ? '' : `; it follows from ${follows}`;
  return `waived by ${owner} until ${expires}: ${reason}${cause}`;
}

/** A violation of a passive check by an exchange of a case. */
export interface ReportedViolation {
  /** The requirement of the passive check, and one of the operation if it is violated too. */
  readonly requirements: readonly string[];
  readonly level: RequirementLevel;
  readonly operation: string;
  /** The violation, such as `200 body: /timezone must be a string, not the number 7`. */
  readonly text: string;
  /** The exchange that shows the violation. */
  readonly exchange: TargetExchange;
}

/** Returns a violation as one line of text. */
export function violationText({
  operation,
  text,
  requirements: violated,
}: Pick<ReportedViolation, 'operation' | 'text' | 'requirements'>): string {
  return `passive check: ${operation}: ${text} (${violated.join(', ')})`;
}

/** The number of judged exchanges of each operation, for a requirement on all operations. */
export interface GeneralJudgements {
  readonly requirement: string;
  readonly operations: readonly {
    readonly operation: string;
    readonly judged: number;
    readonly violated: number;
  }[];
  /** The operations of the target of which no exchange was judged. */
  readonly unjudged: readonly string[];
}

/** The verdict on one case. */
export interface CaseVerdict extends CaseOutcome, CaseListing {
  /** The sentences of the requirements, in the order of `requirements`. */
  readonly sentences: readonly string[];
  /** Start of the case, in milliseconds since the start of the run. */
  readonly startedMs: number;
  readonly durationMs: number;
  /** The attempts, if the case was run more than once. */
  readonly attempts?: readonly CaseAttempt[];
  /**
   * Fail: the passive checks that the exchanges of the case violated, whatever the case itself
   * tests.
   */
  readonly violations?: readonly ReportedViolation[];
  /** Present if the case failed, or is inconclusive, and a waiver covers it. */
  readonly waiver?: AppliedWaiver;
  /** Present if the case failed by a SHOULD in a run that only a MUST can fail. */
  readonly tolerated?: true;
  /** The recorded exchanges, unless the case passed or was skipped. */
  readonly exchanges?: readonly TargetExchange[];
  readonly exchangesDropped?: number;
  /** Fail: the repro script, as bash. */
  readonly reproScript?: string;
  /** Number of resources that the case created, by kind; absent if there are none. */
  readonly made?: ResourceCounts;
  /** A line for each resource that the case created and could not remove. */
  readonly leftBehind?: readonly string[];
}

/** A MUST of the contract that no case passed or failed. */
interface UndecidedMust {
  readonly id: string;
  /** The reason in one phrase: the verdict of a case that tests the MUST, or that none was run. */
  readonly reason: string;
  /** The reason code of the case in `because`; absent if no case was run. */
  readonly code?: string;
}

/** The number of MUSTs that a run decided, and the undecided ones. */
export interface DecidedMusts {
  readonly decided: number;
  readonly undecided: number;
  readonly undecidedMusts: readonly UndecidedMust[];
}

/** The settings of a run that affect its verdicts. */
interface RunSettings extends ReportedOptions {
  /** Prefixes of case IDs; an empty list selects every case. */
  readonly selection: readonly string[];
}

/** One capability of the target, as declared by the user and as found by the probe. */
export interface CapabilityRow {
  readonly capability: string;
  readonly declared: 'offered' | 'missing' | 'undeclared';
  readonly probed: 'offered' | 'missing' | 'unknown';
  /** The evidence of the probe, in one sentence. */
  readonly evidence?: string;
  /** One sentence, present if the probe contradicts the declaration. */
  readonly contradiction?: string;
}

/** The target's behaviour on an open point of the contract, and that of the reference server. */
export interface OpenPointObservation {
  readonly id: string;
  readonly heading: string;
  readonly question: string;
  /** The choice of the reference server, in one sentence. */
  readonly reference: string;
  /** The observations of the target by the cases, or the reasons why they have none. */
  readonly target: readonly {
    readonly caseId: string;
    readonly verdict: VerdictName;
    readonly text: string;
  }[];
}

/** A waiver of the run and its state after the run. */
export interface WaiverRow extends Omit<AppliedWaiver, 'follows'> {
  readonly caseId: string;
  /** `used` covers a case; `not-decided` means that this run did not decide the case. */
  readonly state: 'used' | 'not-decided' | 'expired' | 'obsolete';
}

/** A problem that fails a run whatever its verdicts are. */
export interface RunProblem {
  /** The kind of problem, such as `waiver-expired`. */
  readonly code: string;
  /** The problem in one sentence. */
  readonly text: string;
}

/** The version of the result's schema; a new number means that readers must change. */
export const conformanceSchema = 'fleetbed-conformance/2';

/** One run of the suite. */
export interface ConformanceResult {
  readonly schema: typeof conformanceSchema;
  readonly suite: { readonly name: string; readonly version: string };
  readonly target: { readonly baseUrl: string; readonly headerPrefix: string };
  readonly runId: string;
  /** The seed of all random choices; a run with the same seed makes the same choices. */
  readonly seed: string;
  readonly settings: RunSettings;
  readonly environment: { readonly node: string; readonly platform: string };
  /** When the run started, in ISO 8601 and UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  /**
   * The worst verdict that is neither waived nor tolerated; `pass` if these are all. A problem
   * counts as a failure. The outcome is `inconclusive` if nothing passed or failed.
   */
  readonly outcome: VerdictName;
  /** One sentence that begins with the outcome and explains it. */
  readonly headline: string;
  readonly totals: Readonly<Record<VerdictName, number>>;
  /** The number of cases that a waiver covers; `totals` counts them by their verdicts too. */
  readonly waived: number;
  readonly musts: DecidedMusts;
  readonly verdicts: readonly CaseVerdict[];
  /** The requirements that are judged on every exchange. */
  readonly requirementsOnAllOperations: readonly GeneralJudgements[];
  /** The responses that showed what a case had written, by operation. */
  readonly readBacks: readonly ReadBackCounts[];
  readonly capabilities: readonly CapabilityRow[];
  readonly openPoints: readonly OpenPointObservation[];
  readonly waivers: readonly WaiverRow[];
  /** The missing right of the user that ended the run, as a sentence; absent if none did. */
  readonly unauthorized?: string;
  /** Problems that fail the run in addition to failed cases. */
  readonly problems: readonly RunProblem[];
  /** Number of resources that the target acknowledged, by kind. */
  readonly made: ResourceCounts;
  /** The number of requests, and of changes that stay in the target's audit log. */
  readonly footprint: TrafficCounts;
  /** A line for each shared artifact that the run could not remove. */
  readonly leftBehind: readonly string[];
}

/** Returns the number of cases with each verdict. */
export function countVerdicts(verdicts: readonly CaseOutcome[]): Record<VerdictName, number> {
  const totals = Object.fromEntries(verdictNames.map((name) => [name, 0]));
  for (const { verdict } of verdicts) totals[verdict] = (totals[verdict] ?? 0) + 1;
  return totals as Record<VerdictName, number>;
}

/** Returns the worst verdict; `inconclusive` if no part passed, failed or was inconclusive. */
export function worstOf(verdicts: readonly CaseOutcome[]): VerdictName {
  const totals = countVerdicts(verdicts);
  const worst = verdictNames.find((name) => totals[name] > 0);
  return worst === undefined || worst === 'observed' || worst === 'skip' ? 'inconclusive' : worst;
}

/** Returns the outcome of a run: `fail` for any problem, else the worst verdict not excused. */
export function outcomeOf(
  verdicts: readonly CaseVerdict[],
  problems: readonly RunProblem[],
): VerdictName {
  if (problems.length > 0) return 'fail';
  const counted = verdicts.map((each) => (isWaived(each) ? { verdict: 'pass' as const } : each));
  return worstOf(counted);
}

/**
 * The reason codes of cases that were not run, or not to their end, because the run ended early.
 */
export const endCodes: readonly string[] = [
  'interrupted',
  'target-lost',
  'unauthorized',
  'never-reported',
];

/** Returns true if a failure of the case, or its lack of a verdict, does not fail the run. */
export function isWaived({
  waiver,
  tolerated,
}: Pick<CaseVerdict, 'waiver' | 'tolerated'>): boolean {
  return waiver !== undefined || tolerated === true;
}

/** Marks failed cases of SHOULD level as tolerated, so that they do not fail the run. */
export function tolerateShoulds(verdicts: readonly CaseVerdict[]): readonly CaseVerdict[] {
  return verdicts.map((each) =>
    each.verdict === 'fail' && each.level !== 'must' ? { ...each, tolerated: true } : each,
  );
}

/**
 * Finds the MUSTs that the verdicts decide, among all that are not excluded. A MUST that is judged
 * on every exchange is decided only if exchanges of every operation of the target were judged.
 */
export function decideMusts(
  verdicts: readonly CaseVerdict[],
  requirementsOnAllOperations: readonly GeneralJudgements[] = [],
): DecidedMusts {
  const decisive = verdicts.filter(({ verdict }) => verdict === 'pass' || verdict === 'fail');
  const decidedIds = new Set<string>(
    decisive.flatMap(({ violated, requirements: requirementIds }) => violated ?? requirementIds),
  );
  const records: readonly Requirement[] = Object.values(requirements);
  const musts = records.filter(({ level, excluded }) => level === 'must' && excluded === undefined);
  const everywhere = new Map(requirementsOnAllOperations.map((each) => [each.requirement, each]));
  const isNamed = (id: string): boolean =>
    verdicts.some(({ requirements: requirementIds }) => requirementIds.some((each) => each === id));
  const undecidedMusts = musts.flatMap(({ id }): readonly UndecidedMust[] => {
    const judgement = everywhere.get(id);
    const isDecided = decidedIds.has(id) || (judgement !== undefined && !isNamed(id));
    if (!isDecided) return [{ id, ...whyUndecided(id, verdicts) }];
    const { unjudged = [] } = judgement ?? {};
    if (unjudged.length === 0) return [];
    return [{ id, reason: `no exchange of ${unjudged.join(', ')} was judged by it` }];
  });
  return {
    decided: musts.length - undecidedMusts.length,
    undecided: undecidedMusts.length,
    undecidedMusts,
  };
}

/** Returns the reason why a MUST is undecided, from the worst verdict of a case that tests it. */
function whyUndecided(
  requirement: string,
  verdicts: readonly CaseVerdict[],
): Omit<UndecidedMust, 'id'> {
  const naming = verdicts.filter(({ requirements: named }) =>
    named.some((id) => id === requirement),
  );
  for (const name of verdictNames) {
    const nearest = naming.find(({ verdict }) => verdict === name);
    if (!nearest) continue;
    const { id, reason, observation } = nearest;
    const text = reason?.text ?? observation ?? 'another of its requirements failed';
    return { reason: `${id} ${name}: ${text}`, code: reason?.code ?? name };
  }
  return { reason: 'no case that tests it was selected' };
}

/** The facts about a run that are known before its first case. */
export interface RunStart {
  readonly runId: string;
  readonly seed: string;
  /** When the run started, in ISO 8601 and UTC. */
  readonly startedAt: string;
  /** The IDs of the cases of the run. */
  readonly ids: readonly string[];
}

/** How the expectation of a case begins that failed by violations alone. */
export const violationExpectation = 'every exchange of';

/** Returns true if a failed case failed by violations alone, and not by its own expectation. */
export function failedByViolationsOnly({ violations, expected = '' }: CaseVerdict): boolean {
  return violations !== undefined && expected.startsWith(violationExpectation);
}
