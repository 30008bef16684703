/** Checks world files, loads them into a running server, and summarizes their content. */
import { printable } from '../../fixtures/base/printable.ts';
import type { LoadedWorld } from '../../server/world/load.ts';
import { loadOrderOf, WorldFileError } from '../../server/world/load-order.ts';
import { readWorld, WorldTextError } from '../../server/world/world-text.ts';
import { CommandError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { readNamedFile } from '../output/files.ts';
import { type ControlAccess, callControl } from './control-listener.ts';

/** Returns the devices, artifacts and deployments of a loaded world as lines. */
export function worldLines({ devices, artifacts, deployments }: LoadedWorld): string[] {
  const line = (kind: string, { name, id }: { name: string; id: string }) =>
    `${kind} ${printable(name, 256)}: ${id}`;
  return [
    ...devices.map((device) => line('device', device)),
    ...artifacts.map((artifact) => line('artifact', artifact)),
    ...deployments.map((deployment) => line('deployment', deployment)),
  ];
}

/**
 * Loads a world file into a tenant of a running server.
 * @param option the option or command that names the file, for the error message when it cannot be
 * read
 * @throws CommandError
 */
export async function loadWorldFile(
  option: string,
  file: string,
  access: ControlAccess,
): Promise<LoadedWorld> {
  const text = await readNamedFile(option, file);
  checkWorld(text, file);
  const query =
    access.tenant === undefined ? '' : `?${new URLSearchParams({ tenant: access.tenant })}`;
  const init = { method: 'POST', body: text, headers: { 'Content-Type': 'text/yaml' } };
  const { status, body } = await callControl(access, `/world${query}`, {
    ...init,
    expected: [200, 422],
  });
  if (status === 200) return (await body.json()) as LoadedWorld;
  const { error } = (await body.json()) as { error: string };
  throw new CommandError(`${file}: ${error.replace(/^body: /, '')}`, exitCodes.usage);
}

/** Checks a world file before it is sent, so that errors name the file. @throws CommandError */
export function checkWorld(text: string, file: string): void {
  try {
    loadOrderOf(readWorld(text, file));
  } catch (error) {
    if (error instanceof WorldTextError) {
      throw new CommandError(error.message, exitCodes.usage, error);
    }
    if (!(error instanceof WorldFileError)) throw error;
    throw new CommandError(`${file}: ${error.message}`, exitCodes.usage, error);
  }
}
