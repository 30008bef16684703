/** Merges the violations of passive checks in the exchanges of a case into the verdict on the case. */
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { RequirementLevel } from '../../fixtures/contract/requirements/requirement.ts';
import type { UndocumentedResponse } from '../context/start-states.ts';
import { type ExchangeViolation, isMissingResponse } from '../passive/suite-traffic-judge.ts';
import {
  type CaseOutcome,
  type CaseVerdict,
  violationExpectation,
  violationText,
} from '../result/result.ts';
import { listedCase, type RunnableCase } from '../suite/case.ts';
import { reportedExchange, type TargetExchange } from '../target/exchange.ts';
import { responseSummary } from '../target/expectations.ts';

type VerdictListing = Omit<CaseVerdict, 'verdict' | 'startedMs' | 'durationMs'>;

const levels: readonly RequirementLevel[] = ['must', 'should', 'may'];

/** Returns the listing of a case for its verdict, with the sentences of its requirements. */
export function listingOf(testCase: RunnableCase): VerdictListing {
  return { ...listedCase(testCase), sentences: testCase.requirements.map(sentenceOf) };
}

/**
 * Returns the outcome and the listing of a case with its violations. A case with a violation fails,
 * and also names the requirements of the passive checks. The verdict `error` is kept.
 */
export function withViolations(
  testCase: RunnableCase,
  finding: CaseOutcome,
  exchangeViolations: readonly ExchangeViolation[],
): { readonly outcome: CaseOutcome; readonly listing: VerdictListing } {
  const violations = exchangeViolations.filter(
    (violation) => testCase.level === 'may' || !isMissingResponse(violation),
  );
  const [firstViolation] = violations;
  if (!firstViolation) return { outcome: finding, listing: listingOf(testCase) };
  const violatedByExchanges = [...new Set(violations.flatMap(({ requirements: ids }) => ids))];
  const requirementIds = [...new Set([...testCase.requirements, ...violatedByExchanges])];
  const isOwnFailure = finding.verdict === 'fail';
  const level = worst([
    ...violations.map((violation) => violation.level),
    ...(isOwnFailure ? [testCase.level] : []),
  ]);
  const listing = {
    ...listingOf({ ...testCase, level, requirements: requirementIds }),
    violations,
  };
  if (finding.verdict === 'error')
    return { outcome: finding, listing: { ...listing, level: testCase.level } };
  const violated = isOwnFailure
    ? [...new Set([...(finding.violated ?? testCase.requirements), ...violatedByExchanges])]
    : violatedByExchanges;
  return {
    outcome: { ...failureOf(finding, firstViolation, violations.length), violated },
    listing,
  };
}

/** Returns the failure of the case itself, or else a failure that describes the first violation. */
function failureOf(
  finding: CaseOutcome,
  firstViolation: ExchangeViolation,
  count: number,
): CaseOutcome {
  if (finding.verdict === 'fail') return finding;
  const more = count > 1 ? `; and ${count - 1} more` : '';
  return {
    verdict: 'fail',
    ...(isMissingResponse(firstViolation) && finding.reason && { reason: finding.reason }),
    expected: `${violationExpectation} ${firstViolation.operation} to keep the contract`,
    actual: `${violationText(firstViolation)}${more}`,
  };
}

/**
 * Returns the violation of a response that the contract does not document for a valid request.
 * @param exchanges the exchanges of the case, the one with the response among the last
 */
export function violationBy(
  { operation, requirements: ids, response }: UndocumentedResponse,
  exchanges: readonly TargetExchange[],
): ExchangeViolation {
  const isIt = (each: TargetExchange): boolean => each.response?.status === response.status;
  const exchange = exchanges.findLast(isIt) ?? exchanges.at(-1);
  if (exchange === undefined)
    throw new Error('the response is not among the exchanges of its case');
  const text = `the response to a valid request must be the documented one, not ${responseSummary(response)}`;
  const [firstId] = ids;
  return {
    operation,
    text,
    requirements: ids,
    level: requirements[firstId].level,
    exchange: reportedExchange(exchange),
  };
}

function worst(found: readonly RequirementLevel[]): RequirementLevel {
  return levels.find((level) => found.includes(level)) ?? 'must';
}

function sentenceOf(id: RequirementId): string {
  return requirements[id].sentence;
}
