/**
 * Reads the result file that a subcommand receives as an argument, or refuses it in one sentence.
 */
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { ResultError, readFleetResult } from '../../../simulator/result/read-result.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';

/**
 * Reads a result.
 * @param name the argument that names the file, such as `RESULT`
 * @throws CommandError
 */
export async function readResultFile(name: string, path: string): Promise<FleetResult> {
  const json = await readNamedFile(name, path);
  try {
    return readFleetResult(json);
  } catch (error) {
    if (!(error instanceof ResultError)) throw error;
    const remedy = 'give a file written by simulate --report json=FILE';
    throw new CommandError(`${name}: ${path} ${error.message}; ${remedy}.`, exitCodes.setUp, error);
  }
}
