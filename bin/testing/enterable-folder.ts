/** Chooses a temporary folder that unprivileged programs, such as Debian's clients, can enter. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

const OTHERS_MAY_ENTER = 0o001;

/**
 * Returns the first folder that every user can enter from the root down, because the temporary
 * folder of root can be private. Without such a folder, returns the first one.
 */
export function enterableFolder(folders: readonly [string, ...string[]]): string {
  return folders.find(isEnterable) ?? folders[0];
}

function isEnterable(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & OTHERS_MAY_ENTER) === 0) return false;
  return dirname(folder) === folder || isEnterable(dirname(folder));
}
