/** The journal of a tenant: read, followed, saved as an archive, and emptied. */
import type { Express, Request, Response } from 'express';
import { inTurns } from '../../../fixtures/clock.ts';
import type { Tenants } from '../../tenants/tenants.ts';
import type { ControlledTenant } from '../controlled-tenant.ts';
import type { JournalEntry } from '../journal/entry.ts';
import { matcher } from '../journal/filter.ts';
import { harOf } from '../journal/har.ts';
import { entryView } from '../journal/view.ts';
import { mount, refuse, tenantNamed } from './answers.ts';
import type { EventStreams } from './event-stream.ts';
import { isKnownDevice, type JournalQuery, LIMIT_MAX, readQuery } from './journal-query.ts';
import { mapped, sendListing, sendPieces } from './listing.ts';

const sequencePattern = /^[1-9]\d{0,15}$/;

/** Mounts the paths of the journal. */
export function mountJournal(app: Express, tenants: Tenants, streams: EventStreams): void {
  mount(app, '/journal', {
    get: async (request, response) => {
      const tenant = journaledTenant(tenants, request, response);
      const query = tenant && readQuery(request, response, ['after', 'limit', 'whole']);
      if (!query || !isKnownDevice(query.filter, tenant, { response, place: 'query' })) return;
      await sendPage(response, tenant, query);
    },
    delete: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (!tenant) return;
      tenant.journal.clear();
      response.json(standing(tenant));
    },
  });
  mount(app, '/journal.har', {
    get: async (request, response) => {
      const tenant = journaledTenant(tenants, request, response);
      const query = tenant && readQuery(request, response, ['after']);
      if (!query || !isKnownDevice(query.filter, tenant, { response, place: 'query' })) return;
      await sendHar(response, tenant, query);
    },
  });
  mount(app, '/journal/stream', {
    get: async (request, response) => {
      if (request.method === 'HEAD') {
        refuse(response, 405, 'the journal stream supports only GET');
        return;
      }
      const tenant = journaledTenant(tenants, request, response);
      const query = tenant && readQuery(request, response, ['after', 'whole']);
      if (!query) return;
      if (streams.full) refuse(response, 503, 'too many open event streams; close one of them');
      else await follow(response, { tenant, query, streams });
    },
  });
  mount(app, '/journal/:sequence', {
    get: (request, response) => {
      const tenant = journaledTenant(tenants, request, response);
      if (tenant) sendOne(tenant, String(request.params.sequence), response);
    },
  });
}

/** The tenant that is asked about; nothing when refused here, with 503 where its journal is off. */
export function journaledTenant(
  tenants: Tenants,
  request: Request,
  response: Response,
): ControlledTenant | undefined {
  const tenant = tenantNamed(tenants, request, response);
  if (!tenant?.journal.isOff) return tenant;
  refuse(response, 503, 'the journal is off; start the server with --journal-entries above 0');
  return undefined;
}

/** What every answer tells of the journal. */
export function standing({ journal }: ControlledTenant) {
  return { bounds: journal.bounds, size: journal.size };
}

/** The newest entries, or those that follow `after`; `next` is where to go on. */
async function sendPage(
  response: Response,
  tenant: ControlledTenant,
  { filter, after, limit, isWhole }: JournalQuery,
): Promise<void> {
  const { journal } = tenant;
  const matches = matcher(filter, tenant);
  const found: JournalEntry[] = [];
  const isForward = after !== undefined;
  const { added } = journal.size;
  let isMore = false;
  for await (const entry of inTurns(isForward ? journal.entries(after) : journal.newestFirst())) {
    // What came meanwhile is for the next page.
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

function sendOne(tenant: ControlledTenant, sequence: string, response: Response): void {
  if (!sequencePattern.test(sequence)) {
    refuse(response, 400, 'path: the sequence number must be a whole number from 1');
    return;
  }
  const entry = tenant.journal.at(Number(sequence));
  if (entry) response.json({ ...standing(tenant), entry: entryView(entry, tenant, true) });
  else
    refuse(response, 404, 'there is no entry with this sequence number, or it is no longer kept');
}

async function sendHar(
  response: Response,
  tenant: ControlledTenant,
  query: JournalQuery,
): Promise<void> {
  const found = await matching(tenant, query);
  response.type('application/json');
  response.attachment('fleetbed.har');
  await sendPieces(response, harOf(found));
}

/** The entries behind `after` that match, the oldest first. */
async function matching(
  tenant: ControlledTenant,
  { filter, after }: JournalQuery,
): Promise<JournalEntry[]> {
  const matches = matcher(filter, tenant);
  const { added } = tenant.journal.size;
  const found: JournalEntry[] = [];
  for await (const entry of inTurns(tenant.journal.entries(after))) {
    if (entry.sequence > added) break;
    if (matches(entry)) found.push(entry);
  }
  return found;
}

interface Following {
  readonly tenant: ControlledTenant;
  readonly query: JournalQuery;
  readonly streams: EventStreams;
}

/** Sends what follows `after`, at most `LIMIT_MAX` of it, and every entry from now on. */
async function follow(response: Response, { tenant, query, streams }: Following): Promise<void> {
  const { journal } = tenant;
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
