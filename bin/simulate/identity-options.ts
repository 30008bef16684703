/** The options of `fleetbed simulate` about who its devices are, and what is kept of them. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { FleetHooks } from '../../simulator/simulator.ts';
import * as values from '../option-values.ts';
import type { Output } from '../output.ts';

const RSA_POOL_MAX = 4096;
/** Making a key takes a tenth of a second and more: every so many are told. */
const KEYS_TOLD = 8;

/** Adds them to the command. */
export function addIdentityOptions(command: Command): void {
  command
    .option(
      '--rsa-pool <count>',
      'RSA keys that the devices share (default: 64)',
      values.count(1, RSA_POOL_MAX),
    )
    .option('--rsa-bits <bits>', '2048 or 3072 (default: 2048)', rsaBits)
    .option(
      '--rsa-pool-folder <folder>',
      "where RSA keys are kept (default: in the user's cache folder)",
      values.filled,
    )
    .option('--key-folder <folder>', 'own keys, as PEM files, in place of others', values.filled)
    .option('--id-data <template>', 'id_data as \'{"mac":"{mac}","nr":"{index}"}\'', values.filled)
    .option('--id-data-csv <file>', 'id_data from a file, one row a device', values.filled)
    .option('--state <folder>', 'keep the fleet there, and go on with it', values.filled)
    .option('--ledger <file>', 'list there what the fleet makes, for cleanup', values.filled);
}

/** Where RSA keys are kept when nobody says otherwise. */
export function defaultPoolFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'fleetbed', 'rsa-pool');
}

/** Tells how the making of RSA keys goes on. */
export function keyTeller(output: Output): NonNullable<FleetHooks['onKeys']> {
  return ({ made, of }) => {
    const isWorthTelling = made > 0 && (made % KEYS_TOLD === 0 || made === of);
    if (isWorthTelling) output.progress(`RSA keys: ${made} of ${of} made`);
  };
}

function rsaBits(text: string): 2048 | 3072 {
  if (text === '2048') return 2048;
  if (text === '3072') return 3072;
  throw new InvalidArgumentError('Accepted: 2048 or 3072.');
}
