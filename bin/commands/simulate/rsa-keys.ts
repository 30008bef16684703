/** The folder of RSA keys, and the progress of generating them. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { FleetEnvironment } from '../../../simulator/engine/simulate-fleet.ts';
import type { Output } from '../../output/output.ts';

/** The number of keys from which progress is printed; generating one key takes at least 0.1 s. */
const KEYS_REPORTED_MIN = 8;

/** The default folder of RSA keys. */
export function defaultPoolFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'fleetbed', 'rsa-pool');
}

/** Prints the progress of generating RSA keys. */
export function printKeyProgress(output: Output): NonNullable<FleetEnvironment['onKeys']> {
  return ({ made, total }) => {
    const isReported = made > 0 && (made % KEYS_REPORTED_MIN === 0 || made === total);
    if (isReported) output.progress(`RSA keys: ${made} of ${total} generated`);
  };
}
