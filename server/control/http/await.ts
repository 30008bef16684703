/** Waits for journal entries instead of sleeping, and asserts what happened. */
import { type Clock, yieldInTurns } from '../../../fixtures/base/clock.ts';
import { entryView } from '../../explain/entry-view.ts';
import { AssertionJudge } from '../../journal/assertion.ts';
import { matcher } from '../../journal/filter.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import { type AwaitResult, awaitEntries } from '../commands/await.ts';
import { filterOf, journalBounds, requireJournal, requireKnownDevice } from './journal.ts';
import { listing, mapLazily } from './listing.ts';
import type { ControlRequest, Handlers } from './mount.ts';
import { throwRefusal } from './refusals.ts';

/** Maximum number of requests that wait at the same time. */
const WAITING_MAX = 256;

/**
 * Creates the handlers that wait and assert. `clock` is the machine's clock, because a tenant's
 * clock may be stopped.
 */
export function awaitHandlers(clock: Clock) {
  let waiting = 0;
  return {
    'GET /await': async (call) => {
      const { tenant, query, response } = call;
      requireJournal(tenant);
      if (waiting >= WAITING_MAX) {
        throwRefusal(
          503,
          `${WAITING_MAX} requests are already waiting, the maximum; close one first`,
        );
      }
      waiting += 1;
      const disconnected = new AbortController();
      response.once('close', () => disconnected.abort());
      if (response.destroyed) disconnected.abort();
      const filter = filterOf(query);
      const awaited = awaitEntries(tenant, {
        ...query,
        filter,
        clock,
        disconnected: disconnected.signal,
      });
      const result = await awaited.finally(() => {
        waiting -= 1;
      });
      return awaitedView(call, result);
    },
    'POST /assert': async ({ tenant, body: { between = {}, ...assertion } }) => {
      const journal = requireJournal(tenant);
      requireKnownDevice(assertion, tenant, 'body');
      const matches = matcher({ sinceMs: between.since, untilMs: between.until }, tenant);
      const judge = new AssertionJudge(assertion, tenant);
      const { added } = journal.size;
      const endSequence = Math.min(between.before ?? Number.POSITIVE_INFINITY, added + 1);
      for await (const entry of yieldInTurns(journal.entries(between.after))) {
        if (entry.sequence >= endSequence) break;
        if (matches(entry)) judge.see(entry);
      }
      const verdict = judge.verdict();
      const { dropped } = journal.size;
      const lossSentence = dropped > 0 ? ` ${dropped} older entries were dropped.` : '';
      const sentence = verdict.sentence + lossSentence;
      const members = { ...verdict, sentence, ...journalBounds(tenant) };
      if (!verdict.holds) throwRefusal(409, sentence, members);
      return members;
    },
  } satisfies Partial<Handlers>;
}

function awaitedView(
  { tenant, query, response }: ControlRequest<'GET /await'>,
  { matching, otherEntries }: AwaitResult,
) {
  const { count, timeoutSeconds, whole: withBodies } = query;
  const entries = mapLazily(matching, (entry) => entryView(entry, tenant, withBodies));
  const next = journalOf(tenant).size.added;
  if (matching.length >= count) {
    const facts = { ...journalBounds(tenant), next: matching.at(-1)?.sequence ?? next };
    return listing(facts, { entries });
  }
  const matchCount =
    count === 1 ? 'no entry matched' : `${matching.length} of ${count} entries matched`;
  const error = `${matchCount} within ${timeoutSeconds} s; "otherEntries" lists the entries that came instead`;
  const otherViews = mapLazily(otherEntries, (entry) => entryView(entry, tenant));
  response.status(408);
  return listing({ error, ...journalBounds(tenant), next }, { entries, otherEntries: otherViews });
}
