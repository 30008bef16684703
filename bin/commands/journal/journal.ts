/** `fleetbed journal`: prints the requests to a running server with its responses. */
import type { Command } from 'commander';
import { printableJson } from '../../../fixtures/base/printable.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp, unreachableText } from '../../options/exit-code-help.ts';
import * as values from '../../options/option-values.ts';
import { jsonLinesOption } from '../../options/shared-options.ts';
import { CommandError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { requireWritable, writeWhole } from '../../output/files.ts';
import { createOutput, type Output } from '../../output/output.ts';
import { stopSignal } from '../../output/stop-signal.ts';
import { addControlOptions, callControl } from '../../server-access/control-listener.ts';
import { addFilterOptions, filterNames, type JournalOptions, queryOf } from './filters.ts';
import { type ShownEntry, show } from './lines.ts';

const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 100;
/** Limit on the length of one event; no event of the server comes close. */
const EVENT_MAX_CHARACTERS = 1_048_576;

interface ReadOptions extends JournalOptions {
  readonly follow?: boolean;
  readonly har?: string;
  readonly lint?: boolean;
  readonly from?: string;
  readonly json?: boolean;
  readonly limit: number;
}

const codes = exitCodeHelp({
  pass: 'done, or Ctrl-C',
  failed: '--lint has findings',
  usage: 'a filter is wrong',
  setUp: unreachableText.controlListener,
});

const help = `
Secrets are masked. With --json each entry is one line of JSON with headers and bodies, which
fleetbed calendar can read.

--lint judges the requests of each device by the duties of a client. It finds, for example, tokens
sent to another host, too frequent polls, and secrets in a log. The requests are valid, but not recommended.
With --json each finding is a line {duty, level, sentence, source, journalEntry, operation, message, remedy}.
${codes}`;

/** Adds the options and the action of `fleetbed journal`. */
export function configure(command: Command): void {
  addFilterOptions(addControlOptions(command, (options) => !('from' in options)))
    .option(
      '--limit <count>',
      'number of entries to show, the newest ones',
      values.count(1, LIMIT_MAX),
      LIMIT_DEFAULT,
    )
    .option('--follow', 'keep showing new entries until Ctrl-C')
    .option(
      '--har <file>',
      'write all matching entries to this file as HAR 1.2',
      values.nonEmptyText,
    )
    .option(
      '--lint',
      'print the requests of devices that are valid, but not recommended, with a remedy',
    )
    .option('--from <file>', 'with --lint, judge this file of fleetbed record', values.nonEmptyText)
    .addOption(jsonLinesOption('entry'))
    .addHelpText('after', help)
    .action(async (options: ReadOptions) => {
      if (options.follow && options.har !== undefined) {
        command.error("option '--har <file>' cannot be used with option '--follow'");
      }
      const unfit = options.lint ? unfitForLint(options) : undefined;
      if (unfit !== undefined) {
        command.error(
          `option '--lint' needs all requests of a device, so ${unfit} cannot be used with it`,
        );
      }
      if (options.from !== undefined && (!options.lint || isFiltered(options))) {
        command.error("option '--from <file>' needs --lint, and no filter");
      }
      process.exitCode = await journal(options);
    });
  addExamples(
    command,
    'fleetbed journal --status 4xx',
    'fleetbed journal --follow --device 02:00:00:00:00:01',
    'fleetbed journal --har traffic.har',
    'fleetbed journal --lint --device 02:00:00:00:00:01',
    'fleetbed journal --lint --from session.ndjson',
  );
}

const wholeSequences: ReadonlySet<string> = new Set([
  'device',
  'tenant',
  'since',
  'until',
  'after',
]);

function isFiltered(options: ReadOptions): boolean {
  return filterNames.some((name) => options[name] !== undefined);
}

/** Returns the first given option that would hide a part of a device's requests from the lint. */
function unfitForLint(options: ReadOptions): string | undefined {
  const filter = filterNames.find(
    (name) => !wholeSequences.has(name) && options[name] !== undefined,
  );
  if (filter !== undefined) return `--${filter === 'requestId' ? 'request-id' : filter}`;
  if (options.follow) return '--follow';
  return options.har === undefined ? undefined : '--har';
}

async function journal(options: ReadOptions): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  if (options.har !== undefined) return saveHar(options.har, options, output);
  if (options.lint) {
    // Loaded on first use, because most calls of this command do not judge.
    const { lintJournal } = await import('./lint.ts');
    return lintJournal(options, output);
  }
  // The handler is installed before the first line is printed, so that Ctrl-C works from then on.
  const stop = options.follow ? stopSignal() : undefined;
  const whole = String(output.json);
  const limit = String(options.limit);
  const { body } = await callControl(options, `/journal?${queryOf(options, { limit, whole })}`);
  const { entries, next } = (await body.json()) as JournalPage;
  for (const entry of entries) show(entry, output);
  if (!stop) return exitCodes.pass;
  await follow({ ...options, after: String(next) }, output, stop);
  return exitCodes.pass;
}

interface JournalPage {
  readonly entries: readonly ShownEntry[];
  readonly next: number;
}

async function saveHar(file: string, options: ReadOptions, output: Output): Promise<ExitCode> {
  await requireWritable('--har', file);
  const { body } = await callControl(options, `/journal.har?${queryOf(options)}`);
  await writeWhole(file, printableJson(await body.text()));
  output.progress(`Wrote ${file}.`);
  return exitCodes.pass;
}

/** Prints new entries until Ctrl-C; reconnects after the last entry when the stream ends. */
async function follow(options: JournalOptions, output: Output, stop: AbortSignal): Promise<void> {
  const whole = String(output.json);
  let { after } = options;
  while (!stop.aborted) {
    const startSequence = after;
    try {
      const path = `/journal/stream?${queryOf({ ...options, ...(after && { after }) }, { whole })}`;
      const { body } = await callControl(options, path, { signal: stop, isEndless: true });
      for await (const entry of eventsOf(body)) {
        show(entry, output);
        after = String(entry.sequence);
      }
    } catch (error) {
      if (stop.aborted) return;
      throw error;
    }
    // The server drops a reader that is too slow. After a stream without entries, reconnecting
    // would not help.
    if (after === startSequence && !stop.aborted) {
      const sentence = `${options.controlUrl} ended the stream; check that the server is running.`;
      throw new CommandError(sentence, exitCodes.setUp);
    }
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<ShownEntry> {
  let incompleteText = '';
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body ?? []) {
      const events = (incompleteText + decoder.decode(bytes, { stream: true })).split('\n\n');
      incompleteText = events.pop() ?? '';
      if (incompleteText.length > EVENT_MAX_CHARACTERS)
        throw new Error(`an event of the stream is longer than ${EVENT_MAX_CHARACTERS} characters`);
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) yield JSON.parse(data) as ShownEntry;
      }
    }
  } catch (error) {
    // The connection was cut; the reader continues after the last entry.
    if (!(error instanceof TypeError)) throw error;
  }
}
