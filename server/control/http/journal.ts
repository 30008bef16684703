/** The journal of a tenant: read, followed, saved as an archive, and emptied. */

import type { Express, Request, Response } from 'express';
import { inTurns } from '../../../fixtures/clock.ts';
import { entryView } from '../../explain/entry-view.ts';
import type { JournalEntry } from '../../journal/entry.ts';
import { matcher } from '../../journal/filter.ts';
import { harOf } from '../../journal/har.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { handlersWithin, mount, refuse, taking } from './answers.ts';
import type { EventStreams } from './event-stream.ts';
import { type JournalQuery, LIMIT_MAX, readQuery, requireKnownDevice } from './journal-query.ts';
import { mapped, sendListing, sendPieces } from './listing.ts';

const sequencePattern = /^[1-9]\d{0,15}$/;

/** Mounts the paths of the journal. */
export function mountJournal(app: Express, tenants: Tenants, streams: EventStreams): void {
  const within = journalHandlers(tenants);
  mount(app, '/journal', {
    get: within(async (tenant, request, response) => {
      const query = readQuery(request, ['after', 'limit', 'whole']);
      requireKnownDevice(query.filter, tenant, 'query');
      await sendPage(response, tenant, query);
    }, 'any'),
    delete: handlersWithin(tenants)((tenant) => {
      journalOf(tenant).clear();
      return standing(tenant);
    }),
  });
  mount(app, '/journal.har', {
    get: within(async (tenant, request, response) => {
      const query = readQuery(request, ['after']);
      requireKnownDevice(query.filter, tenant, 'query');
      const found = await matching(tenant, query);
      response.type('application/json');
      response.attachment('fleetbed.har');
      await sendPieces(response, harOf(found));
    }, 'any'),
  });
  const stream = within(async (tenant, request, response) => {
    const query = readQuery(request, ['after', 'whole']);
    streams.requireRoom();
    await follow(response, { tenant, query, streams });
  }, 'any');
  mount(app, '/journal/stream', {
    get: taking('any', (request, response) => {
      if (request.method === 'HEAD') refuse(405, 'the journal stream supports only GET');
      return stream(request, response);
    }),
  });
  mount(app, '/journal/:sequence', {
    get: within((tenant, request) => {
      const entry = entryOf(tenant, request);
      return { ...standing(tenant), entry: entryView(entry, tenant, true) };
    }),
  });
  mount(app, '/journal/:sequence/har', {
    get: within(async (tenant, request, response) => {
      const entry = entryOf(tenant, request);
      response.type('application/json');
      await sendPieces(response, harOf([entry]));
    }),
  });
}

/** The entry that a path names. @throws a refusal */
function entryOf(tenant: Tenant, request: Request): JournalEntry {
  const sequence = String(request.params.sequence);
  if (!sequencePattern.test(sequence)) {
    refuse(400, 'path: the sequence number must be a whole number from 1');
  }
  const entry = journalOf(tenant).at(Number(sequence));
  return (
    entry ?? refuse(404, 'there is no entry with this sequence number, or it is no longer kept')
  );
}

/** Makes handlers of a tenant's journal, which answer 503 where it is off. */
export function journalHandlers(tenants: Tenants): ReturnType<typeof handlersWithin> {
  return (handler, takes) =>
    handlersWithin(tenants)((tenant, request, response) => {
      if (!journalOf(tenant).isOff) return handler(tenant, request, response);
      refuse(503, 'the journal is off; start the server with --journal-entries above 0');
    }, takes);
}

/** The bounds and size of the journal, part of every answer about it. */
export function standing(tenant: Tenant) {
  const journal = journalOf(tenant);
  return { bounds: journal.bounds, size: journal.size };
}

/** The newest entries, or those that follow `after`; the next page starts after `next`. */
async function sendPage(
  response: Response,
  tenant: Tenant,
  { filter, after, limit, isWhole }: JournalQuery,
): Promise<void> {
  const journal = journalOf(tenant);
  const matches = matcher(filter, tenant);
  const found: JournalEntry[] = [];
  const isForward = after !== undefined;
  const { added } = journal.size;
  let isMore = false;
  for await (const entry of inTurns(isForward ? journal.entries(after) : journal.newestFirst())) {
    // Entries added meanwhile belong to the next page.
    if (entry.sequence > added) break;
    if (!matches(entry)) continue;
    isMore = found.length === limit;
    if (isMore) break;
    found.push(entry);
  }
  if (!isForward) found.reverse();
  const newest = found.at(-1)?.sequence ?? 0;
  const next = isForward && isMore ? newest : Math.max(added, after ?? 0);
  const entries = mapped(found, (entry) => entryView(entry, tenant, isWhole));
  await sendListing(response, { ...standing(tenant), next, more: isMore }, { entries });
}

/** The matching entries after `after`, oldest first. */
async function matching(tenant: Tenant, { filter, after }: JournalQuery): Promise<JournalEntry[]> {
  const matches = matcher(filter, tenant);
  const { added } = journalOf(tenant).size;
  const found: JournalEntry[] = [];
  for await (const entry of inTurns(journalOf(tenant).entries(after))) {
    if (entry.sequence > added) break;
    if (matches(entry)) found.push(entry);
  }
  return found;
}

interface Following {
  readonly tenant: Tenant;
  readonly query: JournalQuery;
  readonly streams: EventStreams;
}

/** Sends the entries after `after`, at most the newest `LIMIT_MAX`, and every later one. */
async function follow(response: Response, { tenant, query, streams }: Following): Promise<void> {
  const journal = journalOf(tenant);
  let backlog = Promise.resolve();
  const matches = matcher(query.filter, tenant);
  streams.open(response, (send, ended) => {
    const closing = new AbortController();
    const sendEntry = (entry: JournalEntry): void => {
      if (closing.signal.aborted) return;
      const view = entryView(entry, tenant, query.isWhole);
      const data = JSON.stringify(view);
      send(`id: ${entry.sequence}\nevent: ${entry.kind}\ndata: ${data}\n\n`);
    };
    const sendMatching = (entry: JournalEntry): void => {
      if (!closing.signal.aborted && matches(entry)) sendEntry(entry);
    };
    const sendKept = async (): Promise<void> => {
      let { added: last } = journal.size;
      const kept = query.after === undefined ? [] : await matching(tenant, query);
      for await (const entry of inTurns(kept.slice(-LIMIT_MAX))) sendEntry(entry);
      for await (const entry of inTurns(journal.entries(last))) {
        sendMatching(entry);
        last = entry.sequence;
      }
      // Without a pause in between, so that none is missed.
      for (const entry of journal.entries(last)) sendMatching(entry);
      if (closing.signal.aborted) return;
      const unsubscribe = journal.subscribe(sendMatching, ended);
      closing.signal.addEventListener('abort', unsubscribe, { once: true });
    };
    backlog = sendKept();
    return () => closing.abort();
  });
  await backlog;
}
