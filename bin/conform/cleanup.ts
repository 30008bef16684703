/** `fleetbed conform cleanup`: removes what a run has left on a target, by its ledger. */
import type { Command } from 'commander';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';

/** Adds the options of the subcommand and what it does. */
export function configure(command: Command): void {
  command.argument('<ledger>', 'the file that the run wrote').action(() => {
    throw new CommandFault('cleanup is not there yet', exitCodes.setUp);
  });
}
