/** Waits for entries of a tenant's journal. */
import { type Clock, yieldInTurns } from '../../../fixtures/base/clock.ts';
import type { JournalEntry } from '../../journal/entry.ts';
import { type EntryFilter, matcher } from '../../journal/filter.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import type { Tenant } from '../../tenants/tenants.ts';

/** Number of other entries returned with the result. */
const INSTEAD_MAX = 20;

/** The expected entries, and the time to wait for them. */
interface AwaitedEntries {
  readonly filter: EntryFilter;
  /** Only entries after this sequence number count. Without it, only future entries count. */
  readonly after?: number | undefined;
  /** Number of entries to wait for. */
  readonly count: number;
  readonly timeoutSeconds: number;
  /** The machine's clock, because a tenant's clock may be stopped. */
  readonly clock: Clock;
  /** Aborts when the caller disconnects. */
  readonly disconnected?: AbortSignal;
}

/**
 * The entries that were seen before enough matched, the time was up, or the caller disconnected.
 */
export interface AwaitResult {
  readonly matching: readonly JournalEntry[];
  /** The newest entries that did not match. */
  readonly otherEntries: readonly JournalEntry[];
}

/**
 * Waits until enough entries match, the time is up, or the caller disconnects. Rejects if an entry
 * cannot be examined.
 */
export async function awaitEntries(tenant: Tenant, awaited: AwaitedEntries): Promise<AwaitResult> {
  const journal = journalOf(tenant);
  const { filter, after, count, timeoutSeconds, clock, disconnected } = awaited;
  const matches = matcher(filter, tenant);
  const matching: JournalEntry[] = [];
  const otherEntries: JournalEntry[] = [];
  const take = (entry: JournalEntry): boolean => {
    if (matches(entry)) matching.push(entry);
    else if (otherEntries.push(entry) > INSTEAD_MAX) otherEntries.shift();
    return matching.length >= count;
  };
  let last = after ?? journal.size.added;
  for await (const entry of yieldInTurns(journal.entries(last))) {
    last = entry.sequence;
    if (take(entry)) return { matching, otherEntries };
  }
  // Reads the remaining entries synchronously up to the subscription, so that no entry is missed.
  for (const entry of journal.entries(last)) if (take(entry)) return { matching, otherEntries };
  if (disconnected?.aborted || timeoutSeconds === 0) return { matching, otherEntries };
  const enough = new AbortController();
  const end = (): void => enough.abort();
  let failed: { readonly error: unknown } | undefined;
  const unsubscribe = journal.subscribe(
    (entry) => {
      if (!enough.signal.aborted && take(entry)) end();
    },
    (error) => {
      failed = { error };
      end();
    },
  );
  disconnected?.addEventListener('abort', end);
  await clock.sleep(timeoutSeconds * 1000, enough.signal);
  disconnected?.removeEventListener('abort', end);
  unsubscribe();
  if (failed) throw failed.error;
  return { matching, otherEntries };
}
