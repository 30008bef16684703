/** `fleetbed world`: start states as files; written, checked, and loaded into a running server. */
import { access } from 'node:fs/promises';
import type { Command } from 'commander';
import { printable } from '../fixtures/printable.ts';
import { exampleWorld } from '../server/control/world/example.ts';
import type { LoadedWorld } from '../server/control/world/load.ts';
import { timelineOf, WorldFault } from '../server/control/world/timeline.ts';
import { worldJsonSchema } from '../server/control/world/world-shape.ts';
import { readWorld, WorldTextFault } from '../server/control/world/world-text.ts';
import { addControlOptions, ask, type ControlOptions } from './control-listener.ts';
import { addExamples } from './examples.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { CommandFault } from './fault.ts';
import { readNamedFile, writeWhole } from './files.ts';
import * as values from './option-values.ts';
import { createOutput } from './output.ts';

/** Adds the commands of `fleetbed world` and what they do. */
export function configure(command: Command): void {
  addExamples(
    command,
    'fleetbed world init world.yaml',
    'fleetbed serve --world world.yaml',
    'fleetbed world load world.yaml',
  );
  addExamples(command.command('init'), 'fleetbed world init', 'fleetbed world init world.yaml')
    .description('write an example; never replaces a file')
    .argument('[file]', 'file to write', values.filled, 'world.yaml')
    .action(async (file: string) => {
      process.exitCode = await init(file);
    });
  addExamples(command.command('schema'), 'fleetbed world schema')
    .description('print the JSON Schema of world files, for editors')
    .action(() => {
      process.stdout.write(`${JSON.stringify(worldJsonSchema(), null, 2)}\n`);
    });
  addExamples(command.command('check'), 'fleetbed world check world.yaml')
    .description('check a file; faults are printed with line and column')
    .argument('<file>', 'file to check', values.filled)
    .action(async (file: string) => {
      checkedWorld(await readNamedFile('check', file), file);
      createOutput(false).line(`${file} is valid.`);
    });
  const load = addExamples(command.command('load'), 'fleetbed world load world.yaml')
    .description('replace the state of a running server by that of a file')
    .argument('<file>', 'file to load', values.filled)
    .option('--json', 'print IDs, tokens and keys as one JSON line');
  addControlOptions(load).action(
    async (file: string, options: ControlOptions & { readonly json?: boolean }) => {
      const loaded = await loadWorldFile(file, options);
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
    throw new CommandFault(`${file} exists already; choose another file.`, exitCodes.setUp);
  }
  await writeWhole(file, exampleWorld);
  createOutput(false).line(`${file} is written; load it with: fleetbed serve --world ${file}`);
  return exitCodes.pass;
}

/** Checks here what can be checked here, so that faults name the file. @throws CommandFault */
function checkedWorld(text: string, file: string): void {
  try {
    timelineOf(readWorld(text, file));
  } catch (fault) {
    if (fault instanceof WorldTextFault) {
      throw new CommandFault(fault.message, exitCodes.usage, fault);
    }
    if (!(fault instanceof WorldFault)) throw fault;
    throw new CommandFault(`${file}: ${fault.message}`, exitCodes.usage, fault);
  }
}

/** Loads a file into the world of a running server. @throws CommandFault */
export async function loadWorldFile(file: string, where: ControlOptions): Promise<LoadedWorld> {
  const text = await readNamedFile('--world', file);
  checkedWorld(text, file);
  const query =
    where.tenant === undefined ? '' : `?${new URLSearchParams({ tenant: where.tenant })}`;
  const init = { method: 'POST', body: text, headers: { 'Content-Type': 'text/yaml' } };
  const { status, body } = await ask(where, `/world${query}`, { ...init, expected: [200, 422] });
  if (status === 200) return (await body.json()) as LoadedWorld;
  const { error } = (await body.json()) as { error: string };
  throw new CommandFault(`${file}: ${error.replace(/^body: /, '')}`, exitCodes.usage);
}

/** What a world holds, for people. */
export function worldLines({ devices, artifacts, deployments }: LoadedWorld): string[] {
  const line = (kind: string, { name, id }: { name: string; id: string }) =>
    `${kind} ${printable(name, 256)}: ${id}`;
  return [
    ...devices.map((device) => line('device', device)),
    ...artifacts.map((artifact) => line('artifact', artifact)),
    ...deployments.map((deployment) => line('deployment', deployment)),
  ];
}
