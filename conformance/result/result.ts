/** The one result object of a run: plain values, from which every report is rendered. */
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type {
  Requirement,
  RequirementLevel,
} from '../../fixtures/contract/requirements/requirement.ts';
import type { Made } from '../context/resource.ts';
import type { CaseListing } from '../suite/case.ts';
import type { RecordedOptions } from '../suite/options.ts';
import type { Exchange } from '../target/exchange.ts';
import type { TrafficCounts } from '../target/traffic.ts';

/** The six verdicts, the worst first. */
export const verdictNames = ['fail', 'error', 'inconclusive', 'pass', 'observed', 'skip'] as const;
export type VerdictName = (typeof verdictNames)[number];

/** What a verdict rests on beside its name. */
export interface Finding {
  readonly verdict: VerdictName;
  /** Skip: the missing capability. Inconclusive: a reason code. Error: the suite's own fault. */
  readonly reason?: { readonly code: string; readonly text: string };
  readonly expected?: string;
  readonly actual?: string;
  readonly observation?: string;
  /** Fail: those of the case's requirements that were missed, where it can tell; else all. */
  readonly missed?: readonly RequirementId[];
}

/** One of several runs of a case, by which its stability is known. */
export interface Attempt extends Finding {
  readonly startedMs: number;
  readonly durationMs: number;
}

/** The waiver of a failure that is known, has an owner and expires. */
interface AppliedWaiver {
  readonly reason: string;
  readonly owner: string;
  /** The last day on which it holds, ISO 8601. */
  readonly expires: string;
}

/** An invariant that an exchange of a case broke. */
export interface ReportedBreach {
  /** That of the invariant, and the operation's own where both are broken. */
  readonly requirements: readonly string[];
  readonly level: RequirementLevel;
  readonly operation: string;
  /** What is wrong, such as `200 body: /timezone must be a string, not the number 7`. */
  readonly text: string;
  /** The exchange that shows it. */
  readonly exchange: Exchange;
}

/** A breach in a line. */
export function breachText({
  operation,
  text,
  requirements: broken,
}: Pick<ReportedBreach, 'operation' | 'text' | 'requirements'>): string {
  return `invariant: ${operation}: ${text} (${broken.join(', ')})`;
}

/** How many exchanges of each operation were held against a requirement that speaks of all. */
export interface JudgedEverywhere {
  readonly requirement: string;
  readonly operations: readonly {
    readonly operation: string;
    readonly judged: number;
    readonly broken: number;
  }[];
  /** Operations of the target that no exchange was judged of. */
  readonly unjudged: readonly string[];
}

/** The verdict on one case. */
export interface CaseVerdict extends Finding, CaseListing {
  /** The sentences of the requirements, in the order of `requirements`. */
  readonly sentences: readonly string[];
  /** From the start of the run to the start of the case; for a timeline. */
  readonly startedMs: number;
  readonly durationMs: number;
  /** Each run of the case when it was run more than once. */
  readonly attempts?: readonly Attempt[];
  /** Fail: the invariants that its exchanges broke, whatever the case itself looked at. */
  readonly breaches?: readonly ReportedBreach[];
  /** Present if the case failed and a waiver covers it. */
  readonly waiver?: AppliedWaiver;
  /** There when the case failed by a SHOULD, and only a MUST fails the run. */
  readonly tolerated?: true;
  /** The recorded exchanges, unless the case passed or was skipped. */
  readonly exchanges?: readonly Exchange[];
  readonly exchangesDropped?: number;
  /** Fail: the repro script, as bash; the name is that of schema `fleetbed-conformance/2`. */
  readonly reproScript?: string;
  /** What the case made of its own; absent when it made nothing. */
  readonly made?: Made;
  /** What the case made and could not remove. */
  readonly leftBehind?: readonly string[];
}

/** A must of the contract that no case passed or failed. */
interface UndecidedMust {
  readonly id: string;
  /** One phrase: the verdict of the case that came nearest, or that none was run. */
  readonly because: string;
  /** The reason code of that case; absent when none was run. */
  readonly code?: string;
}

/** Which of the contract's musts a run decided. */
export interface DecidedMusts {
  readonly decided: number;
  readonly undecided: number;
  readonly undecidedMusts: readonly UndecidedMust[];
}

/** The settings of a run that bear on its verdicts. */
interface RunSettings extends RecordedOptions {
  /** Beginnings of case ids; none means every case. */
  readonly selection: readonly string[];
}

/** One ability of the target: what it was said to offer, and what it showed. */
export interface CapabilityRow {
  readonly capability: string;
  readonly declared: 'offered' | 'missing' | 'unsaid';
  readonly probed: 'offered' | 'missing' | 'unknown';
  /** What the probe saw, in one sentence. */
  readonly evidence?: string;
  /** One sentence, when the probe contradicts what was declared. */
  readonly contradiction?: string;
}

/** Which reading of an open point the target chose, beside that of our own server. */
export interface OpenPointReading {
  readonly id: string;
  readonly heading: string;
  readonly question: string;
  /** What the reference server does, in a sentence. */
  readonly ours: string;
  /** What the observing cases saw, or why they saw nothing. */
  readonly seen: readonly {
    readonly caseId: string;
    readonly verdict: VerdictName;
    readonly text: string;
  }[];
}

/** A waiver of the run and what became of it. */
export interface WaiverRow extends AppliedWaiver {
  readonly caseId: string;
  /** `used` covers a failure; `idle` means that this run did not decide the case. */
  readonly state: 'used' | 'idle' | 'expired' | 'needless' | 'unknown-case';
}

/** Something that fails a run beside its verdicts. */
export interface RunProblem {
  /** The kind of problem, such as `waiver-expired`. */
  readonly code: string;
  /** The problem in one sentence. */
  readonly text: string;
}

/** The version of the form of a result; another number means that readers have to change. */
export const conformanceSchema = 'fleetbed-conformance/2';

/** One run of the suite. */
export interface ConformanceResult {
  readonly schema: typeof conformanceSchema;
  readonly suite: { readonly name: string; readonly version: string };
  readonly target: { readonly baseUrl: string; readonly headerPrefix: string };
  readonly runId: string;
  /** Decides every choice of the run; the same seed makes the same choices again. */
  readonly seed: string;
  readonly settings: RunSettings;
  readonly environment: { readonly node: string; readonly platform: string };
  /** When the run started, in ISO 8601 and UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  /**
   * The worst verdict that is neither waived nor tolerated, a problem being a failure; `inconclusive` when nothing
   * passed or failed.
   */
  readonly outcome: VerdictName;
  /** What decides the outcome, in one sentence that begins with it. */
  readonly headline: string;
  readonly totals: Readonly<Record<VerdictName, number>>;
  readonly musts: DecidedMusts;
  readonly verdicts: readonly CaseVerdict[];
  /** The requirements that are judged on every exchange. */
  readonly judgedEverywhere: readonly JudgedEverywhere[];
  readonly capabilities: readonly CapabilityRow[];
  readonly openPoints: readonly OpenPointReading[];
  readonly waivers: readonly WaiverRow[];
  /** What fails the run although no verdict does. */
  readonly problems: readonly RunProblem[];
  /** How many resources of each kind were announced in the ledger. */
  readonly made: Made;
  /** What the run asked of the target, and what of it stays there. */
  readonly footprint: TrafficCounts;
  /** What the run made for all its cases and could not remove. */
  readonly leftBehind: readonly string[];
}

/** How often each verdict was given. */
export function countVerdicts(verdicts: readonly Finding[]): Record<VerdictName, number> {
  const totals = Object.fromEntries(verdictNames.map((name) => [name, 0]));
  for (const { verdict } of verdicts) totals[verdict] = (totals[verdict] ?? 0) + 1;
  return totals as Record<VerdictName, number>;
}

/** The verdict of a whole: its worst part. Parts that decide nothing do not make a pass. */
export function worstOf(verdicts: readonly Finding[]): VerdictName {
  const totals = countVerdicts(verdicts);
  const worst = verdictNames.find((name) => totals[name] > 0);
  return worst === undefined || worst === 'observed' || worst === 'skip' ? 'inconclusive' : worst;
}

/** The outcome of a run: its worst verdict but for what is waived; a problem fails it. */
export function outcomeOf(
  verdicts: readonly CaseVerdict[],
  problems: readonly RunProblem[],
): VerdictName {
  if (problems.length > 0) return 'fail';
  return worstOf(verdicts.filter((verdict) => !isExcused(verdict)));
}

/** Whether the run does not fail although the case did. */
export function isExcused({
  waiver,
  tolerated,
}: Pick<CaseVerdict, 'waiver' | 'tolerated'>): boolean {
  return waiver !== undefined || tolerated === true;
}

/** Lets failures of SHOULDs count no longer. */
export function tolerating(verdicts: readonly CaseVerdict[]): readonly CaseVerdict[] {
  return verdicts.map((each) =>
    each.verdict === 'fail' && each.level !== 'must' ? { ...each, tolerated: true } : each,
  );
}

/**
 * Which musts at least one of the verdicts decides, among all that are not excluded. One that is
 * judged on every exchange takes each operation of the target beside.
 */
export function decideMusts(
  verdicts: readonly CaseVerdict[],
  judgedEverywhere: readonly JudgedEverywhere[] = [],
): DecidedMusts {
  const decisive = verdicts.filter(({ verdict }) => verdict === 'pass' || verdict === 'fail');
  const decided = new Set<string>(
    decisive.flatMap(({ missed, requirements: named }) => missed ?? named),
  );
  const records: readonly Requirement[] = Object.values(requirements);
  const musts = records.filter(({ level, excluded }) => level === 'must' && excluded === undefined);
  const everywhere = new Map(judgedEverywhere.map((each) => [each.requirement, each]));
  const isNamed = (id: string): boolean =>
    verdicts.some(({ requirements: named }) => named.some((each) => each === id));
  const undecidedMusts = musts.flatMap(({ id }): readonly UndecidedMust[] => {
    const judged = everywhere.get(id);
    const isDecided = decided.has(id) || (judged !== undefined && !isNamed(id));
    if (!isDecided) return [{ id, ...whyUndecided(id, verdicts) }];
    const { unjudged = [] } = judged ?? {};
    if (unjudged.length === 0) return [];
    return [{ id, because: `no exchange of ${unjudged.join(', ')} was judged by it` }];
  });
  return {
    decided: musts.length - undecidedMusts.length,
    undecided: undecidedMusts.length,
    undecidedMusts,
  };
}

/** What kept the case from deciding that came nearest to it; the verdicts go from worst to least. */
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
    return { because: `${id} ${name}: ${text}`, code: reason?.code ?? name };
  }
  return { because: 'no case that tests it was selected' };
}

/** What is known when the first case is about to be run. */
export interface RunStart {
  readonly runId: string;
  readonly seed: string;
  /** When the run started, in ISO 8601 and UTC. */
  readonly startedAt: string;
  /** The ids of the cases of the run. */
  readonly ids: readonly string[];
}
