/** Passive checks: each judges an exchange with the server, whoever sent the request. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { responseSummary } from '../target/expectations.ts';
import type { DeviceHistory } from './device-history.ts';
import type { JudgedExchange } from './judged-exchange.ts';
import type { RunHistory } from './run-history.ts';

/** A violation of a check. It reads as a sentence: `part` must `expected`, not `actual`. */
export interface Violation {
  /** The part of the exchange that is wrong, such as `200 body: /timezone`. */
  readonly part: string;
  /** The expectation, phrased to follow "must". */
  readonly expected: string;
  /** The actual value, in a few words. */
  readonly actual: string;
  /** The violated requirement, if it is not the one of the check. */
  readonly requirement?: RequirementId;
  /** A requirement of the operation that the exchange violates as well. */
  readonly alsoViolated?: RequirementId;
}

/** A violation whose requirement is known. */
export interface NamedViolation extends Violation {
  readonly requirement: RequirementId;
}

/** The facts recorded of earlier exchanges. */
export interface ExchangeHistory {
  /** Facts about the server, from the requests of any client. */
  readonly run: RunHistory;
  /** Facts about the device before this exchange; empty if the device is unknown. */
  readonly device: DeviceHistory;
}

/**
 * One check. A check does not apply to an exchange that it cannot decide without doubt. Checks
 * about servers know `ExchangeHistory`; the duties of device clients (`client-judge/duty.ts`) have
 * a history of their own.
 */
export interface PassiveCheck<Known = ExchangeHistory> {
  /** Stable name by which other code refers to it, such as `error-body`. */
  readonly id?: string;
  /** The requirement that the check decides; undefined if each violation names its requirement. */
  readonly requirement?: RequirementId;
  /** IDs of the operations to which the check applies; every operation when absent. */
  readonly operations?: readonly string[];
  /** Returns true if the check decides the exchange. Must be fast: it runs for every exchange. */
  readonly applies: (exchange: JudgedExchange, history: Known) => boolean;
  /** Returns the violation; undefined if the exchange satisfies the check. */
  readonly violation: (exchange: JudgedExchange, history: Known) => Violation | undefined;
  /** Returns the exchange that shows the violation, if that is an earlier one of the device. */
  readonly about?: (exchange: JudgedExchange, history: Known) => JudgedExchange | undefined;
}

/** The verdict of an applicable check on an exchange. */
export interface CheckVerdict {
  readonly check: PassiveCheck;
  /** How the exchange violates the check; undefined when the check holds. */
  readonly violation: NamedViolation | undefined;
}

/** Applies the checks to an exchange. @throws when a violation names no requirement */
export function verdictsOn(
  checks: readonly PassiveCheck[],
  exchange: JudgedExchange,
  history: ExchangeHistory,
): readonly CheckVerdict[] {
  return appliedChecks(checks, exchange, history).map(({ check, violation }) => {
    if (violation === undefined) return { check, violation };
    const requirement = violation.requirement ?? check.requirement;
    if (requirement === undefined) throw new Error(`the check ${check.id} names no requirement`);
    return { check, violation: { ...violation, requirement } };
  });
}

/** Returns the checks that decide an exchange, each with its violation, if any. */
export function appliedChecks<
  Known,
  Check extends Pick<PassiveCheck<Known>, 'operations' | 'applies' | 'violation'>,
>(checks: readonly Check[], exchange: JudgedExchange, history: Known) {
  const operation = exchange.operation.id;
  return checks
    .filter(({ operations }) => operations?.includes(operation) ?? true)
    .filter((check) => check.applies(exchange, history))
    .map((check) => ({ check, violation: check.violation(exchange, history) }));
}

/** Returns a violation if the status of the response is none of these; otherwise undefined. */
export function statusViolation(
  { response }: JudgedExchange,
  ...statuses: readonly number[]
): Violation | undefined {
  if (statuses.includes(response.status)) return undefined;
  return {
    part: 'the status',
    expected: `be ${statuses.join(' or ')}`,
    actual: responseSummary(response),
  };
}
