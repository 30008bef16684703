/** `fleetbed world`: start states as files; written, checked, and loaded into a running server. */
import { access } from 'node:fs/promises';
import type { Command } from 'commander';
import { printable } from '../fixtures/printable.ts';
import { exampleWorld } from '../server/worlds/example.ts';
import type { LoadedWorld } from '../server/worlds/load.ts';
import { timelineOf, WorldFault } from '../server/worlds/timeline.ts';
import { worldJsonSchema } from '../server/worlds/world-shape.ts';
import { readWorld, WorldTextFault } from '../server/worlds/world-text.ts';
import { addControlOptions, ask, type ControlOptions } from './control-listener.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { CommandFault } from './fault.ts';
import { readNamedFile, writeWhole } from './files.ts';
import * as values from './option-values.ts';
import { createOutput } from './output.ts';

/** Adds the commands of `fleetbed world` and what they do. */
export function configure(command: Command): void {
  command
    .command('init')
    .description('write an example to start from; never over a file that is there')
    .argument('[file]', 'to write', values.filled, 'world.yaml')
    .action(async (file: string) => {
      process.exitCode = await init(file);
    });
  command
    .command('schema')
    .description('print the JSON Schema of such files, for editors')
    .action(() => {
      process.stdout.write(`${JSON.stringify(worldJsonSchema(), null, 2)}\n`);
    });
  command
    .command('check')
    .description('tell whether a file is a world; faults come with line and column')
    .argument('<file>', 'to check', values.filled)
    .action(async (file: string) => {
      checkedWorld(await readNamedFile('check', file), file);
      createOutput(false).line(`${file} is a world.`);
    });
  const load = command
    .command('load')
    .description('put a running server into the state of a file, in place of the one it is in')
    .argument('<file>', 'to load', values.filled)
    .option('--json', 'write ids, tokens and keys as one JSON line');
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
    throw new CommandFault(`${file} is there already; name another file.`, exitCodes.setUp);
  }
  await writeWhole(file, exampleWorld);
  createOutput(false).line(`${file} written; load it with fleetbed serve --world ${file}`);
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
