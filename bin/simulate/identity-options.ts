/** The options of `fleetbed simulate` about who its devices are, and what is kept of them. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { FleetHooks } from '../../simulator/engine/simulate-fleet.ts';
import * as values from '../option-values.ts';
import type { Output } from '../output.ts';

const RSA_POOL_MAX = 4096;
/** Making a key takes a tenth of a second and more: every so many are told. */
const KEYS_TOLD = 8;

/** Adds them to the command. */
export function addIdentityOptions(command: Command): void {
  command
    .option('--id-prefix <text>', 'prefix of serial numbers (default: FB)', values.filled)
    .option(
      '--rsa-pool <count>',
      'number of RSA keys that the devices share (default: 64)',
      values.count(1, RSA_POOL_MAX),
    )
    .option('--rsa-bits <bits>', 'size of RSA keys: 2048 or 3072 (default: 2048)', rsaBits)
    .option(
      '--rsa-pool-folder <folder>',
      "folder of RSA keys (default: in the user's cache folder)",
      values.filled,
    )
    .option('--key-folder <folder>', 'folder of PEM files with your own device keys', values.filled)
    .option(
      '--id-data <template>',
      'template of id_data: \'{"mac":"{mac}","nr":"{index}"}\'',
      values.filled,
    )
    .option('--id-data-csv <file>', 'CSV file of id_data, one row per device', values.filled)
    .option(
      '--state <folder>',
      'folder to keep the fleet in; the next run continues from it',
      values.filled,
    )
    .option(
      '--ledger <file>',
      'list what the fleet creates, for `simulate cleanup`',
      values.filled,
    );
}

/** Where RSA keys are kept when nobody says otherwise. */
export function defaultPoolFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'fleetbed', 'rsa-pool');
}

/** Tells how the making of RSA keys goes on. */
export function keyTeller(output: Output): NonNullable<FleetHooks['onKeys']> {
  return ({ made, of }) => {
    const isWorthTelling = made > 0 && (made % KEYS_TOLD === 0 || made === of);
    if (isWorthTelling) output.progress(`RSA keys: ${made} of ${of} generated`);
  };
}

function rsaBits(text: string): 2048 | 3072 {
  if (text === '2048') return 2048;
  if (text === '3072') return 3072;
  throw new InvalidArgumentError('Accepted: 2048 or 3072.');
}
