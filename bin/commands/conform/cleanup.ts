/**
 * `fleetbed conform cleanup`: removes the resources that a run left on a target, as listed in its
 * ledger.
 */
import type { Command } from 'commander';
import { type CleanupResult, cleanUp } from '../../../conformance/cleanup/cleanup.ts';
import { readLedger } from '../../../conformance/cleanup/ledger-reading.ts';
import { SetupError } from '../../../conformance/target/setup-error.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { OptionRows, ValuesOf } from '../../../fixtures/base/option-row.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { addLoginOptions, type LoginOptions, loginWays } from '../../options/login-options.ts';
import { addOptionRows } from '../../options/option-rows.ts';
import { addUrlOption, emptyLedgerSentence, forceOption } from '../../options/url-option.ts';
import { CommandError, setupError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';
import { createOutput } from '../../output/output.ts';
import { stopSignal } from '../../output/stop-signal.ts';
import { foundTarget } from '../../server-access/found-server.ts';
import { credentialsOf, runRows } from './options.ts';
import { controlOf, controlRows } from './target-control-options.ts';

const REQUEST_TIME_LIMIT_MS = 15_000;

/** The options of the subcommand, other than the server's URL and the login. */
export const runCleanupRows = {
  controlUrl: {
    ...controlRows.controlUrl,
    group: 'Target',
    help: 'control listener of the testbed; needed to remove tenants',
  },
  controlToken: { ...controlRows.controlToken, group: 'Target' },
  ca: runRows.ca,
  json: runRows.json,
} as const satisfies OptionRows;

/** The options as commander parses them. */
export interface RunCleanupOptions extends LoginOptions, ValuesOf<typeof runCleanupRows> {
  readonly url?: string;
  readonly force?: boolean;
}

const codes = exitCodeHelp({
  pass: 'everything was removed',
  failed: 'something could not be removed',
  setUp: 'the ledger cannot be used, or the server cannot be reached or refuses the user',
});

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  command.addHelpText('after', codes);
  addExamples(
    command,
    'fleetbed conform cleanup run.ledger',
    '# The same server at another address',
    'fleetbed conform cleanup run.ledger --url https://staging.example.com --force',
  );
  command.argument('<ledger>', 'ledger file of the run').optionsGroup('Target:');
  addUrlOption(command, {
    description: 'base URL of the server (default: that of the run)',
    isInEnvironment: false,
  });
  addLoginOptions(command).addOption(forceOption());
  addOptionRows(command.optionsGroup('Options:'), runCleanupRows);
  command.action(async (ledger: string, options: RunCleanupOptions) => {
    process.exitCode = await cleanUpRun(ledger, options);
  });
}

/**
 * Removes the resources that a run of the suite left on the target, and prints the result.
 * @throws CommandError
 */
export async function cleanUpRun(
  ledgerFile: string,
  cleanupOptions: RunCleanupOptions,
): Promise<ExitCode> {
  const output = createOutput(cleanupOptions.json ?? false);
  const { caPem: foundCaPem, ...options } = foundTarget(
    { ...cleanupOptions, url: cleanupOptions.url ?? urlInLedger(ledgerFile) },
    true,
  );
  const credentials = credentialsOf(options);
  const control = controlOf(options);
  if (credentials === 'none' && !control) {
    const remedy = `${loginWays}, or --control-url to remove only tenants`;
    throw new CommandError(`a ledger of conform needs ${remedy}.`, exitCodes.usage);
  }
  const { url: baseUrl } = cleanupOptions;
  const caPem = options.ca === undefined ? foundCaPem : await readNamedFile('--ca', options.ca);
  const result = await removeLeftovers({
    ledgerFile,
    baseUrl,
    isForced: options.force,
    credentials,
    control,
    caPem,
    clock: systemClock,
    requestTimeLimitMs: REQUEST_TIME_LIMIT_MS,
    signal: stopSignal(),
    onRemoved: (name) => output.progress(`removed ${name}`),
  });
  output.data(result);
  output.line(cleanupReport(result, ledgerFile));
  const isDone = result.stayed.length === 0 && !result.isDoubtful;
  return isDone ? exitCodes.pass : exitCodes.failed;
}

/** Returns the URL of the newest run in a ledger; its errors are those of the cleanup itself. */
function urlInLedger(ledgerFile: string): string {
  try {
    return readLedger(ledgerFile).baseUrls.at(-1) ?? '';
  } catch {
    return '';
  }
}

async function removeLeftovers(options: Parameters<typeof cleanUp>[0]): Promise<CleanupResult> {
  try {
    return await cleanUp(options);
  } catch (error) {
    const location = options.baseUrl ?? options.ledgerFile;
    throw error instanceof SetupError ? setupError(error, location) : error;
  }
}

function cleanupReport(result: CleanupResult, ledgerFile: string): string {
  const { baseUrl, announced, removed, absent, stayed, isDoubtful, isLedgerDeleted } = result;
  const counts = `${announced} resources in the ledger, ${removed.length} removed now`;
  const unknown = absent.length === 0 ? '' : `, ${absent.length} not on the server`;
  return [
    ...(stayed.length > 0 ? [`Left on ${baseUrl}`, ...stayed.map((line) => `  ${line}`)] : []),
    `${counts}${unknown}, ${stayed.length} left`,
    ...(isDoubtful ? [emptyLedgerSentence(baseUrl)] : []),
    ...(isLedgerDeleted ? [`deleted ${ledgerFile}: everything in it was removed`] : []),
  ].join('\n');
}
