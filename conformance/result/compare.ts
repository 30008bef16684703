/**
 * Compares two results of the suite case by case: of one target at two times, or of two targets.
 * `report/differences.ts` renders the comparison.
 */
import type { VerdictName } from './result.ts';
import type { StoredResult } from './schema.ts';

/** The kinds of change of a case from the earlier result to the later one, worst first. */
export const changeKinds = [
  'regression',
  'undecided-now',
  'other-failure',
  'changed-observation',
  'repair',
  'decided-now',
] as const;
type ChangeKind = (typeof changeKinds)[number];

/** The verdict on a case in one of the two results. */
interface SideVerdict {
  readonly verdict: VerdictName;
  /** The actual value, the observation or the reason; empty for a pass. */
  readonly text: string;
}

/** A case whose verdict, failure or observation has changed. */
export interface CaseChange {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly before: SideVerdict;
  readonly after: SideVerdict;
}

/** A case that only one of the two results contains. */
export interface UnmatchedCase {
  readonly id: string;
  readonly verdict: VerdictName;
}

/** The differences between two results. */
export interface ResultComparison {
  readonly before: RunOrigin;
  readonly after: RunOrigin;
  /** The changes in the order of `changeKinds`, so regressions come first. */
  readonly changes: readonly CaseChange[];
  readonly newCases: readonly UnmatchedCase[];
  readonly vanishedCases: readonly UnmatchedCase[];
  /** Number of cases without a change. */
  readonly unchanged: number;
}

interface RunOrigin {
  readonly baseUrl: string;
  readonly startedAt: string;
  readonly runId: string;
  readonly outcome: VerdictName;
}

/** The members of a verdict that are compared. */
export type ComparedOutcome = Pick<
  StoredResult['verdicts'][number],
  'verdict' | 'actual' | 'observation' | 'reason'
>;
type ComparedVerdict = ComparedOutcome & { readonly id: string };

/** The members of a result that are compared. */
interface ComparedRun extends Omit<RunOrigin, 'baseUrl'> {
  readonly target: Pick<RunOrigin, 'baseUrl'>;
  readonly verdicts: readonly ComparedVerdict[];
}

const undecided: readonly VerdictName[] = ['inconclusive', 'error', 'skip'];

/** Compares an earlier result with a later one. */
export function compareReports(before: ComparedRun, after: ComparedRun): ResultComparison {
  const earlierVerdicts = new Map(before.verdicts.map((each) => [each.id, each]));
  const laterVerdicts = new Map(after.verdicts.map((each) => [each.id, each]));
  const pairs = after.verdicts.flatMap((each) => {
    const earlierVerdict = earlierVerdicts.get(each.id);
    return earlierVerdict === undefined ? [] : [{ earlierVerdict, each }];
  });
  const changes = pairs.flatMap(({ earlierVerdict, each }) => changeOf(earlierVerdict, each) ?? []);
  return {
    before: originOf(before),
    after: originOf(after),
    changes: changeKinds.flatMap((kind) => changes.filter((each) => each.kind === kind)),
    newCases: after.verdicts.filter(({ id }) => !earlierVerdicts.has(id)).map(loneCase),
    vanishedCases: before.verdicts.filter(({ id }) => !laterVerdicts.has(id)).map(loneCase),
    unchanged: pairs.length - changes.length,
  };
}

function changeOf(before: ComparedVerdict, after: ComparedVerdict): CaseChange | undefined {
  const kind = kindOfChange(before, after);
  if (kind === undefined) return undefined;
  return { id: after.id, kind, before: sideOf(before), after: sideOf(after) };
}

/** Returns the kind of change between two verdicts on a case; undefined if nothing changed. */
export function kindOfChange(
  before: ComparedOutcome,
  after: ComparedOutcome,
): ChangeKind | undefined {
  if (after.verdict === 'fail' && before.verdict !== 'fail') return 'regression';
  if (before.verdict === after.verdict) return kindOfSame(before, after);
  if (undecided.includes(after.verdict)) {
    return undecided.includes(before.verdict) ? undefined : 'undecided-now';
  }
  if (before.verdict === 'fail') return 'repair';
  return undecided.includes(before.verdict) ? 'decided-now' : 'changed-observation';
}

function kindOfSame(before: ComparedOutcome, after: ComparedOutcome): ChangeKind | undefined {
  if (withoutRunValues(sideOf(before).text) === withoutRunValues(sideOf(after).text))
    return undefined;
  if (after.verdict === 'fail') return 'other-failure';
  return after.verdict === 'observed' ? 'changed-observation' : undefined;
}

function sideOf({ verdict, actual, observation, reason }: ComparedOutcome): SideVerdict {
  return { verdict, text: actual ?? observation ?? reason?.text ?? '' };
}

/** Returns the text with placeholders for parts that differ in each run: IDs, names and times. */
function withoutRunValues(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?/g, '<moment>')
    .replace(/\b\d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, '<moment>')
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, '<random>')
    .replace(/\b\d+(?:\.\d+)? (ms|s|seconds?)\b/g, '<time>');
}

function loneCase({ id, verdict }: ComparedVerdict): UnmatchedCase {
  return { id, verdict };
}

function originOf({ target, startedAt, runId, outcome }: ComparedRun): RunOrigin {
  return { baseUrl: target.baseUrl, startedAt, runId, outcome };
}
