/**
 * Facts about a device that one exchange shows: its identity, its requests, its links and pauses.
 */
import { createHash } from 'node:crypto';
import { jsonInOrder, parsedJson } from '../../fixtures/base/json.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { JudgedExchange } from '../passive/judged-exchange.ts';
import { entriesOf, membersOf } from '../target/json-members.ts';
import { MIN_PAUSE_MS } from './exemptions.ts';
import { holdsSecret } from './secret-text.ts';

/** The times of a request and of its response. */
export type Times = Pick<JudgedExchange['request'], 'sentMs' | 'endedMs'>;

/** The IDs of the operations that fetch a file by a signed link. */
export const downloadOperations: readonly string[] = [
  'download-artifact',
  'download-configuration',
];

const reportableFinals: ReadonlySet<unknown> = new Set(['success', 'failure', 'already-installed']);

/** Returns true for a final status that a device may report. */
export function isReportableFinal(status: unknown): boolean {
  return reportableFinals.has(status);
}

/** Returns true if devices call the operation: with their token, a signature or a link. */
export function isDeviceOperation({ authorization }: Operation): boolean {
  return ['device', 'socket', 'signature', 'link'].includes(authorization);
}

/**
 * Returns the milliseconds from the end of one exchange to the start of the next; undefined if the
 * clock of the recorder was frozen, or was set back, so that they cannot be known.
 */
export function pauseMs(
  earlierTimes: Times | undefined,
  { request }: JudgedExchange,
): number | undefined {
  if (earlierTimes === undefined || request.endedMs <= earlierTimes.endedMs) return undefined;
  return request.sentMs - earlierTimes.endedMs;
}

/** Returns true if a request began sooner after the earlier one than the shortest pause. */
export function isTooSoon(earlierTimes: Times | undefined, { request }: JudgedExchange): boolean {
  return isSoonAfter(earlierTimes, request);
}

/**
 * Returns true for times sooner after earlier ones than the shortest pause; equal times prove
 * nothing.
 */
export function isSoonAfter(earlierTimes: Times | undefined, { sentMs, endedMs }: Times): boolean {
  if (earlierTimes === undefined || endedMs <= earlierTimes.endedMs) return false;
  return sentMs - earlierTimes.sentMs < MIN_PAUSE_MS;
}

/** Returns the data of a poll: the type and the artifact of the device, and further pairs. */
export function pollData({
  request,
  operation,
  requestJson,
}: JudgedExchange): Readonly<Record<string, unknown>> {
  if (operation.id === 'get-next-deployment') {
    return Object.fromEntries(new URL(request.url).searchParams);
  }
  const { device_provides: provides = requestJson } = membersOf(requestJson);
  return membersOf(provides);
}

/** Returns the data of a poll without the type and the artifact of the device. */
export function otherPollData(exchange: JudgedExchange): Readonly<Record<string, unknown>> {
  const { device_type: _, artifact_name: __, ...rest } = pollData(exchange);
  return rest;
}

/** Returns a key for each alert in a body: alerts with the same key are equal. */
export function alertKeys({ requestJson }: JudgedExchange): readonly string[] {
  return entriesOf(requestJson).map((alert) => {
    const { name, level, subject } = membersOf(alert);
    return digestOf(JSON.stringify([name, level, membersOf(subject).name]));
  });
}

/** Returns the key and the identity in an authentication request; undefined if they are masked. */
export function identityIn(sent: unknown) {
  const { pubkey: key, id_data: identity } = membersOf(sent);
  if (typeof key !== 'string' || typeof identity !== 'string') return undefined;
  if (holdsSecret(key) || holdsSecret(identity)) return undefined;
  // The order of the members does not matter.
  return { key: key.trim(), identity: jsonInOrder(parsedJson(identity) ?? identity) };
}

/** Returns true for a log that was stored, or refused for good. */
export function isLogDone({ isSuccess, status }: JudgedExchange): boolean {
  return isSuccess || (status >= 400 && status < 500 && status !== 401 && status !== 429);
}

/** Returns the kind of a JSON value, of arrays with their entries. */
export function typeOf(value: unknown): string {
  if (Array.isArray(value)) return `array of ${typeof value[0]}`;
  return value === null ? 'null' : typeof value;
}

/** Returns the states in which the control map in an object pauses; undefined without a map. */
export function pausesIn(holder: unknown): readonly string[] | undefined {
  const { update_control_map: map } = membersOf(holder);
  if (map === undefined) return undefined;
  const states = Object.entries(membersOf(membersOf(map).states));
  return states.filter(([, state]) => membersOf(state).action === 'pause').map(([name]) => name);
}

/** Returns the area of the API in which an operation is, as duties name it. */
export function areaOf({ path }: Operation): string {
  const areas: Readonly<Record<string, string>> = {
    deviceconfig: 'config',
    deviceconnect: 'connect',
    devicemonitor: 'monitor',
    inventory: 'inventory',
  };
  if (path.endsWith('/update_control_map')) return 'map';
  return areas[path.split('/')[4] ?? ''] ?? 'deployments';
}

/** Returns path and query of a link as they were given: a link must be used untouched. */
export function targetOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
}

/** Returns a digest of the URL and the body of a request. */
export function contentOf({ request: { url, body } }: JudgedExchange): string {
  return digestOf(`${url}\n${String(body ?? '')}`);
}

/** Returns what identifies a link, whose query differs each time that it is offered. */
export function linkOf(url: string): string {
  return digestOf(new URL(url).pathname);
}

/** Returns the host and port of a URL. */
export function hostOf(url: string): string {
  return new URL(url).host;
}

/** An update in progress, a conflict and a rate limit explain a second poll. */
export function isBusy({ status }: JudgedExchange): boolean {
  return status === 200 || status === 429;
}

/** Returns the times of a request and of its response. */
export function timesOf({ request: { sentMs, endedMs } }: JudgedExchange): Times {
  return { sentMs, endedMs };
}

/** Returns the seconds that a Retry-After asks to wait; undefined if it is invalid. */
export function waitSeconds(value: string, nowMs: number): number | undefined {
  if (/^\d{1,9}$/.test(value.trim())) return Number(value);
  const atMs = Date.parse(value);
  return value === '' || Number.isNaN(atMs) ? undefined : Math.max(0, (atMs - nowMs) / 1000);
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
