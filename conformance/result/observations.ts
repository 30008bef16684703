/**
 * Lists for each open point of the contract the target's behaviour, as observed by cases, and the
 * choice of the reference server. No behaviour is right or wrong here.
 */
import { openPoints } from '../../fixtures/contract/open-points.ts';
import { requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import type { CaseVerdict, OpenPointObservation } from './result.ts';

const records: readonly Requirement[] = Object.values(requirements);

/** Returns a row for each open point that has a requirement, in the order of the open points. */
export function observationsOf(verdicts: readonly CaseVerdict[]): readonly OpenPointObservation[] {
  return openPoints.flatMap(({ id, heading, question, choice }) => {
    const observing = records.filter(({ openPoint }) => openPoint === id).map((each) => each.id);
    if (observing.length === 0) return [];
    return [{ id, heading, question, reference: choice, target: observedBy(observing, verdicts) }];
  });
}

function observedBy(
  observing: readonly string[],
  verdicts: readonly CaseVerdict[],
): OpenPointObservation['target'] {
  return verdicts
    .filter(({ requirements: requirementIds }) =>
      requirementIds.some((id) => observing.includes(id)),
    )
    .map(({ id, verdict, observation, reason }) => ({
      caseId: id,
      verdict,
      text: observation ?? reason?.text ?? '',
    }));
}
