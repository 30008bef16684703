/** Which cases of an earlier result are run again, and what has become of each. */

import type { CaseVerdict, VerdictName } from './result.ts';
import type { Report } from './schema.ts';

/**
 * `fixed` passes now, `still-failing` fails again and `waived` does so under a waiver; anything else
 * is `other`.
 */
export const replayEnds = ['still-failing', 'waived', 'other', 'fixed'] as const;
type ReplayEnd = (typeof replayEnds)[number];

/** A case that was run again. */
export interface ReplayedCase {
  readonly id: string;
  readonly end: ReplayEnd;
  readonly before: { readonly verdict: VerdictName; readonly text: string };
  /** None when the suite has no such case any more. */
  readonly after?: { readonly verdict: VerdictName; readonly text: string };
}

/** Ids of the cases to repeat: the failures, and on demand those that nothing was decided about. */
export function idsToReplay({ verdicts }: Report, withUndecided: boolean): ReadonlySet<string> {
  const chosen: readonly VerdictName[] = withUndecided
    ? ['fail', 'inconclusive', 'error']
    : ['fail'];
  return new Set(verdicts.filter(({ verdict }) => chosen.includes(verdict)).map(({ id }) => id));
}

/** What became of each of these cases, those that still fail first. */
export function replayedCases(
  report: Report,
  ids: ReadonlySet<string>,
  verdicts: readonly CaseVerdict[],
): readonly ReplayedCase[] {
  const repeated = report.verdicts.filter(({ id }) => ids.has(id));
  const rows = repeated.map((before): ReplayedCase => {
    const after = verdicts.find(({ id }) => id === before.id);
    return {
      id: before.id,
      end: endOf(after),
      before: { verdict: before.verdict, text: textOf(before) },
      ...(after && { after: { verdict: after.verdict, text: textOf(after) } }),
    };
  });
  return replayEnds.flatMap((end) => rows.filter((row) => row.end === end));
}

function endOf(after: CaseVerdict | undefined): ReplayEnd {
  if (after?.verdict === 'fail') return after.waiver ? 'waived' : 'still-failing';
  return after?.verdict === 'pass' ? 'fixed' : 'other';
}

/** What a verdict rests on, in a few words; empty for a pass. */
function textOf({
  actual,
  observation,
  reason,
}: Pick<Report['verdicts'][number], 'actual' | 'observation' | 'reason'>): string {
  return actual ?? observation ?? reason?.text ?? '';
}
