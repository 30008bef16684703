/** The journal of a world: read, followed, saved as an archive, and emptied. */
import type { Express, Request, Response } from 'express';
import type { JournalEntry } from '../journal/entry.ts';
import { matcher } from '../journal/filter.ts';
import { harOf } from '../journal/har.ts';
import { entryView } from '../journal/view.ts';
import type { Tenant, Tenants } from '../tenants.ts';
import { mount, refuse, worldOf } from './answers.ts';
import type { EventStreams } from './event-stream.ts';
import { type JournalQuery, LIMIT_MAX, readQuery } from './journal-query.ts';

const sequencePattern = /^[1-9]\d{0,15}$/;

/** Mounts the paths of the journal. */
export function mountJournal(app: Express, tenants: Tenants, streams: EventStreams): void {
  mount(app, '/journal', {
    get: (request, response) => {
      const world = journaledWorld(tenants, request, response);
      const query = world && readQuery(request, response, ['after', 'limit', 'whole']);
      if (query) response.json(page(world, query));
    },
    delete: (request, response) => {
      const world = worldOf(tenants, request, response);
      if (!world) return;
      world.journal.clear();
      response.json(standing(world));
    },
  });
  mount(app, '/journal.har', {
    get: async (request, response) => {
      const world = journaledWorld(tenants, request, response);
      const query = world && readQuery(request, response, ['after']);
      if (query) await sendHar(response, world, query);
    },
  });
  mount(app, '/journal/stream', {
    get: (request, response) => {
      if (request.method === 'HEAD') {
        refuse(response, 405, 'only GET reads the stream of the journal');
        return;
      }
      const world = journaledWorld(tenants, request, response);
      const query = world && readQuery(request, response, ['after', 'whole']);
      if (!query) return;
      if (streams.full) refuse(response, 503, 'too many readers of events; close one of them');
      else follow(response, { world, query, streams });
    },
  });
  mount(app, '/journal/:sequence', {
    get: (request, response) => {
      const world = journaledWorld(tenants, request, response);
      if (world) sendOne(world, String(request.params.sequence), response);
    },
  });
}

/** The world that is asked about; nothing when refused here, with 503 where its journal is off. */
export function journaledWorld(
  tenants: Tenants,
  request: Request,
  response: Response,
): Tenant | undefined {
  const world = worldOf(tenants, request, response);
  if (!world?.journal.isOff) return world;
  refuse(response, 503, 'the journal is off; start the server with --journal-entries above 0');
  return undefined;
}

/** What every answer tells of the journal. */
export function standing({ journal }: Tenant) {
  return { bounds: journal.bounds, size: journal.size };
}

/** The newest entries, or those that follow `after`; `next` is where to go on. */
function page(world: Tenant, { filter, after, limit, isWhole }: JournalQuery) {
  const { journal } = world;
  const matches = matcher(filter, world);
  const found: JournalEntry[] = [];
  const isForward = after !== undefined;
  let isMore = false;
  for (const entry of isForward ? journal.entries(after) : journal.newestFirst()) {
    if (!matches(entry)) continue;
    isMore = found.length === limit;
    if (isMore) break;
    found.push(entry);
  }
  if (!isForward) found.reverse();
  const newest = found.at(-1)?.sequence ?? 0;
  return {
    ...standing(world),
    next: isForward && isMore ? newest : Math.max(journal.size.added, after ?? 0),
    more: isMore,
    entries: found.map((entry) => entryView(entry, world, isWhole)),
  };
}

function sendOne(world: Tenant, sequence: string, response: Response): void {
  if (!sequencePattern.test(sequence)) {
    refuse(response, 400, 'path: the sequence of an entry is a whole number from 1');
    return;
  }
  const entry = world.journal.at(Number(sequence));
  if (entry) response.json({ ...standing(world), entry: entryView(entry, world, true) });
  else refuse(response, 404, 'there is no entry of this sequence, or it is not kept any more');
}

async function sendHar(response: Response, world: Tenant, query: JournalQuery): Promise<void> {
  const matches = matcher(query.filter, world);
  const found = [...world.journal.entries(query.after)].filter(matches);
  response.type('application/json');
  response.attachment('fleetbed.har');
  for (const piece of harOf(found)) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** Resolves when the response takes more, or will take nothing any more. */
function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}

interface Following {
  readonly world: Tenant;
  readonly query: JournalQuery;
  readonly streams: EventStreams;
}

/** Sends what follows `after`, at most `LIMIT_MAX` of it, and every entry from now on. */
function follow(response: Response, { world, query, streams }: Following): void {
  const matches = matcher(query.filter, world);
  const message = (entry: JournalEntry): string => {
    const view = entryView(entry, world, query.isWhole);
    return `id: ${entry.sequence}\nevent: ${entry.kind}\ndata: ${JSON.stringify(view)}\n\n`;
  };
  streams.open(response, (send) => {
    const kept = query.after === undefined ? [] : [...world.journal.entries(query.after)];
    for (const entry of kept.filter(matches).slice(-LIMIT_MAX)) send(message(entry));
    return world.journal.subscribe((entry) => {
      if (matches(entry)) send(message(entry));
    });
  });
}
