/** Selects the cases of an earlier result to run again, and compares the verdicts. */
import type { CaseVerdict, VerdictName } from './result.ts';
import type { StoredResult } from './schema.ts';

/**
 * The outcome of a repeated case. `fixed`: it passes now. `still-failing`: it fails again.
 * `waived`: it fails again under a waiver. `other`: it has any other verdict, or no longer exists.
 */
export const rerunOutcomes = ['still-failing', 'waived', 'other', 'fixed'] as const;
type RerunOutcome = (typeof rerunOutcomes)[number];

/** A case that was run again. */
export interface RerunCase {
  readonly id: string;
  readonly end: RerunOutcome;
  readonly before: { readonly verdict: VerdictName; readonly text: string };
  /** The new verdict; absent if the suite no longer has the case. */
  readonly after?: { readonly verdict: VerdictName; readonly text: string };
}

/** Returns the IDs of the failed cases, and of inconclusive ones if `withInconclusive` is true. */
export function idsToRerun(
  { verdicts }: StoredResult,
  withInconclusive: boolean,
): ReadonlySet<string> {
  const rerunVerdicts: readonly VerdictName[] = withInconclusive
    ? ['fail', 'inconclusive', 'error']
    : ['fail'];
  return new Set(
    verdicts.filter(({ verdict }) => rerunVerdicts.includes(verdict)).map(({ id }) => id),
  );
}

/** Returns the outcome of each of these cases, the ones that still fail first. */
export function compareRerunCases(
  report: StoredResult,
  ids: ReadonlySet<string>,
  verdicts: readonly CaseVerdict[],
): readonly RerunCase[] {
  const earlierVerdicts = report.verdicts.filter(({ id }) => ids.has(id));
  const rows = earlierVerdicts.map((before): RerunCase => {
    const after = verdicts.find(({ id }) => id === before.id);
    return {
      id: before.id,
      end: endOf(after),
      before: { verdict: before.verdict, text: textOf(before) },
      ...(after && { after: { verdict: after.verdict, text: textOf(after) } }),
    };
  });
  return rerunOutcomes.flatMap((end) => rows.filter((row) => row.end === end));
}

function endOf(verdict: CaseVerdict | undefined): RerunOutcome {
  if (verdict?.waiver) return 'waived';
  if (verdict?.verdict === 'fail') return 'still-failing';
  // An observing case fails only by what else it saw; without that it observes.
  const isFixed = verdict?.verdict === 'pass' || verdict?.verdict === 'observed';
  return isFixed ? 'fixed' : 'other';
}

/** Returns the actual value, the observation or the reason of a verdict; empty for a pass. */
function textOf({
  actual,
  observation,
  reason,
}: Pick<StoredResult['verdicts'][number], 'actual' | 'observation' | 'reason'>): string {
  return actual ?? observation ?? reason?.text ?? '';
}
