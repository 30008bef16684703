/** `fleetbed await`: waits for entries of the journal, so that scripts need not sleep. */
import { type Command, Option } from 'commander';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp, unreachableText } from '../options/exit-code-help.ts';
import * as values from '../options/option-values.ts';
import { jsonLinesOption } from '../options/shared-options.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { createOutput } from '../output/output.ts';
import { stopSignal } from '../output/stop-signal.ts';
import { addControlOptions, callControl } from '../server-access/control-listener.ts';
import { addFilterOptions, type JournalOptions, queryOf } from './journal/filters.ts';
import type { ShownEntry } from './journal/lines.ts';
import { show } from './journal/lines.ts';

const COUNT_MAX = 500;
const DEFAULT_MS = 30_000;

interface AwaitOptions extends JournalOptions {
  readonly count: number;
  readonly timeout: number;
  readonly json?: boolean;
}

const codes = exitCodeHelp({
  pass: 'the entries arrived',
  failed: 'they did not arrive in time',
  usage: 'a filter is invalid',
  setUp: unreachableText.controlListener,
  interrupted: 'Ctrl-C',
});

const help = `
Counts only new entries. --after N also counts earlier ones; --after 0 counts all in the journal.
${codes}`;

/** Adds the options and the action of `fleetbed await`. */
export function configure(command: Command): void {
  addFilterOptions(addControlOptions(command))
    .option('--count <count>', 'number of entries to wait for', values.count(1, COUNT_MAX), 1)
    .addOption(
      new Option('--timeout <duration>', 'how long to wait, at most 10m')
        .argParser(values.durationMs)
        .default(DEFAULT_MS, '30s'),
    )
    .addOption(jsonLinesOption('entry'))
    .addHelpText('after', help)
    .action(async (options: AwaitOptions) => {
      process.exitCode = await awaitEntries(options);
    });
  addExamples(
    command,
    'fleetbed await --operation put-deployment-status --device 02:00:00:00:00:01',
    'fleetbed await --operation get-next-deployment --count 3 --timeout 2m --after 0',
  );
}

async function awaitEntries(options: AwaitOptions): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  const stop = stopSignal();
  const query = queryOf(options, {
    count: String(options.count),
    timeoutSeconds: String(options.timeout / 1000),
    whole: String(output.json),
  });
  try {
    const init = { signal: stop, expected: [200, 408] };
    const { status, body } = await callControl(options, `/await?${query}`, init);
    const { entries, otherEntries = [], error } = (await body.json()) as AwaitResponse;
    for (const entry of entries) show(entry, output);
    if (status === 200) return exitCodes.pass;
    output.warn(error ?? '');
    if (!output.json) for (const entry of otherEntries) show(entry, output);
    return exitCodes.failed;
  } catch (error) {
    if (stop.aborted) return exitCodes.interrupted;
    throw error;
  }
}

interface AwaitResponse {
  readonly entries: readonly ShownEntry[];
  readonly otherEntries?: readonly ShownEntry[];
  readonly error?: string;
}
