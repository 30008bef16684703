/**
 * `fleetbed cleanup`: removes the resources that runs of `simulate` and `conform` left on a server,
 * as listed in their ledgers.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { plainFile } from '../../fixtures/base/plain-file.ts';
import { addExamples } from '../options/examples.ts';
import { addOptionRows } from '../options/option-rows.ts';
import { CommandError } from '../output/command-error.ts';
import { type ExitCode, exitCodes, worstExitCode } from '../output/exit-codes.ts';
import { fileError } from '../output/files.ts';
import { cleanUpRun, type RunCleanupOptions, runCleanupRows } from './conform/cleanup.ts';
import {
  addFleetCleanupOptions,
  cleanUpFleets,
  cleanupCodes,
  type FleetCleanupValues,
} from './simulate/cleanup.ts';

/** Bytes read from the start of a ledger to find its kind; the first line is far shorter. */
const HEAD_BYTES = 4096;

type CleanupCommandOptions = RunCleanupOptions & FleetCleanupValues;

/** Adds the options and the action of `fleetbed cleanup`. */
export function configure(command: Command): void {
  command.addHelpText('after', cleanupCodes);
  addExamples(
    command,
    '# What a run of conform created; password in FLEETBED_PASSWORD',
    'fleetbed cleanup run.ledger',
    '# The devices and deployments of a fleet, at another address of the same server',
    'fleetbed cleanup fleet --url https://staging.example.com --force',
  );
  const described = command.argument(
    '<ledger...>',
    'ledger files (--ledger), or state folders (simulate --state)',
  );
  addFleetCleanupOptions(described.optionsGroup('Target:')).optionsGroup('Options:');
  addOptionRows(command, runCleanupRows).action(
    async (locations: readonly string[], options: CleanupCommandOptions) => {
      process.exitCode = await cleanUp(locations, options, command);
    },
  );
}

async function cleanUp(
  locations: readonly string[],
  options: CleanupCommandOptions,
  command: Command,
): Promise<ExitCode> {
  const ofFleets = locations.filter(isFleetLedger);
  const ofRuns = locations.filter((location) => !ofFleets.includes(location));
  if (ofRuns.length > 0 && options.cert !== undefined) {
    throw new CommandError(
      `--cert applies only to ledgers of simulate; ${ofRuns[0]} is a ledger of conform.`,
      exitCodes.usage,
    );
  }
  const codes: ExitCode[] = [];
  if (ofFleets.length > 0) codes.push(await cleanUpFleets(ofFleets, options, command));
  for (const location of ofRuns) codes.push(await cleanUpRun(location, options));
  return worstExitCode(codes);
}

/**
 * Returns true when the path names the ledger of a fleet: a folder, or a file whose first line has
 * the kind of a fleet's ledger.
 */
function isFleetLedger(location: string): boolean {
  try {
    if (statSync(location).isDirectory()) return true;
    const file = openSync(plainFile(location), 'r');
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      const length = readSync(file, head, 0, HEAD_BYTES, 0);
      return /^\{"ledger":"fleetbed-fleet-ledger\//.test(head.toString('utf8', 0, length));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw fileError(`cannot read ${location}`, error);
  }
}
