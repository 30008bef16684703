/** World files: checked, loaded into a running server, and summarized. */
import { printable } from '../../fixtures/printable.ts';
import type { LoadedWorld } from '../../server/world/load.ts';
import { timelineOf, WorldFault } from '../../server/world/timeline.ts';
import { readWorld, WorldTextFault } from '../../server/world/world-text.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { CommandFault } from '../output/fault.ts';
import { readNamedFile } from '../output/files.ts';
import { ask, type ControlOptions } from './control-listener.ts';

/** The content of a world in lines. */
export function worldLines({ devices, artifacts, deployments }: LoadedWorld): string[] {
  const line = (kind: string, { name, id }: { name: string; id: string }) =>
    `${kind} ${printable(name, 256)}: ${id}`;
  return [
    ...devices.map((device) => line('device', device)),
    ...artifacts.map((artifact) => line('artifact', artifact)),
    ...deployments.map((deployment) => line('deployment', deployment)),
  ];
}

/** Loads a file into a tenant of a running server. @throws CommandFault */
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

/** Checks the file before it is sent, so that faults name the file. @throws CommandFault */
export function checkedWorld(text: string, file: string): void {
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
