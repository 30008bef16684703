/** Handlers for the journal of a tenant: read, follow, export as HAR, and clear. */
import type { Response } from 'express';
import { yieldInTurns } from '../../../fixtures/base/clock.ts';
import { ENTRIES_MAX } from '../../../fixtures/control/inputs.ts';
import type { QueryOf } from '../../../fixtures/control/operations.ts';
import { entryView } from '../../explain/entry-view.ts';
import { maskText } from '../../http/masking.ts';
import type { JournalEntry } from '../../journal/entry.ts';
import { type EntryFilter, matcher } from '../../journal/filter.ts';
import { harOf } from '../../journal/har.ts';
import type { Journal } from '../../journal/journal.ts';
import { ambiguousNameSentence, findNamedDevice } from '../../journal/known-devices.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import type { EventStreams } from './event-stream.ts';
import { listing, mapLazily, sendChunks } from './listing.ts';
import type { Handlers } from './mount.ts';
import { throwRefusal } from './refusals.ts';

const sequencePattern = /^[1-9]\d{0,15}$/;

/** Creates the handlers for the journal. */
export function journalHandlers(streams: EventStreams) {
  return {
    'GET /journal': ({ tenant, query }) => {
      requireJournal(tenant);
      requireKnownDevice(query, tenant, 'query');
      return pageOf(tenant, query);
    },
    'DELETE /journal': ({ tenant }) => {
      journalOf(tenant).clear();
      return journalBounds(tenant);
    },
    'GET /journal.har': async ({ tenant, query, response }) => {
      requireJournal(tenant);
      requireKnownDevice(query, tenant, 'query');
      const entries = await matching(tenant, query);
      // The name would set the type of its extension, which no table knows.
      response.attachment('fleetbed.har').type('application/json');
      await sendChunks(response, harOf(entries));
    },
    'GET /journal/stream': ({ tenant, query, response }) => {
      requireJournal(tenant);
      return followJournal(response, { tenant, query, streams });
    },
    'GET /journal/{sequence}': ({ tenant, parameters: { sequence } }) => {
      const entry = entryView(entryOf(tenant, sequence), tenant, true);
      return { ...journalBounds(tenant), entry };
    },
    'GET /journal/{sequence}/har': ({ tenant, parameters: { sequence }, response }) => {
      const entry = entryOf(tenant, sequence);
      response.type('application/json');
      return sendChunks(response, harOf([entry]));
    },
  } satisfies Partial<Handlers>;
}

/**
 * Returns the entry with the sequence number from the path.
 * @throws ControlRefusal if the number is invalid or the entry is not stored
 */
function entryOf(tenant: Tenant, sequence: string): JournalEntry {
  const journal = requireJournal(tenant);
  if (!sequencePattern.test(sequence)) {
    throwRefusal(400, 'path: the sequence number must be a whole number from 1');
  }
  return (
    journal.at(Number(sequence)) ??
    throwRefusal(404, 'the journal has no entry with this sequence number, or has dropped it')
  );
}

/** Returns the journal of a tenant. Refuses with 503 if the journal is off. */
export function requireJournal(tenant: Tenant): Journal {
  const journal = journalOf(tenant);
  if (!journal.isOff) return journal;
  return throwRefusal(503, 'the journal is off; start the server with --journal-entries above 0');
}

/** Returns the bounds and size of the journal, which are part of every response about it. */
export function journalBounds(tenant: Tenant) {
  const { bounds, size } = journalOf(tenant);
  return { bounds, size };
}

/** The query parameters that all operations on the journal share. */
type EntryQuery = Pick<
  QueryOf<'GET /journal'>,
  Exclude<keyof EntryFilter, 'sinceMs' | 'untilMs'> | 'since' | 'until'
>;

/** Returns the entry filter of a query. */
export function filterOf(query: EntryQuery): EntryFilter {
  const { kind, operation, method, device, user, status, deployment, requestId, text } = query;
  const { since: sinceMs, until: untilMs } = query;
  const criteria = { kind, operation, method, device, user, status, deployment, requestId, text };
  return { ...criteria, sinceMs, untilMs };
}

/** Refuses a device that neither the tenant nor its journal knows, and suggests similar names. */
export function requireKnownDevice(
  { device }: Pick<EntryFilter, 'device'>,
  tenant: Tenant,
  location: 'query' | 'body',
): void {
  if (device === undefined) return;
  const namedDevice = findNamedDevice(tenant.store, device);
  if (!('nearest' in namedDevice)) return;
  const matches = matcher({ device }, tenant);
  for (const entry of journalOf(tenant).entries()) if (matches(entry)) return;
  throwRefusal(
    400,
    maskText(`${location}: device: ${ambiguousNameSentence(namedDevice, 'there are no devices')}`),
  );
}

/** Returns the newest entries, or those that follow `after`. The next page starts after `next`. */
async function pageOf(tenant: Tenant, query: QueryOf<'GET /journal'>) {
  const { after, limit, whole: withBodies } = query;
  const journal = journalOf(tenant);
  const matches = matcher(filterOf(query), tenant);
  const page: JournalEntry[] = [];
  const isForward = after !== undefined;
  const { added } = journal.size;
  let isMore = false;
  for await (const entry of yieldInTurns(
    isForward ? journal.entries(after) : journal.newestFirst(),
  )) {
    // Entries added during the search belong to the next page.
    if (entry.sequence > added) break;
    if (!matches(entry)) continue;
    isMore = page.length === limit;
    if (isMore) break;
    page.push(entry);
  }
  if (!isForward) page.reverse();
  const newest = page.at(-1)?.sequence ?? 0;
  const next = isForward && isMore ? newest : Math.max(added, after ?? 0);
  const entries = mapLazily(page, (entry) => entryView(entry, tenant, withBodies));
  return listing({ ...journalBounds(tenant), next, more: isMore }, { entries });
}

/** Returns the matching entries after `after`, oldest first. */
async function matching(
  tenant: Tenant,
  query: QueryOf<'GET /journal.har'>,
): Promise<JournalEntry[]> {
  const matches = matcher(filterOf(query), tenant);
  const { added } = journalOf(tenant).size;
  const entries: JournalEntry[] = [];
  for await (const entry of yieldInTurns(journalOf(tenant).entries(query.after))) {
    if (entry.sequence > added) break;
    if (matches(entry)) entries.push(entry);
  }
  return entries;
}

interface JournalStream {
  readonly tenant: Tenant;
  readonly query: QueryOf<'GET /journal/stream'>;
  readonly streams: EventStreams;
}

/**
 * Sends the stored entries after `after`, at most the newest `ENTRIES_MAX`, and then every new one.
 */
async function followJournal(
  response: Response,
  { tenant, query, streams }: JournalStream,
): Promise<Response> {
  const journal = journalOf(tenant);
  let backlog = Promise.resolve();
  const matches = matcher(filterOf(query), tenant);
  streams.open(response, (send, ended) => {
    const closing = new AbortController();
    const sendEntry = (entry: JournalEntry): void => {
      if (closing.signal.aborted) return;
      const view = entryView(entry, tenant, query.whole);
      const data = JSON.stringify(view);
      send(`id: ${entry.sequence}\nevent: ${entry.kind}\ndata: ${data}\n\n`);
    };
    const sendMatching = (entry: JournalEntry): void => {
      if (!closing.signal.aborted && matches(entry)) sendEntry(entry);
    };
    const sendKept = async (): Promise<void> => {
      let { added: last } = journal.size;
      const storedEntries = query.after === undefined ? [] : await matching(tenant, query);
      for await (const entry of yieldInTurns(storedEntries.slice(-ENTRIES_MAX))) sendEntry(entry);
      for await (const entry of yieldInTurns(journal.entries(last))) {
        sendMatching(entry);
        last = entry.sequence;
      }
      // Reads the remaining entries synchronously up to the subscription, so that no entry is
      // missed.
      for (const entry of journal.entries(last)) sendMatching(entry);
      if (closing.signal.aborted) return;
      const unsubscribe = journal.subscribe(sendMatching, ended);
      closing.signal.addEventListener('abort', unsubscribe, { once: true });
    };
    backlog = sendKept();
    return () => closing.abort();
  });
  await backlog;
  return response;
}
