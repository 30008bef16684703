/**
 * Stores the last poll of each device. In the journal it would soon be dropped for the entries of
 * other devices.
 */
import { operations, pollOperations } from '../../fixtures/contract/operations.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import type { LastPoll } from '../store/last-poll.ts';

/** The cached devices, which hold the last polls. */
interface LastPolls {
  find(deviceId: string): { lastPoll: LastPoll | undefined } | undefined;
}

/** Maximum length of the stored data of a poll. Real devices send far less. */
export const POLL_DATA_MAX_CHARACTERS = 4096;

const polls: ReadonlySet<string> = new Set(pollOperations);

/** The polling operation whose data is in the URL. */
const inUrl = operations['get-next-deployment'].id;

/** Stores a poll. If it has the same data as the last one, only its time and status are updated. */
export function keepLastPoll(record: ExchangeRecord, devices: LastPolls): void {
  const { operation, deviceId, atMs, status } = record;
  if (deviceId === undefined || operation === undefined || !polls.has(operation)) return;
  const device = devices.find(deviceId);
  if (!device) return;
  const { lastPoll } = device;
  const refusal = refusedIn(record);
  const isSuccess = status >= 200 && status < 300;
  if (lastPoll && lastPoll.operation === operation && hasSameData(lastPoll.content, record)) {
    lastPoll.atMs = atMs;
    lastPoll.status = status;
    lastPoll.refused = refusal;
    if (isSuccess) lastPoll.answered = lastPoll;
  } else {
    const poll = { operation, content: pollDataIn(record) };
    const answered = isSuccess ? poll : lastPoll?.answered;
    device.lastPoll = { ...poll, atMs, status, refused: refusal, answered };
  }
}

/**
 * Returns the data that the device sent in a poll; undefined if it is too long. The record must be
 * complete.
 */
export function pollDataIn({ operation, url, body }: ExchangeRecord): string | undefined {
  const isUrl = operation === inUrl;
  const length = isUrl ? url.length : (body?.length ?? 0);
  if (length > POLL_DATA_MAX_CHARACTERS) return undefined;
  return isUrl ? url : (body?.toString('latin1') ?? '');
}

function refusedIn({ refusal, requestId }: ExchangeRecord): LastPoll['refused'] {
  return refusal && { error: refusal.error, requestId };
}

/** Compares the bytes of a body directly, without making a string. */
function hasSameData(
  content: string | undefined,
  { operation, url, body }: ExchangeRecord,
): boolean {
  if (operation === inUrl) return content === url;
  if (content?.length !== (body?.length ?? 0)) return false;
  for (let at = 0; at < content.length; at += 1) {
    if (content.charCodeAt(at) !== body?.[at]) return false;
  }
  return true;
}
