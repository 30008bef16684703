/**
 * Resources that devices send and users read back: monitor configurations, alerts and deployment
 * logs. Spec: Device monitor; DeploymentLog
 */
import { jsonInOrder } from '../../../fixtures/base/json.ts';
import { describeValue } from '../../target/expectations.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { timeOf } from '../response-parts.ts';
import { type Effect, isPlainJson, isWellFormed, type Resource } from './resource.ts';
import type { TrackedViolation } from './tracker.ts';

/** Shorter messages may be part of any line, such as of its time or its level. */
const OWN_MESSAGE_MIN = 8;

/** The monitor configuration of a device: the entries as text, in alphabetical order. */
export const monitorResource: Resource<readonly string[]> = {
  name: 'monitor configuration',
  initial: () => [[]],
  writes: {
    'post-monitor-configuration': (exchange, devices) => [
      {
        device: devices.ofToken(exchange),
        ...replacementOf(exchange, monitorEntries(exchange.requestJson)),
      },
    ],
  },
  reads: {
    'show-monitor-configuration': ({ responseJson, request }, devices) => [
      {
        device: devices.ofId(deviceIn(request.url)),
        differenceFrom: (state) => {
          const shownEntries = monitorEntries(responseJson);
          if (jsonInOrder(shownEntries) === jsonInOrder(state)) return undefined;
          const expected = `be ${describeValue(state)}, which the device sent last`;
          return {
            part: '200 body',
            expected,
            actual: describeValue(shownEntries),
            requirement: state.length === 0 ? 'monitor.empty-is-current' : 'monitor.is-current',
            operation: 'post-monitor-configuration',
          };
        },
      },
    ],
  },
};

/** The alerts that a device has sent, as text; users see no others, and may not see all yet. */
export const alertsResource: Resource<readonly string[]> = {
  name: 'alerts',
  initial: () => [[]],
  writes: {
    'post-alerts': (exchange, devices) => [
      {
        device: devices.ofToken(exchange),
        effectDelayMaxMs: 0,
        nextStates: (earlierState) => [
          earlierState && isPlainJson(exchange)
            ? [...earlierState, ...alertsIn(exchange.requestJson)]
            : undefined,
        ],
      },
    ],
  },
  reads: {
    'list-alerts': ({ responseJson, request }, devices) => [
      {
        device: devices.ofId(deviceIn(request.url)),
        differenceFrom: (state) => findUnsentAlert(state, alertsIn(responseJson)),
      },
    ],
  },
};

/** The log of a deployment on a device: its messages. */
export const logResource: Resource<readonly string[]> = {
  name: 'deployment log',
  initial: () => [[]],
  writes: {
    'put-deployment-log': (exchange, devices) => {
      const messages = messagesIn(exchange.requestJson);
      const key = {
        device: devices.ofToken(exchange),
        instance: devices.deployment(exchange.deploymentId),
      };
      return [{ ...key, ...replacementOf(exchange, messages) }];
    },
    // The contract leaves open what becomes of a log after the abort.
    'abort-deployment': ({ deploymentId }, { allows }) =>
      allows('log.open-after-the-abort') ? [{ device: undefined, instance: deploymentId }] : [],
  },
  reads: {
    'get-deployment-log': ({ request, response }, devices) => {
      const [, deployment, device] =
        /\/([^/]+)\/devices\/([^/]+)\/log$/.exec(pathOf(request.url)) ?? [];
      return [
        {
          device: devices.ofId(device),
          instance: deployment,
          differenceFrom: (state, possibleStates) =>
            differenceOfLogs(response.text, state, possibleStates),
        },
      ];
    },
  },
};

function differenceOfLogs(
  text: string,
  state: readonly string[],
  possibleStates: readonly (readonly string[])[],
): TrackedViolation | undefined {
  const violation = {
    part: '200 body',
    actual: describeValue(text),
    operation: 'put-deployment-log',
  };
  const missingMessage = state.find((message) => !text.includes(message));
  if (missingMessage !== undefined) {
    const expected = `have the message ${describeValue(missingMessage)}, as in the last upload`;
    return { ...violation, expected, requirement: 'log.is-kept' };
  }
  const messages = new Set(state);
  const otherMessages = possibleStates
    .flat()
    .filter(
      (message) =>
        !messages.has(message) && state.every((ownMessage) => !ownMessage.includes(message)),
    );
  const olderMessage = otherMessages.find(
    (message) => message.length >= OWN_MESSAGE_MIN && text.includes(message),
  );
  if (olderMessage === undefined) return undefined;
  const expected = `not have the message ${describeValue(olderMessage)} of another upload`;
  return { ...violation, expected, requirement: 'log.is-replaced' };
}

/** Returns the effect that replaces the state; undefined stands for any state. */
function replacementOf<State>(
  exchange: JudgedExchange,
  state: State | undefined,
): Pick<Effect<State>, 'nextStates'> {
  const value = isPlainJson(exchange) ? state : undefined;
  return { nextStates: () => [value] };
}

function monitorEntries(value: unknown): readonly string[] {
  return entriesOf(value)
    .map(membersOf)
    .map(({ name, status, type }) => jsonInOrder({ name, status, type }))
    .toSorted();
}

/** Returns the alerts as text; a moment has one text in all its forms. */
function alertsIn(value: unknown): readonly string[] {
  return entriesOf(value)
    .map(membersOf)
    .map(({ name, level, subject, timestamp }) => {
      const { name: monitorName, type, status } = membersOf(subject);
      return jsonInOrder({ name, level, monitorName, type, status, ms: timeOf(timestamp) });
    });
}

function findUnsentAlert(
  sentAlerts: readonly string[],
  shownAlerts: readonly string[],
): TrackedViolation | undefined {
  const index = shownAlerts.findIndex((alert) => !sentAlerts.includes(alert));
  if (index === -1) return undefined;
  return {
    part: `200 body: /${index}`,
    expected: 'be an alert as the device sent it',
    actual: shownAlerts[index] ?? '',
    requirement: 'alerts.are-shown',
    operation: 'post-alerts',
  };
}

/** Returns the messages that every form of a log shows unchanged; undefined if one may change. */
function messagesIn(log: unknown): readonly string[] | undefined {
  const messages = entriesOf(membersOf(log).messages).map((each) => membersOf(each).message);
  const texts = messages.filter((each) => typeof each === 'string');
  const arePlain = texts.every((text) => isWellFormed(text) && /^[\w .,:;-]*$/.test(text));
  return arePlain && texts.length === messages.length ? texts : undefined;
}

/** Returns the ID of the device in the path of a management request. */
function deviceIn(url: string): string | undefined {
  return /\/devices\/([^/]+)/.exec(pathOf(url))?.[1];
}

function pathOf(url: string): string {
  return new URL(url).pathname;
}
