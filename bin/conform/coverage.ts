/** `fleetbed conform --coverage`: which statement of the contract which case decides. */
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';

/** Prints the map. @param form what was given after the option; true when nothing was */
export async function printCoverage(form: string | true): Promise<ExitCode> {
  throw new CommandFault(`--coverage ${form} is not there yet`, exitCodes.setUp);
}
