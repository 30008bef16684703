/**
 * Duties of reports that fail, meet the end of their deployment, or a power cut. Spec: States and
 * transitions
 */
import { isPollOperation } from '../../../fixtures/contract/operation-ids.ts';
import { pollOperations } from '../../../fixtures/contract/operations.ts';
import { describeValue } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import type { Duty } from '../duty.ts';
import { downloadOperations, pollData } from '../exchange-facts.ts';
import { hasReceivedResponse, TOO_FREQUENT_REPEATS_MAX } from '../exemptions.ts';
import {
  abortedOffer,
  isFailedFinal,
  isFinalAttempt,
  isFinalReport,
  isWithoutUpdate,
  offerOf,
  reporting,
} from './reports.ts';
import { retryProblem } from './retry-pauses.ts';

/** A download may begin so long after the response that ended its deployment. */
const STOP_MS = 2000;
/** Polls that a device may send before it repeats a report that was lost. */
const POLLS_WITHOUT_REPORT_MAX = 3;

export const failedReportDuties: readonly Duty[] = [
  {
    id: 'report.retries-final',
    level: 'must',
    sentence: 'A device repeats a final status until a response has accepted or ended it.',
    source: 'States and transitions, rule 1',
    evidence: 'what follows a final status that met a 401, a 429, a 5xx or a lost response',
    remedy: 'store the result, and repeat the report until 204, 404 or 409, also after a restart',
    scene: 'lost-report',
    reaction: {
      dueAfter: {
        exchange: (exchange, { event }) => isFailedFinal(exchange, event),
      },
      metBy: { exchange: isFinalAttempt },
      brokenBy: ({ operation, status }, _, due) =>
        isPollOperation(operation) && status < 429 && due.polls > POLLS_WITHOUT_REPORT_MAX
          ? {
              part: 'a final status that was lost',
              expected: 'be sent again',
              actual: 'only polls',
            }
          : undefined,
      cancelledBy: { serverEvents: ['deployment-aborted', 'decommissioned'] },
      expected: 'send the final status again',
    },
  },
  {
    id: 'report.retries-bounded-rate',
    level: 'should',
    sentence: 'A device pauses before it repeats a report that failed.',
    source: 'Errors: 429 and 500',
    evidence: 'pauses between reports that failed',
    remedy: 'wait 1 s or more, and let the pause grow',
    scene: 'report-outage',
    operations: reporting,
    applies: (exchange, { client }) => client.retries.failures.has(exchange.operation.id),
    violation: (exchange, { client }) => retryProblem(exchange, client),
  },
  {
    id: 'report.stops-at-409',
    level: 'must',
    sentence:
      'A device stops its deployment at a 409: no download, no success, the former artifact.',
    source: 'States and transitions: aborted',
    evidence: 'downloads, reports and polls after a 409',
    exemptions: 'a 409 that met the final status, and 2 s',
    remedy: 'end the update at a 409, and roll back what was installed',
    scene: 'abort',
    operations: [...downloadOperations, ...reporting, ...pollOperations],
    applies: ({ operation }, history) => {
      const { conflictMs, isConflictOfFinal } = abortedOffer(history) ?? {};
      const isKnown = conflictMs !== undefined && history.event.sentMs > conflictMs + STOP_MS;
      return isKnown && !(isConflictOfFinal && isPollOperation(operation));
    },
    violation: (exchange, history) => {
      const { operation, request, requestJson, deploymentId, isSuccess } = exchange;
      const offer = abortedOffer(history);
      const part = 'an aborted deployment';
      if (downloadOperations.includes(operation.id)) {
        if (history.client.deployments.ofLink(request.url) !== offer) return undefined;
        return { part, expected: 'stop', actual: 'a download' };
      }
      if (reporting.includes(operation.id)) {
        const isDone =
          deploymentId === offer?.id && membersOf(requestJson).status === 'success' && isSuccess;
        return isDone ? { part, expected: 'not succeed', actual: 'success' } : undefined;
      }
      const { artifact_name: name } = pollData(exchange);
      if (name !== offer?.name || name === offer?.formerName) return undefined;
      return { part, expected: 'not be installed', actual: `a poll with ${describeValue(name)}` };
    },
  },
  {
    id: 'report.404-handled',
    level: 'should',
    sentence: 'A device ends a deployment whose report is answered with 404.',
    source: 'Errors: 404, resource not found',
    evidence: 'reports on a deployment after a 404',
    remedy: 'take a 404 as the end of the deployment, and poll on',
    scene: 'deployment-gone',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status, deploymentId }, { client, event }) =>
          reporting.includes(operation.id) &&
          status === 404 &&
          client.deployments.offers.has(deploymentId) &&
          hasReceivedResponse(event),
      },
      metBy: { exchange: ({ operation }) => isPollOperation(operation) },
      brokenBy: ({ operation }, _, { exchanges }) =>
        reporting.includes(operation.id) && exchanges > TOO_FREQUENT_REPEATS_MAX
          ? { part: 'a 404', expected: 'end the deployment', actual: 'further reports' }
          : undefined,
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'poll on after a 404',
    },
  },
  {
    id: 'report.survives-power-cut',
    level: 'must',
    sentence: 'A device that lost its power in a deployment starts again, and ends the deployment.',
    source: 'States and transitions, rule 1',
    evidence: 'the final status after a restart in a deployment',
    remedy: 'store the state of the deployment before each step, and go on from it at start',
    scene: 'power-cut',
    reaction: {
      dueAfter: {
        serverEvents: ['client-killed'],
        when: ({ deployments }) => deployments.active !== undefined,
      },
      metBy: { exchange: isFinalReport },
      cancelledBy: {
        serverEvents: ['deployment-aborted', 'decommissioned', 'folder-cleaned'],
        exchange: isWithoutUpdate,
      },
      expected: 'end its deployment after the restart',
    },
  },
  {
    id: 'report.no-false-success-after-cut',
    level: 'must',
    sentence: 'A device reports no success for an installation that a power cut interrupted.',
    source: 'States and transitions, rule 1',
    evidence: 'success after a power cut in a download that was not completed',
    remedy: 'mark an installation as complete only after the last byte was written and checked',
    scene: 'power-cut',
    operations: reporting,
    applies: (exchange, history) => {
      const { progress } = offerOf(exchange, history) ?? {};
      return isFinalReport(exchange) && (progress?.flaws.has('cut') ?? false);
    },
    violation: (exchange, history) => {
      const isCut = offerOf(exchange, history)?.progress.flaw === 'cut';
      if (membersOf(exchange.requestJson).status !== 'success' || !isCut) return undefined;
      return {
        part: 'success',
        expected: 'follow a whole file',
        actual: 'one that the cut left in parts',
      };
    },
  },
];
