/** Conditions on the observed events of a client, and facts that a scene reads in these events. */
import { isReportableFinal } from '../../conformance/client-judge/exchange-facts.ts';
import { isObject, type JsonObject, parsedJson } from '../../fixtures/base/json.ts';
import { pollOperations } from '../../fixtures/contract/operations.ts';
import type { HeaderList } from '../../fixtures/control/client-event.ts';
import { endOfEvent, type ObservedEvent } from './observed-events.ts';

const polls: ReadonlySet<string> = new Set(pollOperations);
const downloads: ReadonlySet<string> = new Set(['download-artifact', 'download-configuration']);

/** The operations of the two kinds of a download, for planned faults. */
export const downloadOperations = [...downloads];

/** Conditions for which a scene can wait. Each name reads well after "there was no …". */
export const conditions = {
  request: () => true,
  'authentication request': ({ operation }) => operation === 'post-auth-request',
  'refused authentication request': ({ operation, status }) =>
    operation === 'post-auth-request' && status >= 400,
  'authentication request with a token': ({ operation, status }) =>
    operation === 'post-auth-request' && status === 200,
  poll: ({ operation }) => polls.has(operation),
  'poll with a response 200 or 204': ({ operation, status }) =>
    polls.has(operation) && (status === 200 || status === 204),
  'poll without an update': ({ operation, status }) => polls.has(operation) && status === 204,
  'poll with an update': ({ operation, status }) => polls.has(operation) && status === 200,
  'poll by version 1': ({ operation }) =>
    polls.has(operation) && operation !== 'post-next-deployment-v2',
  download: ({ operation }) => downloads.has(operation),
  'whole download': ({ operation, status, isDelivered }) =>
    downloads.has(operation) && status < 300 && isDelivered,
  report: ({ operation }) => operation === 'put-deployment-status',
  'report of a reboot': ({ report }) => report === 'rebooting',
  'report of a pause': ({ report }) => report?.startsWith('pause_before_') ?? false,
  'final report': ({ report, status }) => isReportableFinal(report) && status === 204,
  'report that ends a deployment': ({ operation, report, status }) =>
    operation === 'put-deployment-status' &&
    (status === 409 || (isReportableFinal(report) && status === 204)),
  log: ({ operation }) => operation === 'put-deployment-log',
  inventory: ({ operation }) => operation === 'put-attributes' || operation === 'patch-attributes',
  'reported configuration': ({ operation }) => operation === 'put-configuration',
  websocket: ({ operation, report }) => operation === 'socket' && report === 'opened',
  'WebSocket request': ({ operation }) => operation === 'connect',
  'control map request': ({ operation }) => operation === 'get-update-control-map',
} as const satisfies Readonly<Record<string, (seen: ObservedEvent) => boolean>>;

/** The name of a condition. */
export type ConditionName = keyof typeof conditions;

/** Returns the type and the artifact in the last poll; undefined if no poll has both. */
export function lastPoll(
  events: readonly ObservedEvent[],
): { readonly deviceType: string; readonly artifactName: string } | undefined {
  const last = events.findLast(conditions.poll);
  const pollFields = last?.event.kind === 'exchange' ? pollData(last.event) : {};
  const { device_type: deviceType, artifact_name: artifactName } = pollFields;
  if (typeof deviceType !== 'string' || typeof artifactName !== 'string') return undefined;
  return { deviceType, artifactName };
}

function pollData(event: {
  readonly url: string;
  readonly requestBody: Buffer | undefined;
  readonly requestHeaders: HeaderList;
}): JsonObject {
  const body = event.requestBody && parsedJson(event.requestBody.toString('utf8'));
  if (!isObject(body)) return Object.fromEntries(new URL(event.url).searchParams);
  return isObject(body.device_provides) ? body.device_provides : body;
}

/**
 * Returns the median time between the polls of an idle client, in milliseconds; undefined for less
 * than two.
 */
export function measuredIntervalMs(events: readonly ObservedEvent[]): number | undefined {
  const times = events
    .filter(conditions['poll without an update'])
    .map(({ event }) => endOfEvent(event));
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const median = gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 2)];
  return median === undefined ? undefined : Math.max(1, Math.round(median));
}
