/**
 * `fleetbed conform compare`: compares two reports and prints regressions, fixes and changed
 * observations.
 */
import type { Command } from 'commander';
import { comparisonText } from '../../../conformance/report/differences.ts';
import { compareReports, type ResultComparison } from '../../../conformance/result/compare.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { jsonOption } from '../../options/shared-options.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';
import { readReportFile } from './read-report.ts';

const codes = exitCodeHelp({
  pass: 'no regression',
  failed: 'a regression',
  setUp: 'a report cannot be read',
  inconclusive: 'the reports cannot be compared',
});

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  command.addHelpText('after', codes);
  addExamples(command, 'fleetbed conform compare before.json after.json');
  command
    .argument('<earlier>', 'JSON report of the earlier run')
    .argument('<later>', 'JSON report of the later run')
    .addOption(jsonOption())
    .action(async (earlier: string, later: string, options: { readonly json?: boolean }) => {
      const comparison = compareReports(
        await readReportFile('EARLIER', earlier),
        await readReportFile('LATER', later),
      );
      const output = createOutput(options.json ?? false);
      output.data(comparison);
      if (!output.json) output.line(comparisonText(comparison));
      process.exitCode = exitCodeOf(comparison);
    });
}

/**
 * A regression fails the comparison. It is inconclusive when a case had a verdict before and has
 * none now.
 */
function exitCodeOf({ changes }: ResultComparison): ExitCode {
  if (changes.some(({ kind }) => kind === 'regression')) return exitCodes.failed;
  return changes.some(({ kind }) => kind === 'undecided-now')
    ? exitCodes.inconclusive
    : exitCodes.pass;
}
