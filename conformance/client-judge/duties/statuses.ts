/** Duties of reporting. Spec: Device deployments v1; States and transitions */
import { pollOperations } from '../../../fixtures/contract/operations.ts';
import { reportableStatuses } from '../../../fixtures/contract/vocabulary.ts';
import { describeValue } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import type { Duty } from '../duty.ts';
import { downloadOperations, isReportableFinal } from '../exchange-facts.ts';
import { hasReceivedResponse } from '../exemptions.ts';
import {
  conflictingOffer,
  isFailedFinal,
  isFinalReport,
  isWithoutUpdate,
  offerOf,
  offersNew,
  reporting,
} from './reports.ts';

const REPORTS_AFTER_CONFLICT_MAX = 2;

const statuses: readonly unknown[] = reportableStatuses;

export const statusDuties: readonly Duty[] = [
  {
    id: 'report.final',
    level: 'must',
    sentence: 'A device reports a final status for every deployment that it was offered.',
    source: 'States and transitions, rule 1',
    evidence: 'the reports on a deployment until another one is begun',
    exemptions: 'a deployment that was aborted or deleted',
    remedy: 'report success, failure or already-installed, also after an error of your own',
    scene: 'update',
    reaction: {
      dueAfter: {
        exchange: (exchange, { event, client }) =>
          offersNew(exchange, client) && hasReceivedResponse(event),
      },
      metBy: { exchange: isFinalReport },
      brokenBy: ({ operation, deploymentId }, { client }) => {
        const [previousOffer, latest] = client.deployments.offers.values.slice(-2);
        if (!reporting.includes(operation.id) || latest?.id !== deploymentId) return undefined;
        if (
          previousOffer === undefined ||
          previousOffer.final !== undefined ||
          previousOffer.isWithdrawn
        )
          return undefined;
        const isFetched =
          previousOffer.link !== undefined && client.deployments.fetched.has(previousOffer.link);
        if (previousOffer.reports.length === 0 && !previousOffer.hasLog && !isFetched)
          return undefined;
        return {
          part: 'a deployment',
          expected: 'end before the next begins',
          actual: 'no final status',
        };
      },
      cancelledBy: {
        serverEvents: ['deployment-aborted', 'client-killed', 'decommissioned'],
        // A final status that the server did not take is the matter of report.retries-final.
        exchange: (exchange, { event }) =>
          (reporting.includes(exchange.operation.id) && [404, 409].includes(exchange.status)) ||
          isFailedFinal(exchange, event) ||
          isWithoutUpdate(exchange),
      },
      expected: 'report a final status',
    },
  },
  {
    id: 'report.second-deployment',
    level: 'must',
    sentence: 'A device carries out the next deployment under its own ID.',
    source: 'DeploymentInstructions (v2): id',
    evidence: 'the reports after a second deployment was offered',
    remedy: 'read the ID of each offer, and forget that of the former deployment',
    scene: 'second-update',
    operations: reporting,
    applies: ({ deploymentId, request }, { client }) => {
      const [newest, { offeredMs, final } = { offeredMs: 0, final: undefined }] =
        client.deployments.offers.newest ?? [];
      const isNext = newest !== deploymentId && final === undefined && request.sentMs >= offeredMs;
      return isNext && client.deployments.offers.get(deploymentId)?.final !== undefined;
    },
    violation: ({ deploymentId, requestJson }, { client }) =>
      membersOf(requestJson).status === client.deployments.offers.get(deploymentId)?.final
        ? undefined
        : { part: 'a report', expected: 'name the new deployment', actual: 'the ID of the former' },
    reaction: {
      dueAfter: {
        exchange: (exchange, { event, client }) =>
          offersNew(exchange, client) &&
          client.deployments.offers.size > 0 &&
          hasReceivedResponse(event),
      },
      metBy: {
        exchange: ({ operation, deploymentId }, { client }) =>
          reporting.includes(operation.id) &&
          deploymentId === client.deployments.offers.newest?.[0],
      },
      cancelledBy: {
        serverEvents: ['deployment-aborted', 'client-killed'],
        exchange: isWithoutUpdate,
      },
      expected: 'report on the second deployment',
    },
  },
  {
    id: 'report.no-loop',
    level: 'should',
    sentence: 'A device fetches the file of a failed deployment again only if it is offered again.',
    source: 'States and transitions, rule 1',
    evidence: 'downloads after the report of failure',
    remedy: 'forget the link with the report of failure',
    scene: 'failing-update',
    operations: [...downloadOperations, ...pollOperations],
    applies: (_, { client }) => client.deployments.offers.newest?.[1]?.final === 'failure',
    violation: ({ operation, request }, { client }) => {
      const offer = downloadOperations.includes(operation.id)
        ? client.deployments.ofLink(request.url)
        : undefined;
      if (offer?.final !== 'failure' || request.sentMs < (offer.endedMs ?? 0)) return undefined;
      return {
        part: 'a failed deployment',
        expected: 'not be fetched again',
        actual: 'a download',
      };
    },
  },
  {
    id: 'report.vocabulary',
    level: 'must',
    sentence: 'A device reports only the nine statuses of the contract.',
    source: 'DeploymentStatus: status',
    evidence: 'the member status of a report',
    remedy: 'map the states of the client to the nine values, and put the rest into substate',
    operations: reporting,
    applies: ({ requestJson }) => typeof membersOf(requestJson).status === 'string',
    violation: ({ requestJson }) => {
      const { status } = membersOf(requestJson);
      if (statuses.includes(status)) return undefined;
      return {
        part: 'status',
        expected: 'be one of the nine values',
        actual: describeValue(status),
      };
    },
  },
  {
    id: 'report.shape',
    level: 'must',
    sentence: 'A device reports status and substate as strings.',
    source: 'DeploymentStatus',
    evidence: 'the members of a report',
    remedy: 'send an object with the string status, and the string substate or none',
    operations: reporting,
    applies: ({ requestJson }) => requestJson !== undefined,
    violation: ({ requestJson }) => {
      const { status, substate = '' } = membersOf(requestJson);
      if (typeof status !== 'string') {
        return { part: 'status', expected: 'be a string', actual: describeValue(status) };
      }
      if (typeof substate === 'string') return undefined;
      return { part: 'substate', expected: 'be a string', actual: describeValue(substate) };
    },
  },
  {
    id: 'report.order',
    level: 'observed',
    sentence: 'A device reports the intermediate statuses that it chooses.',
    source: 'States and transitions, rules 2 and 3',
    evidence: 'the statuses of the last deployment, in order',
    remedy: 'none is needed',
    observation: ({ deployments: { offers } }) => {
      const { reports = [] } = offers.values.findLast((offer) => offer.reports.length > 0) ?? {};
      return reports.length > 0 ? reports.map(describeValue).join(', ') : undefined;
    },
  },
  {
    id: 'report.before-acting',
    level: 'observed',
    sentence: 'Whether a device reports downloading before it downloads.',
    source: 'States and transitions, rule 2',
    evidence: 'the statuses that were reported before the first download',
    remedy: 'none is needed',
    observation: ({ deployments: { offers, fetched } }) => {
      const offer = offers.values.findLast(({ link = '' }) => fetched.has(link));
      if (offer === undefined) return undefined;
      const isBefore = offer.reportsBeforeDownload.includes('downloading');
      return isBefore ? 'downloading came before the download' : 'the download came first';
    },
  },
  {
    id: 'report.own-deployment',
    level: 'must',
    sentence: 'A device reports only on deployments that it was given.',
    source: 'Errors: 404; DeploymentInstructions (v2): id',
    evidence: 'the ID of reports and logs, the IDs that were offered in any form, and a 404',
    remedy: 'store the ID of the offer as it is, and use it in the path',
    operations: [...reporting, 'put-deployment-log'],
    applies: ({ deploymentId, status }, { client }) =>
      client.deployments.ofId(deploymentId) !== undefined || status === 404,
    violation: ({ deploymentId }, { client }) =>
      client.deployments.offers.has(deploymentId)
        ? undefined
        : {
            part: 'the deployment',
            expected: 'be one that was offered',
            actual: describeValue(deploymentId),
          },
  },
  {
    id: 'report.final-once',
    level: 'should',
    sentence: 'A device reports one final status for a deployment; repeats are equal.',
    source: 'States and transitions, rule 1',
    evidence: 'reports after the accepted final status of a deployment',
    exemptions: 'a deployment that was offered again, and a response that was lost',
    remedy: 'decide on success or failure once, store it, and report nothing but that',
    operations: reporting,
    applies: (exchange, history) => {
      const offer = offerOf(exchange, history);
      const isFinal = isReportableFinal(membersOf(exchange.requestJson).status);
      return offer !== undefined && exchange.isSuccess && (isFinal || offer.final !== undefined);
    },
    violation: (exchange, history) => {
      const { status } = membersOf(exchange.requestJson);
      const { final, isFinalKnown, endedMs = 0 } = offerOf(exchange, history) ?? {};
      if (final === undefined || status === final) return undefined;
      const isExempt = !isFinalKnown || history.event.sentMs < endedMs;
      if (!isReportableFinal(status) && isExempt) return undefined;
      return {
        part: 'the final status',
        expected: `stay ${describeValue(final)}`,
        actual: describeValue(status),
      };
    },
  },
  {
    id: 'report.success-only-if-installed',
    level: 'must',
    sentence: 'A device reports no success for an artifact that it has not fetched.',
    source: 'States and transitions, rule 1',
    evidence: 'downloads between the offer and the report; a copy from a proxy is not seen',
    remedy: 'report success after the file was fetched whole, checked and installed',
    operations: reporting,
    applies: (exchange, history) =>
      membersOf(exchange.requestJson).status === 'success' &&
      exchange.isSuccess &&
      offerOf(exchange, history)?.link !== undefined,
    violation: (exchange, history) => {
      const { link = '' } = offerOf(exchange, history) ?? {};
      if (history.client.deployments.fetched.has(link)) return undefined;
      return { part: 'success', expected: 'follow a download', actual: 'the link was never used' };
    },
  },
  {
    id: 'report.409-ends-reporting',
    level: 'should',
    sentence: 'A device sends at most one more report after a 409, and polls on.',
    source: 'States and transitions: aborted',
    evidence: '409 to the reports of one deployment',
    remedy: 'take a 409 as the end of the deployment: roll back, and poll by the interval',
    scene: 'abort',
    operations: [...reporting, ...pollOperations],
    applies: (exchange, history) => (conflictingOffer(exchange, history)?.conflicts ?? 0) > 0,
    violation: (exchange, history) => {
      const { conflicts } = offerOf(exchange, history) ?? {};
      if (exchange.status !== 409 || conflicts !== REPORTS_AFTER_CONFLICT_MAX) return undefined;
      return { part: 'a 409', expected: 'end the reports', actual: 'a second report after it' };
    },
  },
  {
    id: 'report.already-installed',
    level: 'should',
    sentence: 'A device that is offered its installed artifact reports already-installed.',
    source: 'DeploymentStatus: already-installed',
    evidence: 'what follows an offer of the artifact that the device names',
    exemptions: 'an installation that was forced, outside of the scene',
    remedy: 'compare artifact_name with the installed one before the download',
    scene: 'installed-already',
    operations: [...reporting, ...downloadOperations],
    applies: ({ operation, request, requestJson, deploymentId }, { client }) => {
      const isDownload = downloadOperations.includes(operation.id);
      const offer = isDownload
        ? client.deployments.ofLink(request.url)
        : client.deployments.offers.get(deploymentId);
      const isSame =
        offer !== undefined && offer.name !== undefined && offer.name === offer.formerName;
      if (!isSame) return false;
      return isDownload
        ? client.scene === 'installed-already'
        : membersOf(requestJson).status === 'already-installed';
    },
    violation: ({ operation }) =>
      downloadOperations.includes(operation.id)
        ? { part: 'what is installed', expected: 'be reported', actual: 'a download' }
        : undefined,
  },
  {
    id: 'report.accepts-204-only',
    level: 'observed',
    sentence: 'Whether a device accepts 200 in place of 204.',
    source: 'States and transitions: response 204',
    evidence: 'the report after a 200',
    remedy: 'none is needed',
    scene: 'legal-variations',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status }) => reporting.includes(operation.id) && status === 200,
      },
      metBy: { exchange: () => true },
      expected: 'go on',
    },
  },
];
