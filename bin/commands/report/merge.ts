/** `fleetbed report merge`: merges the results of several processes or machines into one. */
import type { Command } from 'commander';
import { printableJson } from '../../../fixtures/base/printable.ts';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { fleetReport } from '../../../simulator/report/text.ts';
import { MergeError, mergeResults } from '../../../simulator/result/merge.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp, fleetCodes } from '../../options/exit-code-help.ts';
import * as values from '../../options/option-values.ts';
import { CommandError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { requireWritable, writeWhole } from '../../output/files.ts';
import { fleetExitCode } from '../../output/fleet-outcome.ts';
import { createOutput } from '../../output/output.ts';
import { readResultFile } from './read-result-file.ts';

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  const setUp =
    'a result cannot be read, the results are of different plans, or the file cannot be written';
  command.addHelpText('after', exitCodeHelp({ ...fleetCodes, setUp }));
  addExamples(command, 'fleetbed report merge shard-0.json shard-1.json --out run.json');
  command
    .argument('<results...>', 'JSON files of the shards of one plan')
    .requiredOption('--out <file>', 'file to write the merged result to', values.nonEmptyText)
    .action(async (paths: readonly string[], { out }: { readonly out: string }) => {
      process.exitCode = await mergeReports(paths, out);
    });
}

/** The exit code of a merged run follows the same rules as that of one process. */
async function mergeReports(paths: readonly string[], out: string): Promise<ExitCode> {
  const output = createOutput(false);
  await requireWritable('--out', out);
  const results: FleetResult[] = [];
  for (const path of paths) results.push(await readResultFile('RESULTS', path));
  const merged = mergedOf(results);
  await writeWhole(out, `${printableJson(JSON.stringify(merged, null, 2))}\n`);
  const missing = merged.plan.devices - merged.devices.length;
  if (missing > 0) {
    output.warn(`${missing} of ${merged.plan.devices} devices are in none of these results`);
  }
  output.line(fleetReport(merged));
  return fleetExitCode(merged);
}

function mergedOf(results: readonly FleetResult[]): FleetResult {
  try {
    return mergeResults(results);
  } catch (error) {
    if (!(error instanceof MergeError)) throw error;
    const remedy = 'give one result of each shard of the same plan';
    throw new CommandError(`RESULTS: ${error.message}; ${remedy}.`, exitCodes.setUp, error);
  }
}
