/** The folder of RSA keys, and the progress of generating them. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { FleetHooks } from '../../../simulator/engine/simulate-fleet.ts';
import type { Output } from '../../output/output.ts';

/** Generating a key takes a tenth of a second or more: progress is printed after this many. */
const KEYS_TOLD = 8;

/** The default folder of RSA keys. */
export function defaultPoolFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'fleetbed', 'rsa-pool');
}

/** Prints the progress of generating RSA keys. */
export function keyTeller(output: Output): NonNullable<FleetHooks['onKeys']> {
  return ({ made, of }) => {
    const isWorthTelling = made > 0 && (made % KEYS_TOLD === 0 || made === of);
    if (isWorthTelling) output.progress(`RSA keys: ${made} of ${of} generated`);
  };
}
