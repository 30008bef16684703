/** Facts that duties read in the reports on a deployment, and in the offer that they are about. */
import { isPollOperation } from '../../../fixtures/contract/operation-ids.ts';
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import { membersOf } from '../../target/json-members.ts';
import type { DutyHistory } from '../duty.ts';
import { isReportableFinal } from '../exchange-facts.ts';
import { hasReceivedResponse } from '../exemptions.ts';
import type { Offer } from '../history-items.ts';

/** The operation by which a device reports. */
export const reporting: readonly string[] = ['put-deployment-status'];

export function offerOf(
  { deploymentId }: JudgedExchange,
  { client }: DutyHistory,
): Offer | undefined {
  return client.deployments.offers.get(deploymentId);
}

/** Returns the deployment of a report, and the latest one for a poll. */
export function conflictingOffer(
  exchange: JudgedExchange,
  history: DutyHistory,
): Offer | undefined {
  const isReport = reporting.includes(exchange.operation.id);
  return isReport ? offerOf(exchange, history) : history.client.deployments.offers.newest?.[1];
}

/** Returns true for a poll that brings a deployment which the device has not seen. */
export function offersNew(
  { operation, status, responseJson }: JudgedExchange,
  client: DutyHistory['client'],
): boolean {
  const { id } = membersOf(responseJson);
  const isOffer = isPollOperation(operation) && status === 200 && typeof id === 'string';
  return isOffer && !client.deployments.offers.has(id);
}

export function isFinalAttempt({ operation, requestJson }: JudgedExchange): boolean {
  return reporting.includes(operation.id) && isReportableFinal(membersOf(requestJson).status);
}

/** Returns true for a final status that has to be sent again. */
export function isFailedFinal(exchange: JudgedExchange, event: DutyHistory['event']): boolean {
  const { status } = exchange;
  const isFailed = status >= 500 || status === 429 || status === 401 || !hasReceivedResponse(event);
  return isFinalAttempt(exchange) && isFailed;
}

export function isFinalReport(exchange: JudgedExchange): boolean {
  return isFinalAttempt(exchange) && exchange.isSuccess;
}

export function isWithoutUpdate({ operation, status }: JudgedExchange): boolean {
  return isPollOperation(operation) && (status === 204 || status === 409);
}

/** Returns the newest deployment if a 409 has ended it. */
export function abortedOffer({ client }: DutyHistory): Offer | undefined {
  const latest = client.deployments.offers.newest?.[1];
  return latest?.conflictMs === undefined ? undefined : latest;
}
