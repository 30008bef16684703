/** Where RSA keys are kept, and what is said while they are made. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { FleetHooks } from '../../simulator/engine/simulate-fleet.ts';
import type { Output } from '../output.ts';

/** Making a key takes a tenth of a second and more: every so many are told. */
const KEYS_TOLD = 8;

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
