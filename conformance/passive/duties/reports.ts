/** Duties of what a device sends: logs, inventory and alerts. Spec: Resources and their fields */
import { shown } from '../../target/expectations.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { alertKeys } from './client-memory.ts';
import { type Duty, holdsSecret } from './duty.ts';

const ATTRIBUTES_MAX = 100;
const INVENTORY_MAX_BYTES = 1_048_576;
const SECOND_MS = 1000;

const logging = ['put-deployment-log'];
const inventory = ['put-attributes', 'patch-attributes'];
const alerting = ['post-alerts'];

const logDuties: readonly Duty[] = [
  {
    id: 'log.no-secrets',
    level: 'should',
    sentence: 'A device writes neither token nor signature nor key into a log.',
    source: 'DeploymentLog',
    looksAt: 'the messages of a log; the journal shows a secret as [masked]',
    wayOut: 'leave headers and keys out of the log, or log only their length',
    operations: logging,
    applies: ({ sent }) => messagesIn(sent).length > 0,
    violation: ({ sent }) => {
      const at = messagesIn(sent).findIndex((message) => holdsSecret(message));
      if (at < 0) return undefined;
      return { where: `messages.${at}`, must: 'hold no secret', seen: 'a token or a private key' };
    },
  },
  {
    id: 'log.not-empty',
    level: 'should',
    sentence: 'A device uploads a log with at least one message.',
    source: 'DeploymentLog',
    looksAt: 'the messages of a log',
    wayOut: 'upload the log only if it has a message, and after what is to be shown happened',
    operations: logging,
    applies: ({ sent }) => Array.isArray(membersOf(sent).messages),
    violation: ({ sent }) =>
      entriesOf(membersOf(sent).messages).length > 0
        ? undefined
        : { where: 'messages', must: 'hold a message', seen: 'an empty list' },
  },
];

const inventoryDuties: readonly Duty[] = [
  {
    id: 'inventory.names-once',
    level: 'should',
    sentence: 'A device names each attribute once in a body.',
    source: 'Attribute: name is a unique attribute ID',
    looksAt: 'the names in one body',
    wayOut: 'send one attribute for each name; several values are one array',
    operations: inventory,
    applies: ({ sent }) => entriesOf(sent).length > 0,
    violation: ({ sent }) => {
      const names = entriesOf(sent).map((attribute) => membersOf(attribute).name);
      const twice = names.find((name, at) => names.indexOf(name) < at);
      if (twice === undefined) return undefined;
      return { where: 'each name', must: 'appear once', seen: `"${shown(twice)}" twice` };
    },
  },
  {
    id: 'inventory.bounded',
    level: 'should',
    sentence: 'A device sends at most 100 attributes and 1 MiB.',
    source: 'Device inventory; field notes 6',
    looksAt: 'the number of attributes and the length of the body',
    wayOut: 'send what the fleet is filtered by; logs and listings are no attributes',
    operations: inventory,
    applies: ({ request, sent }) => Array.isArray(sent) || request.bodyBytes > 0,
    violation: ({ request: { bodyBytes }, sent }) => {
      const count = entriesOf(sent).length;
      if (count > ATTRIBUTES_MAX) {
        return {
          where: 'the body',
          must: `have at most ${ATTRIBUTES_MAX} attributes`,
          seen: `${count}`,
        };
      }
      if (bodyBytes <= INVENTORY_MAX_BYTES) return undefined;
      return { where: 'the body', must: 'have at most 1 MiB', seen: `${bodyBytes} bytes` };
    },
  },
  {
    id: 'inventory.device-type-agrees',
    level: 'should',
    sentence: 'A device states the same device_type and artifact_name in inventory and polls.',
    source: 'Attribute: device_type',
    looksAt: 'the inventory, and the last poll before it',
    wayOut: 'fill both from one place, after an update also',
    operations: inventory,
    applies: ({ sent }, { client }) =>
      client.lastPoll?.asked !== undefined &&
      sharedNames.some((name) => valueNamed(sent, name) !== undefined),
    violation: ({ sent }, { client }) => {
      const provides = membersOf(JSON.parse(client.lastPoll?.asked ?? '{}'));
      const name = sharedNames.find((each) => {
        const value = valueNamed(sent, each);
        return value !== undefined && provides[each] !== undefined && value !== provides[each];
      });
      if (name === undefined) return undefined;
      const must = `be ${shown(provides[name])}, as in the last poll`;
      return { where: `the attribute ${name}`, must, seen: shown(valueNamed(sent, name)) };
    },
  },
];

const alertDuties: readonly Duty[] = [
  {
    id: 'alert.no-flood',
    level: 'should',
    sentence: 'A device sends no more than one equal alert a second and subject.',
    source: 'Device monitor: a state is reached, or returns to normal',
    looksAt: 'name, level and subject of alerts, within a body and within a second',
    wayOut: 'send an alert when the state of its subject changes',
    operations: alerting,
    applies: ({ sent }) => entriesOf(sent).length > 0,
    violation: (exchange, { client }) => {
      const keys = alertKeys(exchange);
      const again = keys.filter(
        (key, at) => keys.indexOf(key) < at || isSoon(client.alerts.get(key), exchange),
      );
      if (again.length === 0) return undefined;
      return { where: 'an alert', must: 'not repeat within a second', seen: 'an equal one' };
    },
  },
];

export const reportDuties: readonly Duty[] = [...logDuties, ...inventoryDuties, ...alertDuties];

const sharedNames = ['device_type', 'artifact_name'];

function valueNamed(sent: unknown, wanted: string): unknown {
  const found = entriesOf(sent).find((attribute) => membersOf(attribute).name === wanted);
  return membersOf(found).value;
}

function messagesIn(sent: unknown): readonly string[] {
  return entriesOf(membersOf(sent).messages).map((entry) => String(membersOf(entry).message));
}

/** Equal times prove nothing, because the clock of the recorder may be frozen. */
function isSoon(lastMs: number | undefined, { request }: JudgedExchange): boolean {
  if (lastMs === undefined) return false;
  const apart = request.sentMs - lastMs;
  return apart > 0 && apart < SECOND_MS;
}
