/**
 * `fleetbed simulate cleanup`: removes from a server the resources that a fleet created there, as
 * listed in its ledger.
 */
import type { Command } from 'commander';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { countText } from '../../../fixtures/base/count-text.ts';
import { cleanUpFleet, type FleetCleanupResult } from '../../../simulator/state/cleanup.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import {
  addLoginOptions,
  type LoginOptions,
  loginWays,
  userOf,
} from '../../options/login-options.ts';
import { caOption, jsonOption } from '../../options/shared-options.ts';
import { addUrlOption, emptyLedgerSentence, forceOption } from '../../options/url-option.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { fleetError } from '../../output/fleet-outcome.ts';
import { createOutput } from '../../output/output.ts';
import { stopSignal } from '../../output/stop-signal.ts';
import { certificatesIn } from './certificates.ts';

const REQUEST_TIME_LIMIT_MS = 30_000;
/** Number of devices between two lines of progress. */
const DEVICES_NAMED = 100;

/** The options as commander parses them. */
export interface FleetCleanupValues extends LoginOptions {
  readonly url?: string;
  readonly force?: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** The section of the help of a cleanup that lists its exit codes. */
export const cleanupCodes = exitCodeHelp({
  pass: 'everything was removed',
  failed: 'something could not be removed',
  setUp: 'a ledger cannot be used, or the server cannot be reached or refuses the user',
});

/** Adds the subcommand with its action. */
export function addCleanup(simulate: Command): void {
  const command = simulate.command('cleanup').addHelpText('after', cleanupCodes);
  addExamples(
    command,
    'fleetbed simulate cleanup fleet.ledger',
    '# The same server at another address',
    'fleetbed simulate cleanup fleet --url https://staging.example.com --force',
  );
  addFleetCleanupOptions(command)
    .summary('remove what a fleet created on a server')
    .description(
      'Abort the deployments and decommission the devices that the ledger of a fleet lists.',
    )
    .argument('<ledger...>', 'file of --ledger, or folder of --state')
    .addOption(caOption())
    .addOption(jsonOption())
    .action(async (locations: readonly string[], options: FleetCleanupValues) => {
      process.exitCode = await cleanUpFleets(locations, options, command);
    });
}

/** Adds the options for the server, the login and the client certificate. */
export function addFleetCleanupOptions(command: Command): Command {
  return addLoginOptions(
    addUrlOption(command, {
      description: 'base URL of the server (default: the URL in the ledger)',
      isInEnvironment: false,
    }),
  )
    .addOption(forceOption())
    .option('--cert <file>', 'PEM file with a client certificate; needs --key')
    .option('--key <file>', 'PEM file with the private key of --cert');
}

/**
 * Removes the resources that fleets left on the server, and prints the result.
 * @throws CommandError
 */
export async function cleanUpFleets(
  locations: readonly string[],
  options: FleetCleanupValues,
  command: Command,
): Promise<ExitCode> {
  const credentials = userOf(options);
  if (credentials === undefined) return command.error(`${loginWays} is needed`);
  return cleanup(locations, { ...options, credentials });
}

type UserCredentials = NonNullable<ReturnType<typeof userOf>>;

async function cleanup(
  locations: readonly string[],
  options: FleetCleanupValues & { readonly credentials: UserCredentials },
): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  const { url: baseUrl, ca, cert, key, credentials } = options;
  const tls = await certificatesIn({ ca, cert, key });
  const result = await cleanUpFleet({
    locations,
    baseUrl,
    isForced: options.force,
    credentials,
    tls,
    clock: systemClock,
    requestTimeLimitMs: REQUEST_TIME_LIMIT_MS,
    signal: stopSignal(),
    onProgress: (done, total) => {
      if (done % DEVICES_NAMED === 0) output.progress(`${done} of ${total} devices`);
    },
  }).catch((error: unknown) => {
    const location = baseUrl ?? locations.join(' ');
    throw fleetError(error, { baseUrl: location, acceptWith: credentials, tls });
  });
  output.data(result);
  output.line(cleanupReport(result));
  const isDone = result.stayed.length === 0 && !result.isDoubtful;
  return isDone ? exitCodes.pass : exitCodes.failed;
}

function cleanupReport(result: FleetCleanupResult): string {
  const { baseUrl, devices, decommissioned, notThere, deploymentsClosed, stayed } = result;
  const { isDoubtful, deletedLedgers } = result;
  return [
    ...(stayed.length > 0
      ? [`Not removed from ${baseUrl}`, ...stayed.map((line) => `  ${line}`)]
      : []),
    `${countText(devices, 'device')} in the ledger: ${decommissioned} decommissioned, ${notThere} not on the server; ` +
      `${countText(deploymentsClosed, 'deployment')} aborted, ${countText(stayed.length, 'object')} not removed`,
    ...(isDoubtful ? [emptyLedgerSentence(baseUrl)] : []),
    ...deletedLedgers.map((path) => `deleted ${path}: everything in it was removed`),
  ].join('\n');
}
