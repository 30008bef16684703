/** `fleetbed simulate cleanup`: takes off a server what a fleet has made there, by its ledger. */
import type { Command } from 'commander';
import { systemClock } from '../../fixtures/clock.ts';
import { cleanUpFleet, type FleetCleanupResult } from '../../simulator/cleanup.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { fleetFault } from '../fleet-outcome.ts';
import * as values from '../option-values.ts';
import { createOutput } from '../output.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';
import { stopSignal } from '../stop-signal.ts';
import { certificatesIn } from './certificates.ts';

const REQUEST_TIME_LIMIT_MS = 30_000;
/** Devices between two lines of progress. */
const DEVICES_TOLD = 100;

interface CleanupOptions {
  readonly acceptWith: values.Credentials;
  readonly baseUrl?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** Adds the subcommand and what it does. */
export function addCleanup(simulate: Command): void {
  simulate
    .command('cleanup')
    .summary('decommission what a fleet has made, by its ledger')
    .description('Closes the deployments of a fleet and decommissions its devices, by its ledger.')
    .argument('<ledger...>', 'what --ledger named, or the folder of --state')
    .addOption(
      new SecretOption('--accept-with <email:password>', 'the operator', {
        variable: secretVariables.acceptWith,
        parse: values.credentials,
      }).needed(),
    )
    .option('--base-url <url>', 'where the server is, if not where the ledger says', values.baseUrl)
    .option('--ca <file>', "PEM file with the server's certificate or its authority's")
    .option('--cert <file>', "PEM file with the operator's own certificate; with --key")
    .option('--key <file>', 'PEM file with the key of --cert')
    .option('--json', 'standard output carries the result as JSON')
    .action(async (places: readonly string[], options: CleanupOptions) => {
      process.exitCode = await cleanup(places, options);
    });
}

async function cleanup(places: readonly string[], options: CleanupOptions): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  const { baseUrl, ca, cert, key, acceptWith: credentials } = options;
  const tls = await certificatesIn({ ca, cert, key });
  const result = await cleanUpFleet({
    places,
    baseUrl,
    credentials,
    tls,
    clock: systemClock,
    requestTimeLimitMs: REQUEST_TIME_LIMIT_MS,
    signal: stopSignal(),
    onProgress: (done, of) => {
      if (done % DEVICES_TOLD === 0) output.progress(`${done} of ${of} devices`);
    },
  }).catch((error: unknown) => {
    const place = baseUrl ?? places.join(' ');
    throw fleetFault(error, { baseUrl: place, acceptWith: credentials, tls });
  });
  output.data(result);
  output.line(cleanupReport(result));
  return result.stayed.length === 0 ? exitCodes.pass : exitCodes.failed;
}

function cleanupReport(result: FleetCleanupResult): string {
  const { baseUrl, devices, decommissioned, notThere, deploymentsClosed, stayed } = result;
  return [
    ...(stayed.length > 0 ? [`Stayed on ${baseUrl}`, ...stayed.map((line) => `  ${line}`)] : []),
    `${devices} devices in the ledger: ${decommissioned} decommissioned now, ${notThere} not there; ` +
      `${deploymentsClosed} deployments closed, ${stayed.length} things stayed`,
  ].join('\n');
}
