/** The journal of a tenant for tests: lists entries, waits for them, and asserts what happened. */

import { systemClock } from '../../../fixtures/clock.ts';
import { type EntryView, entryView } from '../../explain/entry-view.ts';
import { type Assertion, Judge } from '../../journal/assertion.ts';
import type { JournalEntry } from '../../journal/entry.ts';
import { type EntryFilter, matcher } from '../../journal/filter.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { awaitEntries } from '../commands/await.ts';

/** Options for waiting for an entry. */
interface Patience {
  /** Only entries after this sequence number count. Without it, all stored entries count. */
  readonly after?: number;
  /** Seconds of real time, not of the tenant's clock. */
  readonly timeoutSeconds?: number;
}

/** Thrown if no matching entry arrived in time. The message lists the entries that did arrive. */
export class AwaitTimeout extends Error {
  override readonly name = 'AwaitTimeout';
}

/** Thrown if an assertion on the journal failed. The message lists the entries that were seen. */
export class JournalAssertionError extends Error {
  override readonly name = 'JournalAssertionError';
}

/** The journal of a tenant. Entries are plain JSON with secrets masked, oldest first. */
export interface TestbedJournal {
  list(filter?: EntryFilter): EntryView[];
  /** Returns the newest matching entry. */
  find(filter: EntryFilter): EntryView | undefined;
  /**
   * Resolves with the first matching entry, stored or future. Waits ten seconds by default.
   * @throws AwaitTimeout
   */
  await(filter: EntryFilter, patience?: Patience): Promise<EntryView>;
  /** Checks that all expected entries occurred in the given order. @throws JournalAssertionError */
  assert(assertion: Assertion): void;
  clear(): void;
}

const TIMEOUT_SECONDS = 10;

export function testbedJournal(tenant: Tenant): TestbedJournal {
  const journal = journalOf(tenant);
  const shown = (entry: JournalEntry): EntryView => entryView(entry, tenant, true);
  return {
    list: (filter = {}) => [...journal.entries()].filter(matcher(filter, tenant)).map(shown),
    find: (filter) => {
      const matches = matcher(filter, tenant);
      for (const entry of journal.newestFirst()) if (matches(entry)) return shown(entry);
      return undefined;
    },
    await: async (filter, patience = {}) => shown(await firstMatch(tenant, filter, patience)),
    assert: (assertion) => {
      const judge = new Judge(assertion, tenant);
      for (const entry of journal.entries()) judge.see(entry);
      const { holds, sentence } = judge.verdict();
      if (!holds) throw new JournalAssertionError(sentence);
    },
    clear: () => journal.clear(),
  };
}

async function firstMatch(
  tenant: Tenant,
  filter: EntryFilter,
  { after = 0, timeoutSeconds = TIMEOUT_SECONDS }: Patience,
): Promise<JournalEntry> {
  const awaited = { filter, after, count: 1, timeoutSeconds, clock: systemClock };
  const { matching, others } = await awaitEntries(tenant, awaited);
  const [found] = matching;
  if (found) return found;
  const came = others.length === 0 ? 'nothing' : others.map(wordOf).join(', ');
  throw new AwaitTimeout(
    `no entry matched ${JSON.stringify(filter)} within ${timeoutSeconds} s; instead came ${came}`,
  );
}

function wordOf(entry: JournalEntry): string {
  if (entry.kind !== 'exchange') return entry.kind;
  return `${entry.operation ?? entry.method} ${entry.status}`;
}
