/** Duties of polling for an update. Spec: Device deployments v1, v2 */
import { isDeepStrictEqual } from 'node:util';
import { jsonInOrder } from '../../../fixtures/base/json.ts';
import { isPollOperation } from '../../../fixtures/contract/operation-ids.ts';
import { pollOperations } from '../../../fixtures/contract/operations.ts';
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import { describeValue } from '../../target/expectations.ts';
import { isMap, membersOf } from '../../target/json-members.ts';
import type { Duty, DutyHistory } from '../duty.ts';
import {
  downloadOperations,
  isReportableFinal,
  isTooSoon,
  otherPollData,
  pollData,
} from '../exchange-facts.ts';
import {
  hasReceivedResponse,
  isInFlight,
  SHORT_PAUSES_MAX,
  TOO_FREQUENT_REPEATS_MAX,
} from '../exemptions.ts';
import { isWithoutUpdate } from './reports.ts';

const NEEDLESS_MAX = 2;
const ABSENCES_MAX = 2;
/** Number of times that an offer may be repeated before the device has begun with it. */
const OFFERS_IGNORED_MAX = 5;
/** The members of instructions in the contract. */
const knownMembers: ReadonlySet<string> = new Set(['id', 'artifact', 'update_control_map']);
const reports = 'put-deployment-status';

const requestDuties: readonly Duty[] = [
  {
    id: 'next.mandatory-keys',
    level: 'must',
    sentence: 'A device states its type and its artifact in every poll.',
    source: 'Device deployments v1, v2: device_type and artifact_name are mandatory',
    evidence: 'query or body of a poll',
    remedy: 'send both as filled strings: in the query (GET), flat (v1) or in device_provides (v2)',
    operations: pollOperations,
    applies: ({ operation, requestJson }) =>
      operation.method === 'GET' || requestJson !== undefined,
    violation: (exchange) => {
      const { operation, requestJson } = exchange;
      const isV2 = operation.id === 'post-next-deployment-v2';
      if (isV2 && !isMap(membersOf(requestJson).device_provides)) {
        return {
          part: 'device_provides',
          expected: 'be an object',
          actual: 'missing or another value',
        };
      }
      const polled =
        operation.id === 'post-next-deployment' ? membersOf(requestJson) : pollData(exchange);
      const name = ['device_type', 'artifact_name'].find(
        (each) => typeof polled[each] !== 'string' || polled[each] === '',
      );
      if (name === undefined) return undefined;
      return { part: name, expected: 'be a filled string', actual: describeValue(polled[name]) };
    },
  },
  {
    id: 'next.provides-are-strings',
    level: 'must',
    sentence: 'A device describes itself and its artifacts by strings.',
    source: 'Device deployments v1, v2: map string to string',
    evidence: 'the further pairs in the body of a poll',
    remedy: 'write numbers and booleans as strings',
    appliesToClient: ({ sendsFurtherPairs }) => sendsFurtherPairs,
    operations: ['post-next-deployment', 'post-next-deployment-v2'],
    applies: (exchange) => Object.keys(otherPollData(exchange)).length > 0,
    violation: (exchange) => {
      const wrongMember = Object.entries(otherPollData(exchange)).find(
        ([, value]) => typeof value !== 'string',
      );
      if (wrongMember === undefined) return undefined;
      return {
        part: wrongMember[0],
        expected: 'be a string',
        actual: describeValue(wrongMember[1]),
      };
    },
  },
  {
    id: 'next.name-follows-update',
    level: 'must',
    sentence:
      'A device names the artifact that runs: the new one after success, the former after failure.',
    source: 'Device deployments v1: artifact_name is the currently installed artifact',
    evidence: 'artifact_name in the polls after a final status',
    exemptions: 'configuration deployments, and polls in flight',
    remedy: 'store the new name together with success, and not before',
    scene: 'update',
    operations: pollOperations,
    applies: (_, history) => endedOffer(history) !== undefined,
    violation: (exchange, history) => {
      const { final, name, formerName } = endedOffer(history) ?? {};
      const polled = pollData(exchange).artifact_name;
      const expectedName = final === 'failure' ? formerName : name;
      const wrongName = final === 'failure' ? name : formerName;
      if (polled !== wrongName || expectedName === wrongName) return undefined;
      const expected = `be ${describeValue(expectedName)} after ${String(final)}`;
      return { part: 'artifact_name', expected, actual: describeValue(polled) };
    },
  },
  {
    id: 'next.not-faster-than-a-second',
    level: 'should',
    sentence: 'A device never polls ten times in a row at less than a second.',
    source: 'Limits: 429 is returned when a client floods the server',
    evidence: 'pauses between polls; polls that bring an update or a 429 are exempt',
    remedy: 'poll by an interval of minutes, and after a check-update message once',
    operations: pollOperations,
    applies: (_, { client }) => client.lastPoll !== undefined,
    violation: (exchange, { client }) => {
      const isTenth = client.tooFrequentPolls === SHORT_PAUSES_MAX;
      if (!isTenth || !client.isTooFrequentPoll(exchange)) return undefined;
      const actual = 'less, ten times in a row';
      return { part: 'the pause between polls', expected: 'last 1 s or more', actual };
    },
  },
  {
    id: 'next.request-stable',
    level: 'should',
    sentence: 'A device polls with unchanged data while a deployment is active.',
    source: 'Device deployments v1: 409, conflicting request data',
    evidence: 'the data of polls between an offer and its final status, within one operation',
    remedy: 'report the final status before you poll with the new artifact_name or other data',
    scene: 'restart-while-installing',
    operations: pollOperations,
    applies: (exchange, history) => activeOffer(exchange, history)?.pollText !== undefined,
    violation: (exchange, history) => {
      const polled = pollData(exchange);
      const { pollText = '{}' } = activeOffer(exchange, history) ?? {};
      if (jsonInOrder(polled) === pollText) return undefined;
      const former = membersOf(JSON.parse(pollText));
      const names = [...new Set([...Object.keys(former), ...Object.keys(polled)])];
      const changedNames = names.filter((name) => !isDeepStrictEqual(former[name], polled[name]));
      const actual = `changed: ${changedNames.map(describeValue).join(', ')}`;
      return { part: 'the data of a poll', expected: 'stay until the final status', actual };
    },
  },
  {
    id: 'next.accepts-204',
    level: 'must',
    sentence: 'A device treats 204 as "no update", not as an error.',
    source: 'Errors: 204, no pending update',
    evidence:
      'what follows a 204: a poll at the interval, or an authentication request at once, three times in a row',
    remedy: 'treat 204 as success, and keep token and interval',
    operations: [...pollOperations, 'post-auth-request'],
    applies: (_, { client }) => client.lastPoll?.status === 204,
    violation: ({ operation }, { client }) => {
      if (operation.id === 'post-auth-request' || client.authentication.needless <= NEEDLESS_MAX)
        return undefined;
      return {
        part: 'a 204',
        expected: 'not lead to an authentication request',
        actual: 'one after each of three',
      };
    },
  },
  {
    id: 'next.interval-kept',
    level: 'observed',
    sentence: 'At which interval a device polls.',
    source: 'Limits: 429 is returned when a client floods the server',
    evidence: 'pauses between polls that brought nothing',
    remedy: 'none is needed',
    observation: ({ intervalMs, intervals }) => {
      if (intervalMs === undefined) return undefined;
      const [least, most] = [Math.min(...intervals), Math.max(...intervals)];
      return `median ${seconds(intervalMs)}, from ${seconds(least)} to ${seconds(most)}`;
    },
  },
];

const reactionDuties: readonly Duty[] = [
  {
    id: 'next.jitter',
    level: 'should',
    sentence: 'A device waits a random time after a restart of the server before it polls.',
    source: 'Limits: 429 is returned when a client floods the server',
    evidence: 'the first polls of many devices after a restart of the server',
    remedy: 'add a random part to each interval',
    scene: 'restart-of-many',
    reaction: {
      dueAfter: { serverEvents: ['server-restarted'] },
      metBy: { exchange: ({ operation }) => isPollOperation(operation) },
      brokenBy: ({ operation }, { fleet, event }) =>
        isPollOperation(operation) && fleet.pollsInStep(event.sentMs)
          ? { part: 'ten devices', expected: 'not poll in step', actual: 'all within a second' }
          : undefined,
      expected: 'poll after the server was restarted',
    },
  },
  {
    id: 'next.continues',
    level: 'must',
    sentence: 'A device continues a deployment that is offered again.',
    source: 'Device deployments v1: the ID of the deployment',
    evidence: 'downloads and reports after a deployment was offered a second time',
    remedy: 'compare the ID with that of the deployment in progress, and go on with it',
    scene: 'update-restart',
    reaction: {
      dueAfter: {
        exchange: (exchange, history) => {
          const offer = offeredIn(exchange, history);
          return (
            offer !== undefined && offer.reports.length > 0 && hasReceivedResponse(history.event)
          );
        },
      },
      metBy: { exchange: isProgress },
      brokenBy: (_, __, { polls: count }) =>
        count > OFFERS_IGNORED_MAX
          ? {
              part: 'a deployment that is offered again',
              expected: 'be continued',
              actual: 'only polls',
            }
          : undefined,
      cancelledBy: {
        serverEvents: ['deployment-aborted', 'client-killed'],
        exchange: isWithoutUpdate,
      },
      expected: 'continue the deployment that was offered again',
    },
  },
  {
    id: 'next.v2-falls-back',
    level: 'should',
    sentence: 'A device polls by version 1 where the server has no version 2.',
    source: 'Versioning, rule 2; Device deployments v1',
    evidence: 'the poll after a 404 of version 2',
    remedy: 'try POST and GET of version 1 after a 404, and version 2 again later',
    scene: 'v2-absent',
    operations: pollOperations,
    applies: (_, { client }) => client.v2Absences > 0,
    violation: ({ operation }, { client }) => {
      const isV2 = operation.id === 'post-next-deployment-v2';
      if (!isV2 || client.v2Absences !== ABSENCES_MAX) return undefined;
      return {
        part: 'a 404 of version 2',
        expected: 'lead to version 1',
        actual: 'a third request to it',
      };
    },
  },
  {
    id: 'next.tolerates-unknown-members',
    level: 'must',
    sentence: 'A device works with members, orders and headers that it does not know.',
    source: 'Versioning, rule 3',
    evidence: 'what follows instructions that differ as the contract allows',
    remedy: 'read the members that you need by name, and ignore the others',
    scene: 'legal-variations',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status, responseJson }, { event }) =>
          isPollOperation(operation) &&
          status === 200 &&
          hasReceivedResponse(event) &&
          isUsable(responseJson) &&
          Object.keys(membersOf(responseJson)).some((name) => !knownMembers.has(name)),
      },
      // In its scene nothing but the form can make the update fail.
      metBy: {
        exchange: (exchange, { client }) =>
          client.scene === 'legal-variations' ? isFinal(exchange) : isProgress(exchange),
      },
      brokenBy: (exchange, { client }, { polls: count }) => {
        const part = 'an offer that differs as the contract allows';
        const expected = 'be carried out';
        const isRefused = membersOf(exchange.requestJson).status === 'failure' && isFinal(exchange);
        if (isRefused && client.scene === 'legal-variations')
          return { part, expected, actual: 'a report of failure' };
        return count > OFFERS_IGNORED_MAX ? { part, expected, actual: 'only polls' } : undefined;
      },
      cancelledBy: {
        serverEvents: ['deployment-aborted', 'client-killed'],
        exchange: isWithoutUpdate,
      },
      expected: 'carry out the offer',
    },
  },
  {
    id: 'next.tolerates-control-map',
    level: 'must',
    sentence: 'A device that did not request control maps carries out an offer that has one.',
    source: 'DeploymentInstructions (v2): update_control_map',
    evidence: 'what follows instructions with a control map that the device did not announce',
    remedy: 'ignore update_control_map, as any member that you do not know',
    scene: 'unrequested-control-map',
    appliesToClient: ({ announcesMaps }) => !announcesMaps,
    reaction: {
      dueAfter: {
        exchange: ({ operation, responseJson, requestJson }, { event }) =>
          isPollOperation(operation) &&
          hasReceivedResponse(event) &&
          isUsable(responseJson) &&
          membersOf(membersOf(responseJson).artifact).update_control_map !== undefined &&
          membersOf(requestJson).update_control_map !== true,
      },
      metBy: { exchange: isProgress },
      brokenBy: (_, __, { polls: count }) =>
        count > OFFERS_IGNORED_MAX
          ? {
              part: 'an offer with a control map',
              expected: 'be carried out',
              actual: 'only polls',
            }
          : undefined,
      cancelledBy: {
        serverEvents: ['deployment-aborted', 'client-killed'],
        exchange: isWithoutUpdate,
      },
      expected: 'carry out the offer',
    },
  },
  {
    id: 'next.checks-device-type',
    level: 'should',
    sentence: 'A device does not install an artifact for another type.',
    source: 'DeploymentInstructions (v1): device_types_compatible',
    evidence: 'reports on an offer whose types lack the type of the device',
    remedy: 'compare device_types_compatible with the own type, and report failure',
    scene: 'other-type',
    operations: [reports],
    applies: (exchange, { client }) =>
      client.deployments.offers.get(exchange.deploymentId)?.isForType === false &&
      isFinal(exchange),
    // A device may also leave such an offer alone.
    metAtEndOfScene: 'other-type',
    violation: ({ requestJson }) => {
      const { status } = membersOf(requestJson);
      if (status === 'failure') return undefined;
      return {
        part: 'an artifact for another type',
        expected: 'fail',
        actual: describeValue(status),
      };
    },
  },
  {
    id: 'next.bad-instructions',
    level: 'should',
    sentence: 'A device keeps polling after instructions that it cannot use.',
    source: 'DeploymentInstructions (v1): artifact.source.uri is not required',
    evidence: 'the next request after instructions without a link, or of another shape',
    remedy: 'report failure, or wait for the interval and poll again',
    scene: 'bad-instructions',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status, responseJson }, { event }) =>
          isPollOperation(operation) &&
          status === 200 &&
          hasReceivedResponse(event) &&
          !isUsable(responseJson),
      },
      metBy: {
        exchange: (exchange, { client }) =>
          exchange.operation.id === reports ||
          (isPollOperation(exchange.operation) && !isTooSoon(client.lastPoll, exchange)),
      },
      brokenBy: (exchange, { client }, { polls: count }) =>
        count > TOO_FREQUENT_REPEATS_MAX && isTooSoon(client.lastPoll, exchange)
          ? {
              part: 'unusable instructions',
              expected: 'not lead to a tight loop',
              actual: 'polls that are too frequent',
            }
          : undefined,
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'go on after instructions that it cannot use',
    },
  },
  {
    id: 'next.409-handled',
    level: 'should',
    sentence: 'A device waits for its interval after a 409 to a poll.',
    source: 'Errors: 409, conflicting request data',
    evidence: 'polls after a 409',
    remedy: 'end the deployment after a 409, and poll at the interval',
    scene: 'conflicting-data',
    operations: pollOperations,
    applies: (_, { client }) => client.lastPoll?.status === 409,
    violation: (exchange, { client }) => {
      if (
        client.tooFrequentPolls !== TOO_FREQUENT_REPEATS_MAX ||
        !client.isTooFrequentPoll(exchange)
      )
        return undefined;
      return {
        part: 'the pause after a 409',
        expected: 'last 1 s or more',
        actual: 'less, three times',
      };
    },
  },
];

export const pollingDuties: readonly Duty[] = [...requestDuties, ...reactionDuties];

/** Returns the offer that ended last, if the device knew so before this poll began. */
function endedOffer({ client, event }: DutyHistory) {
  const latest = client.deployments.offers.newest?.[1];
  if (latest === undefined || latest.isConfiguration || latest.final === undefined)
    return undefined;
  const isKnown = latest.isFinalKnown && !isInFlight(event, latest.endedMs ?? event.sentMs);
  return isKnown && typeof latest.name === 'string' ? latest : undefined;
}

/** Returns the offer that a poll repeats; undefined for a new one. */
function offeredIn({ operation, status, responseJson }: JudgedExchange, { client }: DutyHistory) {
  const { id } = membersOf(responseJson);
  if (!isPollOperation(operation) || status !== 200 || typeof id !== 'string') return undefined;
  return client.deployments.offers.get(id);
}

/** Returns true for instructions that have an ID and a link. */
function isUsable(json: unknown): boolean {
  const { id, artifact } = membersOf(json);
  const { uri } = membersOf(membersOf(artifact).source);
  return typeof id === 'string' && typeof uri === 'string' && URL.canParse(uri);
}

/** Returns true for a request that carries out an offer: a download or a report. */
function isProgress({ operation }: JudgedExchange): boolean {
  return operation.id === reports || downloadOperations.includes(operation.id);
}

function isFinal({ operation, requestJson }: JudgedExchange): boolean {
  return operation.id === reports && isReportableFinal(membersOf(requestJson).status);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Returns the latest offer if it was to the same operation and has not ended. */
function activeOffer({ operation }: JudgedExchange, { client }: DutyHistory) {
  const { active: latest } = client.deployments;
  return latest?.operation === operation.id ? latest : undefined;
}
