/** A result file that a subcommand is given: read, or refused in one sentence. */

import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { ResultError, readFleetResult } from '../../../simulator/result/read-result.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';

/** @param name what the file is to the command, such as `RESULT` @throws CommandError */
export async function readResultFile(name: string, path: string): Promise<FleetResult> {
  const json = await readNamedFile(name, path);
  try {
    return readFleetResult(json);
  } catch (error) {
    if (!(error instanceof ResultError)) throw error;
    const wanted = 'it wants what simulate --report json=FILE writes';
    throw new CommandError(`${name}: ${path} ${error.message}; ${wanted}.`, exitCodes.setUp, error);
  }
}
