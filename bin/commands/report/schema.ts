/** `fleetbed report schema`: prints the JSON Schema of a fleet's result. */
import type { Command } from 'commander';
import { fleetResultSchema } from '../../../simulator/result/read-result.ts';
import { addExamples } from '../../options/examples.ts';

/** Adds the action of the subcommand. */
export function configure(command: Command): void {
  addExamples(command, 'fleetbed report schema');
  command.action(() => {
    process.stdout.write(`${JSON.stringify(fleetResultSchema(), null, 2)}\n`);
  });
}
