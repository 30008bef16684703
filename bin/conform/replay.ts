/** `fleetbed conform replay`: repeats only the failures of an earlier run. */
import type { Command } from 'commander';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';

/** Adds the options of the subcommand and what it does. */
export function configure(command: Command): void {
  command.argument('<report>', 'JSON report of the earlier run').action(() => {
    throw new CommandFault('replay is not there yet', exitCodes.setUp);
  });
}
