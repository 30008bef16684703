/** Duties of logs and inventory. Spec: DeploymentLog; Device inventory */
import { isPollOperation } from '../../../fixtures/contract/operation-ids.ts';
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import { describeValue } from '../../target/expectations.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';
import type { Duty, DutyHistory } from '../duty.ts';
import { isLogDone, typeOf } from '../exchange-facts.ts';
import { hasReceivedResponse, isInFlight, REPEATS_IN_FLIGHT_MAX } from '../exemptions.ts';
import { holdsSecret } from '../secret-text.ts';
import { bodyDuty } from './body-duty.ts';

const ATTRIBUTES_MAX = 100;
const BODY_MAX_BYTES = 1_048_576;
/** Polls within which a log or an inventory is soon. */
const SOON_POLLS = 10;
/** Polls, and time, that may pass before the first inventory of an accepted device. */
const FIRST_INVENTORY_POLLS_MAX = 5;
const FIRST_INVENTORY_MS = 10_000;

const logging = ['put-deployment-log'];
const inventory = ['put-attributes', 'patch-attributes'];
const reporting = ['put-deployment-status'];

const logDuties: readonly Duty[] = [
  {
    id: 'log.no-secrets',
    level: 'should',
    sentence: 'A device writes neither token nor signature nor key into a log.',
    source: 'DeploymentLog',
    evidence: 'the messages of a log; the journal shows a secret as [masked]',
    remedy: 'leave headers and keys out of the log, or log only their length',
    operations: logging,
    applies: ({ requestJson }) => messagesIn(requestJson).length > 0,
    violation: ({ requestJson }) => {
      const at = messagesIn(requestJson).findIndex((message) => holdsSecret(message));
      if (at < 0) return undefined;
      return {
        part: `messages.${at}`,
        expected: 'hold no secret',
        actual: 'a token or a private key',
      };
    },
  },
  {
    id: 'log.not-empty',
    level: 'should',
    sentence: 'A device uploads a log with at least one message.',
    source: 'DeploymentLog',
    evidence: 'the messages of a log',
    remedy: 'upload the log only if it has a message, and after what is to be shown happened',
    operations: logging,
    applies: ({ requestJson }) => Array.isArray(membersOf(requestJson).messages),
    violation: ({ requestJson }) =>
      entriesOf(membersOf(requestJson).messages).length > 0
        ? undefined
        : { part: 'messages', expected: 'hold a message', actual: 'an empty list' },
  },
];

const logUploadDuties: readonly Duty[] = [
  bodyDuty({
    id: 'log.shape',
    level: 'must',
    sentence: 'A device uploads messages with time, level and text, a line each.',
    source: 'DeploymentLog',
    remedy: 'send messages[] of strings, timestamp with zone such as 2026-01-31T12:00:00Z',
    operations: logging,
    // An empty log breaks another duty.
    isExempt: (sent) => entriesOf(membersOf(sent).messages).length === 0,
    further: (sent) => {
      const at = messagesIn(sent).findIndex((message) => /\n./.test(message));
      if (at < 0) return undefined;
      return { part: `messages.${at}`, expected: 'be one line', actual: 'several lines' };
    },
  }),
  {
    id: 'log.on-failure',
    level: 'should',
    sentence: 'A device uploads a log with a failure, or soon after it.',
    source: 'Device deployments v1: upload the deployment log',
    evidence: 'the uploads before and after the report of failure',
    remedy: 'keep the log of a deployment in a file, and upload it with failure',
    scene: 'failing-update',
    operations: reporting,
    applies: (exchange, history) => isFailure(exchange) && hasLog(exchange, history) === true,
    violation: () => undefined,
    reaction: {
      dueAfter: {
        exchange: (exchange, history) => isFailure(exchange) && hasLog(exchange, history) === false,
      },
      metBy: {
        exchange: (exchange, { client }) =>
          logging.includes(exchange.operation.id) &&
          isLogDone(exchange) &&
          (client.deployments.offers.get(exchange.deploymentId)?.reports.includes('failure') ??
            false),
      },
      brokenBy: (_, __, due) =>
        due.polls > SOON_POLLS
          ? {
              part: 'a failure',
              expected: 'come with a log',
              actual: `${due.polls} polls without one`,
            }
          : undefined,
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'upload a log',
    },
  },
  {
    id: 'log.limit',
    level: 'should',
    sentence: 'A device uploads at most 1 MiB.',
    source: 'Device deployments v1; field notes 2.6',
    evidence: 'the length of the body',
    remedy: 'keep the last lines that fit, and say that others were left out',
    operations: logging,
    applies: ({ request }) => request.bodyBytes > 0,
    violation: ({ request: { bodyBytes } }) =>
      bodyBytes <= BODY_MAX_BYTES
        ? undefined
        : { part: 'the body', expected: 'have at most 1 MiB', actual: `${bodyBytes} bytes` },
  },
  {
    id: 'log.413-stops',
    level: 'should',
    sentence: 'A device does not repeat a log unchanged after a 413 or 400.',
    source: 'RFC 9110, 15.5.14; Errors: 400',
    evidence: 'the uploads for one deployment after a 413 or 400',
    exemptions: 'one repeat that was in flight',
    remedy: 'shorten the log after a 413, and give it up after a 400',
    scene: 'log-too-large',
    operations: logging,
    applies: ({ deploymentId }, { client }) => client.deployments.refusedLogs.has(deploymentId),
    violation: (exchange, { client, event }) => {
      const { endedMs = 0, times = 0 } =
        client.deployments.refusedLogs.get(exchange.deploymentId) ?? {};
      const isExempt = isInFlight(event, endedMs) && times < REPEATS_IN_FLIGHT_MAX;
      if (!client.deployments.isRefusedLog(exchange) || isExempt) return undefined;
      return {
        part: 'a refused log',
        expected: 'not be repeated',
        actual: 'the same, or a longer one',
      };
    },
    reaction: {
      dueAfter: {
        exchange: ({ operation, status }, { event }) =>
          logging.includes(operation.id) &&
          (status === 413 || status === 400) &&
          hasReceivedResponse(event),
      },
      metBy: { exchange: ({ operation }) => isPollOperation(operation) },
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'go on after a log was refused',
    },
  },
];

const inventoryDuties: readonly Duty[] = [
  bodyDuty({
    id: 'inventory.types',
    level: 'must',
    sentence: 'A device sends values that are strings, numbers, or arrays of one of them.',
    source: 'Attribute: the type is inferred from the JSON type of value',
    remedy: 'write booleans as strings, leave out what is unknown, and flatten objects',
    operations: inventory,
    at: 'value',
  }),
  bodyDuty({
    id: 'inventory.names',
    level: 'must',
    sentence: 'A device gives every attribute a name.',
    source: 'Attribute: name',
    remedy: 'send an array of objects with a filled name',
    operations: inventory,
    at: 'name',
  }),
  {
    id: 'inventory.types-stable',
    level: 'should',
    sentence: 'A device sends an attribute with the same type each time.',
    source: 'Attribute: the type is inferred from the JSON type of value',
    evidence: 'the values of one name in two reports',
    remedy: 'format a number as a number each time; filters by number skip strings',
    operations: inventory,
    applies: ({ requestJson }, { client }) =>
      entriesOf(requestJson).some((entry) => client.attributes.has(String(membersOf(entry).name))),
    violation: ({ requestJson }, { client }) => {
      const changedEntry = entriesOf(requestJson).find((entry) => {
        const { name, value } = membersOf(entry);
        const earlierType = client.attributes.get(String(name));
        const isEmpty = Array.isArray(value) && value.length === 0;
        return earlierType !== undefined && !isEmpty && !isComparable(earlierType, typeOf(value));
      });
      if (changedEntry === undefined) return undefined;
      const { name, value } = membersOf(changedEntry);
      const expected = `stay a ${client.attributes.get(String(name))}`;
      return { part: `the attribute ${String(name)}`, expected, actual: `a ${typeOf(value)}` };
    },
  },
  {
    id: 'inventory.put-keeps-names',
    level: 'should',
    sentence: 'A device sends all attributes with each PUT.',
    source: 'Device inventory: PUT replaces the whole attribute set',
    evidence: 'the names in a PUT, and in the one before',
    exemptions: 'a set that keeps more than half of the names',
    remedy: 'send the whole set by PUT, or what has changed by PATCH',
    operations: ['put-attributes'],
    applies: ({ requestJson }, { client }) =>
      entriesOf(requestJson).length > 0 && client.attributes.size > 1,
    violation: ({ requestJson }, { client }) => {
      const names = new Set(entriesOf(requestJson).map((entry) => String(membersOf(entry).name)));
      const isPart = [...names].every((name) => client.attributes.has(name));
      if (!isPart || names.size * 2 > client.attributes.size) return undefined;
      const actual = `${names.size} of ${client.attributes.size}, which removes the others`;
      return { part: 'a PUT', expected: 'hold all attributes', actual };
    },
  },
  {
    id: 'inventory.put-means-all',
    level: 'observed',
    sentence: 'Whether a device sends its attributes by PUT or by PATCH.',
    source: 'Device inventory',
    evidence: 'the number of attributes in the last PUT',
    remedy: 'none is needed',
    observation: ({ attributes }) =>
      attributes.size > 0 ? `${attributes.size} attributes in the last PUT` : undefined,
  },
  {
    id: 'inventory.on-acceptance',
    level: 'should',
    sentence: 'A device sends its inventory soon after it was accepted.',
    source: 'Device inventory; field notes 11',
    evidence: 'the polls between the first token and the first inventory',
    exemptions: 'an inventory after the offer of an update, which is a reason of its own',
    remedy: 'send the inventory after the first authentication request that succeeds',
    scene: 'inventory',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status }, { client, event }) =>
          operation.id === 'post-auth-request' &&
          status === 200 &&
          client.authentication.issued === 0 &&
          hasReceivedResponse(event),
      },
      metBy: {
        exchange: (exchange, { client }) =>
          isStored(exchange) && client.deployments.offers.size === 0,
      },
      brokenBy: ({ operation, request }, _, due) =>
        inventory.includes(operation.id) &&
        due.polls > FIRST_INVENTORY_POLLS_MAX &&
        request.sentMs - due.sinceMs > FIRST_INVENTORY_MS
          ? {
              part: 'the first inventory',
              expected: 'come soon',
              actual: `${due.polls} polls before it`,
            }
          : undefined,
      cancelledBy: {
        serverEvents: ['client-killed', 'rejected', 'scene-ended'],
        exchange: isStored,
      },
      expected: 'send its inventory after it was accepted',
    },
  },
  {
    id: 'inventory.after-update',
    level: 'should',
    sentence: 'A device sends its inventory again after an update.',
    source: 'Device inventory; field notes 11',
    evidence: 'the inventory after success',
    remedy: 'send the inventory once the new artifact runs',
    scene: 'inventory',
    reaction: {
      dueAfter: {
        exchange: ({ operation, requestJson, isSuccess, deploymentId }, { client }) =>
          reporting.includes(operation.id) &&
          isSuccess &&
          membersOf(requestJson).status === 'success' &&
          client.areas.has('inventory') &&
          client.deployments.offers.get(deploymentId)?.isConfiguration === false,
      },
      metBy: { exchange: ({ operation }) => inventory.includes(operation.id) },
      brokenBy: (_, __, due) =>
        due.polls > SOON_POLLS
          ? { part: 'an update', expected: 'be followed by the inventory', actual: 'only polls' }
          : undefined,
      cancelledBy: { serverEvents: ['client-killed', 'scene-ended'] },
      expected: 'send its inventory after the update',
    },
  },
  {
    id: 'inventory.interval',
    level: 'observed',
    sentence: 'At which interval a device repeats its inventory.',
    source: 'Device inventory',
    evidence: 'pauses between inventories',
    remedy: 'none is needed',
    observation: ({ inventoryIntervalMs: ms }) =>
      ms === undefined ? undefined : `${(ms / 1000).toFixed(1)} s between the last two`,
  },
  {
    id: 'inventory.405-falls-back',
    level: 'observed',
    sentence: 'Whether a device tries PATCH where PUT is not allowed.',
    source: 'Device inventory; field notes 11',
    evidence: 'the request after a 405 of PUT',
    remedy: 'none is needed',
    scene: 'inventory',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status }) => operation.id === 'put-attributes' && status === 405,
      },
      metBy: { exchange: ({ operation }) => operation.id === 'patch-attributes' },
      cancelledBy: { serverEvents: ['client-killed', 'scene-ended'] },
      expected: 'try PATCH',
    },
  },
  {
    id: 'inventory.names-once',
    level: 'should',
    sentence: 'A device names each attribute once in a body.',
    source: 'Attribute: name is a unique attribute ID',
    evidence: 'the names in one body',
    remedy: 'send one attribute for each name; several values are one array',
    operations: inventory,
    applies: ({ requestJson }) => entriesOf(requestJson).length > 0,
    violation: ({ requestJson }) => {
      const names = entriesOf(requestJson).map((attribute) => membersOf(attribute).name);
      const twice = names.find((name, at) => names.indexOf(name) < at);
      if (twice === undefined) return undefined;
      return {
        part: 'each name',
        expected: 'appear once',
        actual: `"${describeValue(twice)}" twice`,
      };
    },
  },
  {
    id: 'inventory.bounded',
    level: 'should',
    sentence: 'A device sends at most 100 attributes and 1 MiB.',
    source: 'Device inventory; field notes 6',
    evidence: 'the number of attributes and the length of the body',
    remedy: 'send what the fleet is filtered by; logs and listings are no attributes',
    operations: inventory,
    applies: ({ request, requestJson }) => Array.isArray(requestJson) || request.bodyBytes > 0,
    violation: ({ request: { bodyBytes }, requestJson }) => {
      const count = entriesOf(requestJson).length;
      if (count > ATTRIBUTES_MAX) {
        return {
          part: 'the body',
          expected: `have at most ${ATTRIBUTES_MAX} attributes`,
          actual: `${count}`,
        };
      }
      if (bodyBytes <= BODY_MAX_BYTES) return undefined;
      return { part: 'the body', expected: 'have at most 1 MiB', actual: `${bodyBytes} bytes` };
    },
  },
  {
    id: 'inventory.device-type-agrees',
    level: 'should',
    sentence: 'A device states the same device_type and artifact_name in inventory and polls.',
    source: 'Attribute: device_type',
    evidence: 'the inventory, and the last poll before it',
    exemptions: 'the name of the artifact that was offered last, which may run since',
    remedy: 'fill both from one place, after an update also',
    operations: inventory,
    applies: ({ requestJson }, { client }) =>
      client.lastPoll?.pollText !== undefined &&
      sharedNames.some((name) => attributeValue(requestJson, name) !== undefined),
    violation: ({ requestJson }, { client }) => {
      const provides = membersOf(JSON.parse(client.lastPoll?.pollText ?? '{}'));
      const name = sharedNames.find((each) => {
        const value = attributeValue(requestJson, each);
        const isNew =
          each === 'artifact_name' && value === client.deployments.offers.newest?.[1].name;
        const isStated = value !== undefined && provides[each] !== undefined;
        return isStated && value !== provides[each] && !isNew;
      });
      if (name === undefined) return undefined;
      const expected = `be ${describeValue(provides[name])}, as in the last poll`;
      return {
        part: `the attribute ${name}`,
        expected,
        actual: describeValue(attributeValue(requestJson, name)),
      };
    },
  },
];

export const resourceDuties: readonly Duty[] = [
  ...logDuties,
  ...logUploadDuties,
  ...inventoryDuties,
];

function isStored({ operation, isSuccess }: JudgedExchange): boolean {
  return inventory.includes(operation.id) && isSuccess;
}

function isFailure({ operation, requestJson, isSuccess }: JudgedExchange): boolean {
  return (
    reporting.includes(operation.id) && isSuccess && membersOf(requestJson).status === 'failure'
  );
}

/**
 * Returns whether a log was uploaded for the deployment of a report; undefined for an unknown one.
 */
function hasLog({ deploymentId }: JudgedExchange, { client }: DutyHistory): boolean | undefined {
  return client.deployments.offers.get(deploymentId)?.hasLog;
}

const sharedNames = ['device_type', 'artifact_name'];

function attributeValue(attributes: unknown, name: string): unknown {
  const attribute = entriesOf(attributes).find((entry) => membersOf(entry).name === name);
  return membersOf(attribute).value;
}

function messagesIn(sent: unknown): readonly string[] {
  return entriesOf(membersOf(sent).messages).map((entry) => String(membersOf(entry).message));
}

/** An array whose entries are unknown has any type. */
function isComparable(earlierType: string, currentType: string): boolean {
  return earlierType === currentType || earlierType === 'array of undefined';
}
