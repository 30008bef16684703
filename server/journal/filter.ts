/** Filters of journal entries. Pure except for looking up names in the tenant. */
import { valueText } from '../../fixtures/base/value-text.ts';
import { maskText } from '../http/masking.ts';
import {
  deploymentOf,
  deviceOf,
  type EntryDevice,
  jsonObject,
  operationOf,
  requestIdOf,
  type TenantRecords,
  userIdOf,
} from './derived-fields.ts';
import type { JournalEntry } from './entry.ts';

/** Criteria for journal entries. An entry must meet all given criteria. */
export interface EntryFilter {
  readonly kind?: JournalEntry['kind'] | undefined;
  /** The ID of the requested operation. */
  readonly operation?: string | undefined;
  readonly method?: string | undefined;
  /** A device's ID, the text of its identity, or the value of a member of its identity. */
  readonly device?: string | undefined;
  /** A user's ID or email. */
  readonly user?: string | undefined;
  /** A status such as `404`, or a class such as `4xx`; `0` for requests without a response. */
  readonly status?: string | undefined;
  readonly deployment?: string | undefined;
  /** The ID of a request; a frame has the ID of its handshake. */
  readonly requestId?: string | undefined;
  /** The tenant's time in milliseconds since the Unix epoch. Both bounds are included. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** A part of the request target as views show it. For a frame, a part of its message type. */
  readonly text?: string | undefined;
}

/** A test that returns true for entries that match a filter. */
export type EntryTest = (entry: JournalEntry) => boolean;

/** Returns the test for a filter. */
export function matcher(filter: EntryFilter, tenant: TenantRecords): EntryTest {
  const checks = Object.entries(filter)
    .filter(([, wanted]) => wanted !== undefined)
    .map(([name, wanted]) => checkOf[name as keyof EntryFilter](String(wanted), tenant));
  return (entry) => checks.every((check) => check(entry));
}

const checkOf: Record<keyof EntryFilter, (wanted: string, tenant: TenantRecords) => EntryTest> = {
  kind: (wanted) => (entry) => entry.kind === wanted,
  operation: (wanted) => (entry) => operationOf(entry) === wanted,
  method: (wanted) => {
    const method = wanted.toUpperCase();
    return (entry) => entry.kind === 'exchange' && entry.method === method;
  },
  device: (wanted, tenant) => {
    const results = new Map<string, boolean>();
    return (entry) => {
      const id = entry.kind === 'frame' ? entry.origin.deviceId : undefined;
      const deviceId = (entry.kind === 'exchange' ? entry.deviceId : id) ?? '';
      const judged = results.get(deviceId);
      if (deviceId !== '' && judged !== undefined) return judged;
      const isWanted = isDevice(wanted, deviceOf(entry, tenant));
      if (deviceId !== '') results.set(deviceId, isWanted);
      return isWanted;
    };
  },
  user:
    (wanted, { store }) =>
    (entry) => {
      const id = userIdOf(entry);
      if (id === undefined) return false;
      return id === wanted || store.users.find(id)?.email === wanted.toLowerCase();
    },
  status: (wanted) => (entry) => {
    if (entry.kind === 'frame') return false;
    return wanted.endsWith('xx')
      ? entry.status > 0 && String(entry.status)[0] === wanted[0]
      : entry.status === Number(wanted);
  },
  deployment: (wanted) => (entry) => entry.kind === 'exchange' && deploymentOf(entry) === wanted,
  requestId: (wanted) => (entry) => requestIdOf(entry) === wanted,
  sinceMs: (wanted) => (entry) => entry.atMs >= Number(wanted),
  untilMs: (wanted) => (entry) => entry.atMs <= Number(wanted),
  text: (wanted) => (entry) => textOf(entry).includes(wanted),
};

function isDevice(wanted: string, device: EntryDevice | undefined): boolean {
  if (!device) return false;
  const { id, identity = '' } = device;
  if (id === wanted || identity === wanted) return true;
  return Object.values(jsonObject(identity)).some((value) => valueText(value) === wanted);
}

/**
 * Returns the text with secrets masked, so that a secret cannot be found by filtering for parts of
 * it.
 */
function textOf(entry: JournalEntry): string {
  if (entry.kind === 'exchange') return maskText(entry.url);
  if (entry.kind === 'unparsable') return maskText(entry.line ?? '');
  return entry.message?.typ ?? '';
}
