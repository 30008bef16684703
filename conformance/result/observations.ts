/**
 * Which reading of each open point the target chose, as the observing cases saw it, beside what our
 * own server does. Facts of a run; nothing here is right or wrong.
 */
import { openPoints } from '../../fixtures/contract/open-points.ts';
import { requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import type { CaseVerdict, OpenPointReading } from './result.ts';

const records: readonly Requirement[] = Object.values(requirements);

/** A reading for each open point that a requirement observes, in the order of the open points. */
export function observationsOf(verdicts: readonly CaseVerdict[]): readonly OpenPointReading[] {
  return openPoints.flatMap(({ id, heading, question, choice }) => {
    const observing = records.filter(({ openPoint }) => openPoint === id).map((each) => each.id);
    if (observing.length === 0) return [];
    return [{ id, heading, question, ours: choice, seen: seenOf(observing, verdicts) }];
  });
}

function seenOf(
  observing: readonly string[],
  verdicts: readonly CaseVerdict[],
): OpenPointReading['seen'] {
  return verdicts
    .filter(({ requirements: named }) => named.some((id) => observing.includes(id)))
    .map(({ id, verdict, observation, reason }) => ({
      caseId: id,
      verdict,
      text: observation ?? reason?.text ?? '',
    }));
}
