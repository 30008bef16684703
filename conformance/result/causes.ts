/**
 * Finds the failed case from which the verdict on another case follows: one that kept it from its
 * start state, or one that shows the same violation of the contract.
 */
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import { recognizeRequest } from '../target/operation-at.ts';
import type { CaseVerdict, ReportedViolation } from './result.ts';

/** The requirements that each case tests, without those that only its exchanges violate, by ID. */
export type TestedRequirements = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the ID of the failed case from which the verdict follows; undefined if there is none.
 *
 * A case that did not reach its start state follows from a failed case in which the same operation was
 * answered with the same status instead of the expected one. A case that fails only because its
 * exchanges violate requirements follows from failed cases that violated the same requirements,
 * either of the same operation or as what these cases test.
 */
export function causeOf(
  verdict: CaseVerdict,
  failed: readonly CaseVerdict[],
  tested: TestedRequirements,
): string | undefined {
  if (verdict.verdict === 'inconclusive') {
    return failed.find((each) => isSameResponse(verdict, each))?.id;
  }
  if (verdict.verdict !== 'fail') return undefined;
  const { violations = [], violated = verdict.requirements } = verdict;
  const byPassiveChecks = violations.flatMap(({ requirements }) => requirements);
  if (!violated.every((id) => byPassiveChecks.includes(id))) return undefined;
  const causes = violations.map(
    (violation) => failed.find((each) => shows(each, violation, tested))?.id,
  );
  return causes.includes(undefined) ? undefined : causes[0];
}

function isSameResponse({ reason, ...verdict }: CaseVerdict, failed: CaseVerdict): boolean {
  const response = lastResponse(verdict);
  return (
    reason?.expected !== undefined &&
    reason.expected === failed.expected &&
    response !== undefined &&
    response === lastResponse(failed)
  );
}

/** Returns the operation and the status of the last exchange; undefined if one is unknown. */
function lastResponse({ exchanges = [] }: Pick<CaseVerdict, 'exchanges'>): string | undefined {
  const { request, response } = exchanges.at(-1) ?? {};
  const [method = '', url = ''] = request?.line.split(' ') ?? [];
  if (response === undefined || !URL.canParse(url)) return undefined;
  const { pathname } = new URL(url);
  // The base URL of a target may have a path.
  const starts = Object.values(apiPrefixes).map((prefix) => pathname.indexOf(prefix));
  const { row } = recognizeRequest(method, pathname.slice(Math.max(0, ...starts)));
  return row && `${row.id} ${response.status}`;
}

function shows(
  { id, violated, requirements, violations = [] }: CaseVerdict,
  violation: ReportedViolation,
  tested: TestedRequirements,
): boolean {
  const operations = (requirement: string): readonly string[] =>
    violations
      .filter((each) => each.requirements.includes(requirement))
      .map(({ operation }) => operation);
  return violation.requirements.every(
    (requirement) =>
      operations(requirement).includes(violation.operation) ||
      ((violated ?? requirements).some((each) => each === requirement) &&
        tested.get(id)?.includes(requirement)),
  );
}
