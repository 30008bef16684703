/** `fleetbed conform compare`: tells regressions, repairs and changed observations between two reports. */
import type { Command } from 'commander';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';

/** Adds the options of the subcommand and what it does. */
export function configure(command: Command): void {
  command
    .argument('<a>', 'JSON report of the earlier run')
    .argument('<b>', 'of the later one')
    .action(() => {
      throw new CommandFault('compare is not there yet', exitCodes.setUp);
    });
}
