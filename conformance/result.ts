/** The one result object of a run: plain values, from which every report is rendered. */
import { type RequirementId, requirements } from '../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../fixtures/contract/requirements/requirement.ts';
import type { CaseListing } from './case.ts';
import type { Exchange } from './target/exchange.ts';

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

/** The verdict on one case. */
export interface CaseVerdict extends Finding, CaseListing {
  /** The sentences of the requirements, in the order of `requirements`. */
  readonly sentences: readonly string[];
  readonly durationMs: number;
  /** The recorded exchanges, unless the case passed or was skipped. */
  readonly exchanges?: readonly Exchange[];
  readonly exchangesDropped?: number;
  /** What the case made and could not remove. */
  readonly leftBehind?: readonly string[];
}

/** Which of the contract's musts a run decided. */
export interface DecidedMusts {
  readonly decided: number;
  readonly undecided: number;
  /** Ids of the requirements that no case passed or failed. */
  readonly undecidedIds: readonly string[];
}

/** One run of the suite. */
export interface ConformanceResult {
  readonly suite: { readonly name: string; readonly version: string };
  readonly target: { readonly baseUrl: string; readonly headerPrefix: string };
  readonly runId: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** The worst verdict; `inconclusive` when nothing passed or failed. */
  readonly outcome: VerdictName;
  readonly totals: Readonly<Record<VerdictName, number>>;
  readonly musts: DecidedMusts;
  readonly verdicts: readonly CaseVerdict[];
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

/** Which musts at least one of the verdicts decides, among all that are not excluded. */
export function decideMusts(verdicts: readonly CaseVerdict[]): DecidedMusts {
  const decisive = verdicts.filter(({ verdict }) => verdict === 'pass' || verdict === 'fail');
  const decided = new Set<string>(
    decisive.flatMap(({ missed, requirements: named }) => missed ?? named),
  );
  const records: readonly Requirement[] = Object.values(requirements);
  const musts = records.filter(({ level, excluded }) => level === 'must' && excluded === undefined);
  const undecidedIds = musts.map(({ id }) => id).filter((id) => !decided.has(id));
  return {
    decided: musts.length - undecidedIds.length,
    undecided: undecidedIds.length,
    undecidedIds,
  };
}
