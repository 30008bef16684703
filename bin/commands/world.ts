/** `fleetbed world`: creates and checks world files, and loads them into a running server. */
import { access } from 'node:fs/promises';
import type { Command } from 'commander';
import { exampleWorld } from '../../server/world/example.ts';
import { worldJsonSchema } from '../../server/world/world-shape.ts';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp } from '../options/exit-code-help.ts';
import * as values from '../options/option-values.ts';
import { jsonOption } from '../options/shared-options.ts';
import { CommandError } from '../output/command-error.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { readNamedFile, writeWhole } from '../output/files.ts';
import { createOutput } from '../output/output.ts';
import { addControlOptions, type ControlAccess } from '../server-access/control-listener.ts';
import { checkWorld, loadWorldFile, worldLines } from '../server-access/world-file.ts';

const codes = {
  init: exitCodeHelp({ pass: 'written', setUp: 'the file exists, or cannot be written' }),
  check: exitCodeHelp({
    pass: 'the file is valid',
    usage: 'the file is invalid',
    setUp: 'the file cannot be read',
  }),
  load: exitCodeHelp({
    pass: 'loaded',
    usage: 'the file is invalid',
    setUp:
      'the file cannot be read, or the control listener cannot be reached or refuses the token',
  }),
};

/** Adds the commands of `fleetbed world`. */
export function configure(command: Command): void {
  addExamples(
    command,
    'fleetbed world init world.yaml',
    'fleetbed serve --world world.yaml',
    'fleetbed world load world.yaml',
  );
  addExamples(command.command('init'), 'fleetbed world init', 'fleetbed world init world.yaml')
    .description('write an example file; never overwrites one')
    .addHelpText('after', codes.init)
    .argument('[file]', 'file to write', values.nonEmptyText, 'world.yaml')
    .action(async (file: string) => {
      process.exitCode = await init(file);
    });
  addExamples(command.command('schema'), 'fleetbed world schema')
    .description('print the JSON Schema of world files, for editors')
    .action(async () => {
      process.stdout.write(`${JSON.stringify(await worldJsonSchema(), null, 2)}\n`);
    });
  addExamples(command.command('check'), 'fleetbed world check world.yaml')
    .description('check a file; errors are printed with line and column')
    .addHelpText('after', codes.check)
    .argument('<file>', 'file to check', values.nonEmptyText)
    .action(async (file: string) => {
      checkWorld(await readNamedFile('world check', file), file);
      createOutput(false).line(`${file} is valid.`);
    });
  const load = addExamples(command.command('load'), 'fleetbed world load world.yaml')
    .description('replace the state of a running server with that of a file')
    .addHelpText('after', codes.load)
    .argument('<file>', 'file to load', values.nonEmptyText)
    .addOption(jsonOption());
  addControlOptions(load).action(
    async (file: string, options: ControlAccess & { readonly json?: boolean }) => {
      const loaded = await loadWorldFile('world load', file, options);
      const output = createOutput(options.json ?? false);
      if (options.json) output.data(loaded);
      else for (const line of worldLines(loaded)) output.line(line);
    },
  );
}

async function init(file: string): Promise<ExitCode> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (isThere) {
    throw new CommandError(`${file} already exists; choose another file.`, exitCodes.setUp);
  }
  await writeWhole(file, exampleWorld);
  createOutput(false).line(
    `Wrote ${file}; start a server with it: npx fleetbed serve --world ${file}`,
  );
  return exitCodes.pass;
}
