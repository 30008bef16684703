/** `fleetbed report compare`: decides whether the later of two runs is worse by more than noise. */
import { type Command, Option } from 'commander';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { comparisonText } from '../../../simulator/report/comparison-text.ts';
import {
  ComparisonError,
  compareResults,
  type NoiseFloor,
  type RunComparison,
} from '../../../simulator/result/compare.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import * as values from '../../options/option-values.ts';
import { jsonOption } from '../../options/shared-options.ts';
import { CommandError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';
import { readResultFile } from './read-result-file.ts';

interface CompareOptions {
  readonly noiseShare: number;
  readonly noiseFloor: number;
  readonly json?: boolean;
}

const codes = exitCodeHelp({
  pass: 'no regression',
  failed: 'a regression',
  setUp: 'a result cannot be read',
  inconclusive: 'too little was measured to compare',
});

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  command.addHelpText('after', codes);
  addExamples(command, 'fleetbed report compare before.json after.json');
  command
    .argument('<earlier>', 'JSON result of the earlier run', values.nonEmptyText)
    .argument('<later>', 'JSON result of the later run', values.nonEmptyText)
    .addOption(
      new Option(
        '--noise-share <share>',
        'relative shift of a percentile that counts as noise, from 0 to 1',
      )
        .argParser(values.share)
        .default(0.1, '0.1'),
    )
    .addOption(
      new Option(
        '--noise-floor <duration>',
        'absolute shift that counts as noise; the larger of the two limits applies',
      )
        .argParser(values.durationMs)
        .default(1, '1ms'),
    )
    .addOption(jsonOption())
    .action(async (earlier: string, later: string, options: CompareOptions) => {
      const earlierResult = await readResultFile('EARLIER', earlier);
      const comparison = compareRuns(earlierResult, await readResultFile('LATER', later), {
        share: options.noiseShare,
        milliseconds: options.noiseFloor,
      });
      const output = createOutput(options.json ?? false);
      output.data(comparison);
      if (!output.json) output.line(comparisonText(comparison));
      process.exitCode = exitCodeOf(comparison);
    });
}

function compareRuns(before: FleetResult, after: FleetResult, floor: NoiseFloor): RunComparison {
  try {
    return compareResults(before, after, floor);
  } catch (error) {
    if (!(error instanceof ComparisonError)) throw error;
    throw new CommandError(`${error.message}; run it again.`, exitCodes.setUp, error);
  }
}

/** A regression fails the comparison; too little data leaves it inconclusive. */
function exitCodeOf({ verdict }: RunComparison): ExitCode {
  if (verdict === 'regression') return exitCodes.failed;
  return verdict === 'not enough data' ? exitCodes.inconclusive : exitCodes.pass;
}
