/** Lists the operations that a run judged by the requirements that apply to all operations. */
import type { OperationId } from '../../fixtures/contract/operations.ts';
import { generalRequirements } from '../passive/catalogue.ts';
import type { JudgementCounts } from '../passive/suite-traffic-judge.ts';
import type { GeneralJudgements } from './result.ts';

/** Returns a row for each such requirement. @param offered the operations that the target has */
export function requirementsOnAllOperations(
  judgementCounts: JudgementCounts,
  offered: ReadonlySet<OperationId>,
): readonly GeneralJudgements[] {
  return generalRequirements.map((requirement) => {
    const byOperation = judgementCounts.get(requirement) ?? new Map();
    return {
      requirement,
      operations: [...byOperation].map(([operation, { judged, violated }]) => {
        return { operation, judged, violated };
      }),
      unjudged: [...offered].filter((operation) => !byOperation.has(operation)),
    };
  });
}
