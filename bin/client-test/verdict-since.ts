/** The verdict on a part of the events, when one judge sees several scenes. */
import type { ClientVerdict, DutyVerdict } from '../../conformance/client-judge/client-verdict.ts';

/**
 * Returns the part of a verdict that an earlier one of the same client had not: the violations and
 * the decisions in between. A duty that was only decided before is not tested in this part.
 */
export function verdictSince(
  before: ClientVerdict | undefined,
  after: ClientVerdict | undefined,
): ClientVerdict | undefined {
  if (before === undefined || after === undefined) return after;
  const former = new Map(before.duties.map((row) => [row.duty, row]));
  const duties = after.duties.map((row) => rowSince(former.get(row.duty), row));
  return { ...after, exchanges: after.exchanges - before.exchanges, duties };
}

function rowSince(before: DutyVerdict | undefined, after: DutyVerdict): DutyVerdict {
  if (before === undefined) return after;
  const judged = after.judged - before.judged;
  const violationCount = after.violationCount - before.violationCount;
  const violations = after.violations.slice(before.violations.length);
  const row = { ...after, judged, violationCount, violations };
  if (after.state === 'broken' && violationCount === 0)
    return { ...row, state: judged > 0 ? 'met' : 'not-tested' };
  return after.state === 'met' && judged === 0 ? { ...row, state: 'not-tested' } : row;
}
