/** Checks whether events happened in a given order, and reports what was seen if they did not. */
import { maskText } from '../http/masking.ts';
import { deviceOf, operationOf, reportIn, type TenantRecords } from './derived-fields.ts';
import type { JournalEntry } from './entry.ts';
import { type EntryFilter, type EntryTest, matcher } from './filter.ts';

/** An expected event: a status that a device reported, or any journal entry. */
interface ExpectedEvent extends Omit<EntryFilter, 'sinceMs' | 'untilMs'> {
  /** A status that a device reported. A refused report matches only if `status` is given. */
  readonly report?: string | undefined;
}

/** An assertion on the entries of a journal. */
export interface Assertion {
  /** The device that all events must belong to. */
  readonly device?: string | undefined;
  /** The events in the expected order. Other entries may occur in between. */
  readonly happened: readonly ExpectedEvent[];
  /** How often the last event must happen after the others; at least once if absent. */
  readonly times?: number | undefined;
}

/** The result of an assertion. */
export interface AssertionResult {
  readonly holds: boolean;
  readonly sentence: string;
  /** Sequence numbers of the matching entries. The last event may have several. */
  readonly seen: readonly number[];
}

const INSTEAD_MAX = 12;

/** Evaluates an assertion over entries that are passed in order, oldest first. */
export class AssertionJudge {
  readonly #assertion: Assertion;
  readonly #tenant: TenantRecords;
  readonly #tests: readonly EntryTest[];
  readonly #isSubject: EntryTest;
  readonly #seen: number[] = [];
  /** The newest entries of the device. */
  readonly #newest: JournalEntry[] = [];
  #earlierCount = 0;
  #at = 0;

  constructor(assertion: Assertion, tenant: TenantRecords) {
    const { device, happened } = assertion;
    this.#assertion = assertion;
    this.#tenant = tenant;
    this.#tests = happened.map((step) => stepTest({ device, ...step }, tenant));
    this.#isSubject = matcher({ device }, tenant);
  }

  see(entry: JournalEntry): void {
    if (this.#tests[this.#at]?.(entry)) {
      this.#seen.push(entry.sequence);
      if (this.#at < this.#tests.length - 1) this.#at += 1;
    }
    if (entry.kind === 'frame' || !this.#isSubject(entry)) return;
    if (this.#newest.push(entry) <= INSTEAD_MAX) return;
    this.#newest.shift();
    this.#earlierCount += 1;
  }

  verdict(): AssertionResult {
    const { device, happened, times } = this.#assertion;
    const sequences = this.#seen;
    const last = this.#tests.length - 1;
    const count = this.#at === last ? Math.max(0, sequences.length - last) : 0;
    const holds = times === undefined ? count > 0 : count === times;
    const claim = `${subjectOf(device)} ${holds ? 'did' : 'was to'}: ${planOf(happened, times)}`;
    if (holds) return { holds, sentence: `${claim}.`, seen: sequences };
    const observation =
      count > 0 ? `the last step happened ${timesText(count)}` : missing(happened, this.#at);
    return {
      holds,
      sentence: `${claim}; ${observation}. Seen instead: ${this.#instead()}.`,
      seen: sequences,
    };
  }

  /** Returns a sentence about the newest entries of the device. */
  #instead(): string {
    if (this.#newest.length === 0) return 'nothing';
    const names = this.#newest.map((entry) => wordOf(entry, this.#tenant));
    return `${this.#earlierCount > 0 ? `${this.#earlierCount} earlier, ` : ''}${names.join(', ')}`;
  }
}

function stepTest({ report, ...filter }: ExpectedEvent, tenant: TenantRecords): EntryTest {
  const matches = matcher(
    report === undefined ? filter : { operation: 'put-deployment-status', ...filter },
    tenant,
  );
  if (report === undefined) return matches;
  return (entry) =>
    matches(entry) &&
    reportIn(entry) === report &&
    entry.kind === 'exchange' &&
    (filter.status !== undefined || (entry.status >= 200 && entry.status < 300));
}

function subjectOf(device: string | undefined): string {
  return device === undefined ? 'the tenant' : `device ${device}`;
}

function planOf(steps: readonly ExpectedEvent[], times: number | undefined): string {
  const [last = '', ...earlierSteps] = steps.map(stepText).reverse();
  const often = times === undefined ? '' : `, ${timesText(times)}`;
  const afterText =
    earlierSteps.length === 0 ? '' : ` after ${earlierSteps.reverse().join(', then ')}`;
  return `${last}${afterText}${often}`;
}

function stepText({ report, ...filter }: ExpectedEvent): string {
  const conditions = Object.entries(filter).filter(([, value]) => value !== undefined);
  const filterText = conditions.map(([name, value]) => `${name} ${value}`).join(' and ');
  if (report === undefined) return filterText === '' ? 'anything' : filterText;
  return filterText === '' ? `report ${report}` : `report ${report} with ${filterText}`;
}

function timesText(times: number): string {
  if (times === 0) return 'never';
  return times === 1 ? 'once' : `${times} times`;
}

function missing(steps: readonly ExpectedEvent[], at: number): string {
  const step = steps[at];
  const afterText = at === 0 ? '' : `, after what came before it`;
  return `"${step ? stepText(step) : ''}" did not happen${afterText}`;
}

function wordOf(entry: JournalEntry, tenant: TenantRecords): string {
  const report = reportIn(entry);
  const status = entry.kind === 'frame' ? '' : ` ${entry.status}`;
  const name = report === undefined ? (operationOf(entry) ?? 'no operation') : `report ${report}`;
  const isFirstContact = entry.kind === 'exchange' && deviceOf(entry, tenant)?.id === undefined;
  const who = isFirstContact && entry.operation === 'post-auth-request' ? ' of a new device' : '';
  return maskText(`${name}${who}${status} (${entry.sequence})`);
}
