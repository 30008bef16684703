/**
 * Joins the duties of device clients to the journal of a running server: which requests were valid,
 * but are not recommended.
 */
import type { DutyFinding } from '../../../conformance/client-judge/duty.ts';
import { JournalJudge } from '../../../conformance/client-judge/journal-judge.ts';
import { exchangeIn } from '../../../conformance/recordings/journal.ts';
import { RecordingError } from '../../../conformance/recordings/recording.ts';
import { countText } from '../../../fixtures/base/count-text.ts';
import { parsedJson } from '../../../fixtures/base/json.ts';
import { printable } from '../../../fixtures/base/printable.ts';
import { CommandError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';
import type { Output } from '../../output/output.ts';
import { callControl } from '../../server-access/control-listener.ts';
import { type JournalOptions, queryOf } from './filters.ts';
import type { ShownEntry } from './lines.ts';

/** Number of entries in one request to the control listener. */
const PAGE_ENTRIES = 200;
/** Number of findings of one duty that are printed; further ones are counted. */
const PRINTED_MAX = 5;
const LINE_MAX_CHARACTERS = 1000;

/**
 * Prints the findings on the matching entries, or on those of a session file. @returns `failed` if
 * there are any
 * @throws CommandError
 */
export async function lintJournal(
  options: JournalOptions & { readonly from?: string },
  output: Output,
): Promise<ExitCode> {
  const judge = new JournalJudge();
  const counts = new Map<string, number>();
  const { from } = options;
  for await (const entry of from === undefined ? entriesOf(options) : entriesIn(from)) {
    for (const finding of judge.judge(entry)) {
      const { duty } = finding;
      const count = (counts.get(duty) ?? 0) + 1;
      counts.set(duty, count);
      if (output.json) output.data(finding);
      else if (count <= PRINTED_MAX) for (const line of findingLines(finding)) output.line(line);
    }
  }
  if (!output.json) output.line(summary(judge.exchanges, counts));
  return counts.size === 0 ? exitCodes.pass : exitCodes.failed;
}

/** Returns the findings on one request; none if the journal of no tenant has it. */
export async function lintRequest(
  options: Pick<JournalOptions, 'controlUrl' | 'controlToken' | 'tenant'>,
  requestId: string,
): Promise<readonly DutyFinding[]> {
  const { tenant: tenantName } = options;
  for (const tenant of tenantName === undefined ? await tenantIds(options) : [tenantName]) {
    const filters = { ...options, tenant };
    const [firstEntry] = (await pageOf({ ...filters, requestId, kind: 'exchange' }, '0')).entries;
    if (!firstEntry) continue;
    const { id } = (firstEntry.device ?? {}) as { id?: string };
    const judge = new JournalJudge();
    // Without a device, only the request itself can be judged.
    if (id === undefined) return judge.judge(firstEntry);
    for await (const entry of entriesOf({ ...filters, device: id })) {
      const findings = judge.judge(entry);
      if (entry.sequence === firstEntry.sequence) return findings;
    }
  }
  return [];
}

/** Returns the lines that show a finding. */
export function findingLines({
  journalEntry: entry,
  duty,
  level,
  operation,
  message,
  remedy,
}: DutyFinding): string[] {
  return [`${entry}  ${operation}  ${duty} (${level}): ${message}`, `    remedy: ${remedy}`].map(
    (line) => printable(line, LINE_MAX_CHARACTERS),
  );
}

function summary(exchanges: number, counts: ReadonlyMap<string, number>): string {
  const judgedText = countText(exchanges, 'request');
  if (exchanges === 0) return 'The journal has no requests of devices.';
  if (counts.size === 0) return `No finding in ${judgedText} of devices.`;
  const rows = [...counts].map(([duty, count]) => `${duty} ${count}`);
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return `${countText(all, 'finding')} in ${judgedText} of devices: ${rows.join(', ')}.`;
}

/** Yields the entries of a session file. @throws CommandError if it is none */
async function* entriesIn(file: string): AsyncGenerator<unknown> {
  const lines = (await readNamedFile('--from', file)).split('\n');
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const entry = parsedJson(line);
    try {
      exchangeIn(file, `line ${at + 1}`, entry);
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      throw new CommandError(error.message, exitCodes.setUp, error);
    }
    yield entry;
  }
}

interface Page {
  readonly entries: readonly ShownEntry[];
  readonly next: number;
  readonly more: boolean;
}

/** Yields the stored entries that match, oldest first. */
async function* entriesOf(options: JournalOptions): AsyncGenerator<ShownEntry> {
  let { after = '0' } = options;
  for (;;) {
    const { entries, next, more } = await pageOf(options, after);
    yield* entries;
    if (!more) return;
    after = String(next);
  }
}

async function pageOf(options: JournalOptions, after: string): Promise<Page> {
  const query = queryOf({ ...options, after }, { limit: String(PAGE_ENTRIES), whole: 'true' });
  const { body } = await callControl(options, `/journal?${query}`);
  return (await body.json()) as Page;
}

async function tenantIds(
  options: Pick<JournalOptions, 'controlUrl' | 'controlToken'>,
): Promise<readonly string[]> {
  const { body } = await callControl(options, '/tenants');
  return ((await body.json()) as readonly { readonly id: string }[]).map(({ id }) => id);
}
