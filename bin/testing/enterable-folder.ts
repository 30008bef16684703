/** A temporary folder that programs without rights can enter, as those of field clients must. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

const OTHERS_MAY_ENTER = 0o001;

/**
 * Returns the first of the folders that every user can enter, from its root down: the temporary
 * folder of root can be private. Returns the first of all where there is none.
 */
export function enterableFolder(folders: readonly [string, ...string[]]): string {
  return folders.find(isEnterable) ?? folders[0];
}

function isEnterable(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & OTHERS_MAY_ENTER) === 0) return false;
  return dirname(folder) === folder || isEnterable(dirname(folder));
}
