/** `fleetbed conform self-test`: plays planted defects against the suite. */
import type { Command } from 'commander';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';

/** Adds the options of the subcommand and what it does. */
export function configure(command: Command): void {
  command.argument('[defect...]', 'only these defects').action(() => {
    throw new CommandFault('self-test is not there yet', exitCodes.setUp);
  });
}
