/**
 * The last poll of each device: stored apart from the journal, where it is soon dropped for those of
 * others.
 */
import { operationsById } from '../../fixtures/contract/operation-ids.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import type { LastPoll } from '../store/last-poll.ts';

/** The part of a store that keeps it. */
interface PollingDevices {
  facts(deviceId: string): { lastPoll: LastPoll | undefined } | undefined;
}

/** Maximum length of the data that a device sends about itself; far more than a real device sends. */
export const POLL_DATA_MAX_CHARACTERS = 4096;

const polls: ReadonlySet<string> = new Set(
  [...operationsById.values()]
    .filter(({ deploymentRole }) => deploymentRole === 'hands-out')
    .map(({ id }) => id),
);

/** The one whose request is all in its target. */
const inUrl = operations['get-next-deployment'].id;

/** Keeps a record of a poll; one that says the same as the last one costs a comparison. */
export function keepLastPoll(record: ExchangeRecord, devices: PollingDevices): void {
  const { operation, deviceId, atMs, status } = record;
  if (deviceId === undefined || operation === undefined || !polls.has(operation)) return;
  const facts = devices.facts(deviceId);
  if (!facts) return;
  const { lastPoll } = facts;
  const refused = refusedIn(record);
  const isAnswered = status >= 200 && status < 300;
  if (lastPoll && lastPoll.operation === operation && saysSame(lastPoll.said, record)) {
    lastPoll.atMs = atMs;
    lastPoll.status = status;
    lastPoll.refused = refused;
    if (isAnswered) lastPoll.answered = lastPoll;
  } else {
    const poll = { operation, said: pollDataIn(record) };
    const answered = isAnswered ? poll : lastPoll?.answered;
    facts.lastPoll = { ...poll, atMs, status, refused, answered };
  }
}

/** What the device said of itself in a whole record of a poll; undefined when that is long. */
export function pollDataIn({ operation, url, body }: ExchangeRecord): string | undefined {
  const isUrl = operation === inUrl;
  const length = isUrl ? url.length : (body?.length ?? 0);
  if (length > POLL_DATA_MAX_CHARACTERS) return undefined;
  return isUrl ? url : (body?.toString('latin1') ?? '');
}

function refusedIn({ refusal, requestId }: ExchangeRecord): LastPoll['refused'] {
  return refusal && { error: refusal.error, requestId };
}

/** Compares the bytes of a body as they are, without a text of their own. */
function saysSame(said: string | undefined, { operation, url, body }: ExchangeRecord): boolean {
  if (operation === inUrl) return said === url;
  if (said?.length !== (body?.length ?? 0)) return false;
  for (let at = 0; at < said.length; at += 1) {
    if (said.charCodeAt(at) !== body?.[at]) return false;
  }
  return true;
}
