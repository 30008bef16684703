/** The journal of a tenant for tests: lists entries, waits for them, and asserts what happened. */
import * as v from 'valibot';
import { systemClock } from '../../../fixtures/base/clock.ts';
import * as inputs from '../../../fixtures/control/inputs.ts';
import { type EntryView, entryView } from '../../explain/entry-view.ts';
import { type Assertion, AssertionJudge } from '../../journal/assertion.ts';
import type { JournalEntry } from '../../journal/entry.ts';
import { type EntryFilter, matcher } from '../../journal/filter.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { awaitEntries } from '../commands/await.ts';
import { checkedInput } from './checked-input.ts';

/** Options for waiting for an entry. */
export interface EntryAwaitOptions {
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

/**
 * The journal of a tenant. Entries are plain JSON with secrets masked, oldest first. Its methods
 * throw a TypeError for an unknown field, and a RangeError for a value that a field cannot have.
 */
export interface TestbedJournal {
  list(filter?: EntryFilter): EntryView[];
  /** Returns the newest matching entry. */
  find(filter: EntryFilter): EntryView | undefined;
  /**
   * Resolves with the first matching entry, stored or future. Waits ten seconds by default.
   * @throws AwaitTimeout
   */
  await(filter: EntryFilter, patience?: EntryAwaitOptions): Promise<EntryView>;
  /** Checks that all expected entries occurred in the given order. @throws JournalAssertionError */
  assert(assertion: Assertion): void;
  clear(): void;
}

const TIMEOUT_SECONDS = 10;

const patienceShape = v.strictObject({
  after: v.optional(v.number('must be a number'), 0),
  timeoutSeconds: v.optional(v.number('must be a number'), TIMEOUT_SECONDS),
});

/** Parts of the journal are selected by filters, so an assertion on it has no `between`. */
const assertionShape = v.omit(inputs.assertionShape, ['between']);

export function testbedJournal(tenant: Tenant): TestbedJournal {
  const journal = journalOf(tenant);
  const viewOf = (entry: JournalEntry): EntryView => entryView(entry, tenant, true);
  return {
    list: (filter = {}) => {
      const matches = matcher(filterOf('list', filter), tenant);
      return [...journal.entries()].filter(matches).map(viewOf);
    },
    find: (filter) => {
      const matches = matcher(filterOf('find', filter), tenant);
      for (const entry of journal.newestFirst()) if (matches(entry)) return viewOf(entry);
      return undefined;
    },
    await: async (filter, patience = {}) => viewOf(await firstMatch(tenant, filter, patience)),
    assert: (assertion) => {
      const checkedAssertion = checkedInput('journal.assert', assertionShape, assertion);
      const judge = new AssertionJudge(checkedAssertion, tenant);
      for (const entry of journal.entries()) judge.see(entry);
      const { holds, sentence } = judge.verdict();
      if (!holds) throw new JournalAssertionError(sentence);
    },
    clear: () => journal.clear(),
  };
}

/** Returns the filter that a test gave to a method of the journal. @throws TypeError, RangeError */
function filterOf(method: string, wanted: EntryFilter): EntryFilter {
  return checkedInput(`journal.${method}`, inputs.entryFilterShape, wanted);
}

async function firstMatch(
  tenant: Tenant,
  wanted: EntryFilter,
  patience: EntryAwaitOptions,
): Promise<JournalEntry> {
  const filter = filterOf('await', wanted);
  const { after, timeoutSeconds } = checkedInput('journal.await', patienceShape, patience);
  const awaited = { filter, after, count: 1, timeoutSeconds, clock: systemClock };
  const { matching, otherEntries } = await awaitEntries(tenant, awaited);
  const [firstEntry] = matching;
  if (firstEntry) return firstEntry;
  const came = otherEntries.length === 0 ? 'nothing' : otherEntries.map(wordOf).join(', ');
  throw new AwaitTimeout(
    `no entry matched ${JSON.stringify(filter)} within ${timeoutSeconds} s; instead came ${came}`,
  );
}

function wordOf(entry: JournalEntry): string {
  if (entry.kind !== 'exchange') return entry.kind;
  return `${entry.operation ?? entry.method} ${entry.status}`;
}
