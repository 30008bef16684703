/** `fleetbed simulate behaviours`: which behaviours there are, whom they stand for, what is good. */
import type { Command } from 'commander';
import type { Behaviour } from '../../simulator/behaviours/behaviour.ts';
import {
  BehaviourFileError,
  readBehaviourFiles,
} from '../../simulator/behaviours/behaviour-file.ts';
import { behaviours } from '../../simulator/behaviours/catalogue.ts';
import { shownParameters } from '../../simulator/behaviours/parameters.ts';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';
import * as values from '../option-values.ts';
import { createOutput } from '../output.ts';

interface ListOptions {
  readonly behaviourFile?: readonly string[];
  readonly json?: boolean;
}

/** Adds the options of the subcommand and what it does. */
export function configure(command: Command): void {
  command
    .option('--behaviour-file <file>', 'show those of this file, too; repeatable', values.listed)
    .option('--json', 'standard output carries the list as JSON')
    .action(async () => {
      process.exitCode = await list(command.optsWithGlobals());
    });
}

async function list({ behaviourFile = [], json = false }: ListOptions) {
  await readBehaviourFiles(behaviourFile).catch((error: unknown) => {
    if (!(error instanceof BehaviourFileError)) throw error;
    throw new CommandFault(error.message, exitCodes.usage, error);
  });
  const rows = [...behaviours.values()];
  const output = createOutput(json);
  output.data(rows.map(rowOf));
  output.line(rows.map(paragraphOf).join('\n\n'));
  return exitCodes.pass;
}

function rowOf(behaviour: Behaviour) {
  const { name, standsFor, goodServer, hooks } = behaviour;
  const parameters = shownParameters(behaviour);
  return { name, standsFor, goodServer, parameters, hooks: Object.keys(hooks) };
}

function paragraphOf(behaviour: Behaviour): string {
  const { name, standsFor, goodServer, parameters, hooks } = rowOf(behaviour);
  const numbers = parameters.map((each) => `${each.name} ${each.value} ${each.unit}`.trim());
  return [
    name,
    `  is           ${standsFor}`,
    `  good server  ${goodServer}`,
    `  numbers      ${numbers.join(', ')}`,
    `  hooks        ${hooks.length === 0 ? 'none' : hooks.join(', ')}`,
  ].join('\n');
}
