/** Waiting for entries of a tenant's journal. */
import { type Clock, inTurns } from '../../../fixtures/clock.ts';
import type { ControlledTenant } from '../controlled-tenant.ts';
import type { JournalEntry } from '../journal/entry.ts';
import { type EntryFilter, matcher } from '../journal/filter.ts';

/** Entries that came in place of those that were waited for. */
const INSTEAD_MAX = 20;

/** What is waited for, and for how long. */
interface Awaited {
  readonly filter: EntryFilter;
  /** Only entries behind this sequence count; those to come when absent. */
  readonly after?: number | undefined;
  /** How many are to match. */
  readonly count: number;
  readonly timeoutSeconds: number;
  /** The machine's own: a tenant's may stand still. */
  readonly clock: Clock;
  /** Aborts when nobody waits any more. */
  readonly gone?: AbortSignal;
}

/** What came until enough of it matched, the time was up, or nobody waited any more. */
export interface Came {
  readonly matching: readonly JournalEntry[];
  /** The newest of what did not match. */
  readonly others: readonly JournalEntry[];
}

/** Rejects when an entry cannot be looked at, as when a filter takes too many steps. */
export async function awaitEntries(tenant: ControlledTenant, awaited: Awaited): Promise<Came> {
  const { journal } = tenant;
  const { filter, after, count, timeoutSeconds, clock, gone } = awaited;
  const matches = matcher(filter, tenant);
  const matching: JournalEntry[] = [];
  const others: JournalEntry[] = [];
  const take = (entry: JournalEntry): boolean => {
    if (matches(entry)) matching.push(entry);
    else if (others.push(entry) > INSTEAD_MAX) others.shift();
    return matching.length >= count;
  };
  let last = after ?? journal.size.added;
  for await (const entry of inTurns(journal.entries(last))) {
    last = entry.sequence;
    if (take(entry)) return { matching, others };
  }
  // Without a pause before the subscription, so that none is missed.
  for (const entry of journal.entries(last)) if (take(entry)) return { matching, others };
  if (gone?.aborted || timeoutSeconds === 0) return { matching, others };
  const enough = new AbortController();
  const end = (): void => enough.abort();
  let failed: { readonly fault: unknown } | undefined;
  const unsubscribe = journal.subscribe(
    (entry) => {
      if (!enough.signal.aborted && take(entry)) end();
    },
    (fault) => {
      failed = { fault };
      end();
    },
  );
  gone?.addEventListener('abort', end);
  await clock.sleep(timeoutSeconds * 1000, enough.signal);
  gone?.removeEventListener('abort', end);
  unsubscribe();
  if (failed) throw failed.fault;
  return { matching, others };
}
