/** `fleetbed conform rerun`: runs only those cases again that failed in an earlier run. */
import type { Command } from 'commander';
import type { ConformanceResult } from '../../../conformance/conformance.ts';
import { rerunText } from '../../../conformance/report/differences.ts';
import { conformanceReport } from '../../../conformance/report/text.ts';
import {
  compareRerunCases,
  idsToRerun,
  type RerunCase,
} from '../../../conformance/result/rerun.ts';
import type { StoredResult } from '../../../conformance/result/schema.ts';
import { optionsOfRerun, suiteOptions } from '../../../conformance/suite/options.ts';
import type { OptionRows, ValuesOf } from '../../../fixtures/base/option-row.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { addOptionRows, valueName } from '../../options/option-rows.ts';
import { prepareReports, writeReports } from '../../options/reports.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { withLiveLine } from '../../output/live-line.ts';
import { createOutput } from '../../output/output.ts';
import { stopSignal } from '../../output/stop-signal.ts';
import { addRunOptions, type ConformOptions, completeOptions, runSettingsOf } from './options.ts';
import { readReportFile } from './read-report.ts';
import { conformanceFormats } from './report-formats.ts';
import { runSuite } from './run-suite.ts';
import { prepareScripts, writeScripts } from './script-files.ts';
import { verdictPrinter, waitPrinter } from './suite-watch.ts';

const rows = {
  inconclusive: {
    flag: '--inconclusive',
    group: 'Which cases',
    help: 'also run the inconclusive cases',
    cli: { kind: 'switch' },
  },
} as const satisfies OptionRows;

type RerunOptions = ConformOptions & ValuesOf<typeof rows>;

const codes = exitCodeHelp({
  pass: 'all failed cases pass now, or none had failed',
  failed: 'a case still fails',
  setUp: 'the report cannot be read, or the target cannot be tested',
  inconclusive: 'a case was inconclusive',
  interrupted: 'Ctrl-C, and no case had failed',
});

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  command.addHelpText('after', codes);
  addExamples(
    command,
    '# Same target, seed and limits as the earlier run',
    'fleetbed conform rerun report.json',
    '# The same cases against another server',
    'fleetbed conform rerun report.json --url https://other.example.com',
  );
  command.argument('<report>', 'JSON report of the earlier run');
  addOptionRows(addRunOptions(command), rows).action(
    async (path: string, options: RerunOptions) => {
      const report = await readReportFile('REPORT', path);
      const rerunOptions = { ...options, ...readEarlierOptions(report, command) };
      process.exitCode = await rerun(report, completeOptions(rerunOptions, true));
    },
  );
}

/** Returns the options of the earlier run for every option that the command line omits. */
function readEarlierOptions({ target, seed, settings }: StoredResult, command: Command): object {
  const facts: readonly (readonly [string, unknown])[] = [
    ['--url', target.baseUrl],
    [suiteOptions.headerPrefix.flag, target.headerPrefix],
    [suiteOptions.seed.flag, seed],
    ...optionsOfRerun(settings),
  ];
  const keptOptions = facts
    .map(([flag, value]) => [valueName(flag), value] as const)
    .filter(([name]) => {
      return ['default', 'config', 'env', undefined].includes(command.getOptionValueSource(name));
    });
  return Object.fromEntries(keptOptions);
}

async function rerun(report: StoredResult, options: RerunOptions): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  await prepareReports(options.report);
  await prepareScripts(options.scripts);
  const ids = idsToRerun(report, options.inconclusive ?? false);
  if (ids.size === 0) {
    output.data([]);
    output.line(`nothing to rerun: run ${report.runId} has no failed case`);
    return exitCodes.pass;
  }
  output.progress(`rerunning ${ids.size} cases of run ${report.runId}, seed "${report.seed}"`);
  const settings = await runSettingsOf(options);
  const signal = stopSignal();
  const result = await withLiveLine(output, (live) => {
    const onVerdict = verdictPrinter(live, ids.size);
    return runSuite({ ...settings, ids, signal, onVerdict, onWait: waitPrinter(live) });
  });
  const scripts = await writeScripts(result, options.scripts);
  await writeReports(conformanceFormats, options.report, { result, scripts });
  const rows = compareRerunCases(report, ids, result.verdicts);
  output.data(rows);
  if (!output.json) output.line(`${conformanceReport(result, scripts)}\n`);
  output.line(rerunText(rows));
  return exitCodeOf(rows, result, signal);
}

/**
 * Returns the exit code of a rerun; as in a run, an expired or unused waiver is a failure, and a
 * failed case stays one when the rerun is interrupted later.
 */
function exitCodeOf(
  rows: readonly RerunCase[],
  { problems, unauthorized }: Pick<ConformanceResult, 'problems' | 'unauthorized'>,
  { aborted }: AbortSignal,
): ExitCode {
  const isFailing = rows.some(({ end }) => end === 'still-failing');
  if (aborted) return isFailing ? exitCodes.failed : exitCodes.interrupted;
  if (unauthorized !== undefined) return exitCodes.setUp;
  if (isFailing || problems.length > 0) return exitCodes.failed;
  return rows.some(({ end }) => end === 'other') ? exitCodes.inconclusive : exitCodes.pass;
}
