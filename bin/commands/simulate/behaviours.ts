/**
 * `fleetbed simulate behaviours`: lists the behaviours, their parameters, and how a good server
 * treats each.
 */
import type { Command } from 'commander';
import type { Behaviour } from '../../../simulator/behaviours/behaviour.ts';
import {
  BehaviourFileError,
  readBehaviourFiles,
} from '../../../simulator/behaviours/behaviour-file.ts';
import { behaviours } from '../../../simulator/behaviours/catalogue.ts';
import { shownParameters } from '../../../simulator/behaviours/parameters.ts';
import { addExamples } from '../../options/examples.ts';
import * as values from '../../options/option-values.ts';
import { jsonOption } from '../../options/shared-options.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';

interface ListOptions {
  readonly behaviourFile?: readonly string[];
  readonly json?: boolean;
}

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  addExamples(command, 'fleetbed simulate behaviours', 'fleetbed simulate behaviours --json');
  command
    .option(
      '--behaviour-file <file>',
      'JavaScript file with more behaviours; repeatable',
      values.appendText,
    )
    .addOption(jsonOption())
    .action(async () => {
      process.exitCode = await listBehaviourRows(command.optsWithGlobals());
    });
}

async function listBehaviourRows({ behaviourFile = [], json = false }: ListOptions) {
  await readBehaviourFiles(behaviourFile).catch((error: unknown) => {
    if (!(error instanceof BehaviourFileError)) throw error;
    throw new CommandError(error.message, exitCodes.usage, error);
  });
  const rows = [...behaviours.values()];
  const output = createOutput(json);
  output.data(rows.map(rowOf));
  output.line(rows.map(paragraphOf).join('\n\n'));
  return exitCodes.pass;
}

function rowOf(behaviour: Behaviour) {
  const { name, description, expectedServerBehaviour, hooks } = behaviour;
  const parameters = shownParameters(behaviour);
  return { name, description, expectedServerBehaviour, parameters, hooks: Object.keys(hooks) };
}

function paragraphOf(behaviour: Behaviour): string {
  const { name, description, expectedServerBehaviour, parameters, hooks } = rowOf(behaviour);
  const numbers = parameters.map((each) => `${each.name} ${each.value} ${each.unit}`.trim());
  return [
    name,
    `  ${description}`,
    `  server:      ${expectedServerBehaviour}`,
    `  parameters:  ${numbers.join(', ')}`,
    `  hooks:       ${hooks.length === 0 ? 'none' : hooks.join(', ')}`,
  ].join('\n');
}
