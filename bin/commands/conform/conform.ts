/** `fleetbed conform`: judges a server by the contract. Its subcommands are in `conform/`. */
import type { Command } from 'commander';
import { type CaseListing, listCases } from '../../../conformance/conformance.ts';
import { comparisonText } from '../../../conformance/report/differences.ts';
import { caseList, conformanceReport } from '../../../conformance/report/text.ts';
import { compareReports } from '../../../conformance/result/compare.ts';
import { resultSchema } from '../../../conformance/result/schema.ts';
import type { OptionRows, ValuesOf } from '../../../fixtures/base/option-row.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { addOptionRows } from '../../options/option-rows.ts';
import { prepareReports, writeReports } from '../../options/reports.ts';
import { addSubcommands, type Subcommands, subcommandHint } from '../../options/subcommands.ts';
import { CommandError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { withLiveLine } from '../../output/live-line.ts';
import { createOutput, type Output } from '../../output/output.ts';
import { stopSignal } from '../../output/stop-signal.ts';
import { conformanceExitCode } from './conformance-outcome.ts';
import {
  closeEmptyLedger,
  closeLedger,
  ledgerLocation,
  notifyWhenInterrupted,
} from './ledger-location.ts';
import {
  addRunOptions,
  type ConformOptions,
  completeOptions,
  runSettingsOf,
  withKnownIds,
} from './options.ts';
import { readReportFile } from './read-report.ts';
import { conformanceFormats } from './report-formats.ts';
import { openRunLines } from './run-lines.ts';
import { runSuite } from './run-suite.ts';
import { prepareScripts, writeScripts } from './script-files.ts';
import { verdictPrinter, waitPrinter } from './suite-watch.ts';

type ConformSettings = Awaited<ReturnType<typeof runSettingsOf>>;

const subcommands: Subcommands = {
  cleanup: {
    summary: 'remove what an interrupted run left on the target',
    load: () => import('./cleanup.ts'),
  },
  rerun: {
    summary: 'run only the failed cases of an earlier run',
    load: () => import('./rerun.ts'),
  },
  compare: {
    summary: 'show regressions, fixes and changed observations between two reports',
    load: () => import('./compare.ts'),
  },
  judge: {
    summary: 'judge a server from a recording: a HAR file or a journal',
    load: () => import('./judge.ts'),
  },
  client: {
    summary:
      'judge a device client: drive it through updates and failures, and name the duties that it breaks',
    load: () => import('./client/client.ts'),
  },
  hooks: {
    summary: 'describe the steps of --hooks, with their inputs and responses',
    load: () => import('./hooks.ts'),
  },
  'self-test': {
    summary: 'plant defects in a good server and check that the suite kills each one',
    load: () => import('./self-test.ts'),
  },
};

const commandRows = {
  ndjson: {
    flag: '--ndjson <file>',
    group: 'Reports',
    help: 'write each verdict as a line of JSON; - is stdout',
    cli: { kind: 'text' },
  },
  ledger: {
    flag: '--ledger <file>',
    group: 'Reports',
    help: 'list everything that the run creates, for `fleetbed cleanup`',
    cli: { kind: 'file' },
  },
  compare: {
    flag: '--compare <file>',
    group: 'Reports',
    help: 'JSON report of an earlier run: show what has changed since',
    cli: { kind: 'file' },
  },
  dryRun: {
    flag: '--dry-run',
    group: 'Instead of a run',
    help: 'show what a run would do and create',
    cli: { kind: 'switch' },
  },
  list: {
    flag: '--list',
    group: 'Instead of a run',
    help: 'list the cases',
    cli: { kind: 'switch' },
  },
  coverage: {
    flag: '--coverage [format]',
    group: 'Instead of a run',
    help: 'print which cases test which requirement',
    cli: { kind: 'read', read: (format): string | true => format, accepted: 'a format' },
  },
  schema: {
    flag: '--schema',
    group: 'Instead of a run',
    help: 'print the JSON Schema of the result',
    cli: { kind: 'switch' },
  },
} as const satisfies OptionRows;

type ConformCommandOptions = ConformOptions & ValuesOf<typeof commandRows>;

const codes = exitCodeHelp({
  pass: 'no case failed',
  failed: 'a case failed without a valid waiver, or a waiver is expired or obsolete',
  setUp:
    'the target cannot be tested: unreachable, not this API, login refused, a right of the user missing, a file unusable',
  inconclusive: 'no case passed or failed, or a case was inconclusive',
  internal: 'a case ended by an error of the suite',
  interrupted: 'Ctrl-C, and no case had failed',
});

/** Adds the options, the subcommands and the action of `fleetbed conform`. */
export function configure(command: Command): void {
  command.addHelpText('after', codes);
  addExamples(
    command,
    '# Everything, against fleetbed serve: FLEETBED_PASSWORD, FLEETBED_CONTROL_URL and _TOKEN are set',
    'fleetbed conform --disruptive --require-all-must',
    '# A staging server, from a pipeline: credentials in FLEETBED_EMAIL and FLEETBED_PASSWORD',
    'fleetbed conform --url https://staging.example.com --rate 20/s --report junit=report.xml',
    '# One area, or one case',
    'fleetbed conform --url https://staging.example.com deployment-status/ errors/error-says-why',
  );
  addSubcommands(command, subcommands);
  command.argument('[id-prefix...]', 'run only cases whose ID starts with this');
  addOptionRows(addRunOptions(command), commandRows).action(
    async (selection: readonly string[], options: ConformCommandOptions) => {
      const isUrlGiven = command.getOptionValueSource('url') !== 'default';
      const hint = subcommandHint(command, selection[0] ?? '');
      process.exitCode = await runConform({ selection, hint }, options, isUrlGiven);
    },
  );
}

async function runConform(
  { selection, hint }: { selection: readonly string[]; hint: string },
  options: ConformCommandOptions,
  isUrlGiven: boolean,
): Promise<ExitCode> {
  if (options.coverage !== undefined) {
    const { printCoverage } = await import('./coverage.ts');
    return printCoverage(options.coverage);
  }
  if (options.schema) {
    process.stdout.write(`${JSON.stringify(resultSchema(), null, 2)}\n`);
    return exitCodes.pass;
  }
  if (options.json && options.ndjson === '-') {
    throw new CommandError(
      '--ndjson - and --json both write to standard output; use one of them.',
      exitCodes.usage,
    );
  }
  const output = createOutput(options.json === true || options.ndjson === '-');
  const cases = withKnownIds(() => listCases(selection), hint);
  if (options.list) return printCases(cases, output);
  return conform({ selection, cases }, completeOptions(options, isUrlGiven), output);
}

function printCases(cases: readonly CaseListing[], output: Output): ExitCode {
  if (output.json) output.data(cases);
  else output.line(caseList(cases));
  return exitCodes.pass;
}

async function conform(
  { selection, cases }: { selection: readonly string[]; cases: readonly CaseListing[] },
  options: ConformCommandOptions,
  output: Output,
): Promise<ExitCode> {
  await prepareReports(options.report);
  await prepareScripts(options.scripts);
  const settings = await runSettingsOf(options);
  const earlierReport = options.compare && (await readReportFile('--compare', options.compare));
  if (options.dryRun) {
    const { dryRun } = await import('./dry-run.ts');
    return dryRun({ ...settings, selection }, output);
  }
  const location = ledgerLocation(options);
  const signal = stopSignal();
  const interruptionNotice = location && notifyWhenInterrupted(location, signal);
  const lines = await openRunLines(options.ndjson, settings);
  const result = await withLiveLine(output, (live) => {
    // NDJSON on standard output may go to the same terminal, where it would run into the live line.
    const printer = options.ndjson === '-' ? output : live;
    const printVerdict = verdictPrinter(printer, cases.length);
    return runSuite({
      ...settings,
      selection,
      signal,
      onWait: waitPrinter(printer),
      onStart: (start) => {
        printFootprint(settings, printer);
        lines.start(start);
      },
      onVerdict: (verdict) => {
        lines.verdict(verdict);
        printVerdict(verdict);
      },
      ...(location && { ledgerFile: location.file }),
    });
  }).catch((error: unknown) => {
    if (location) closeEmptyLedger(location, output);
    throw error;
  });
  interruptionNotice?.dismiss();
  if (location) closeLedger(location, result, output);
  lines.end(result);
  const comparison = earlierReport ? compareReports(earlierReport, result) : undefined;
  const scripts = await writeScripts(result, options.scripts);
  await writeReports(conformanceFormats, options.report, { result, comparison, scripts });
  if (options.json) output.data(result);
  output.line(conformanceReport(result, scripts));
  if (comparison) output.line(`\n${comparisonText(comparison)}`);
  return conformanceExitCode(result, signal);
}

/** Warns, before the run creates anything, about resources that no cleanup can remove. */
function printFootprint({ credentials, hooks, readOnly }: ConformSettings, output: Output): void {
  if (readOnly) return;
  const leftSentence =
    credentials === 'none' && !hooks
      ? 'devices stay pending on the target, because there is no user to remove them'
      : 'deployments and audit-log entries stay on the target; everything else is removed';
  output.progress(`${leftSentence} (--dry-run shows how many, and how many requests)`);
}
