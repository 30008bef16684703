/** Files that a command is told to read or to write, each failure being one sentence. */
import { access, constants, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { exitCodes } from './exit-codes.ts';
import { CommandFault } from './fault.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user may not use it',
  EPERM: 'this user may not use it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is no folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/**
 * The text of a file named by an option.
 * @throws CommandFault when it cannot be read
 */
export async function readNamedFile(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw fileFault(`${option} cannot read ${path}`, error);
  }
}

/**
 * Makes sure, before a run begins, that its result can be written to a file named by an option.
 * @throws CommandFault
 */
export async function requireWritable(option: string, path: string): Promise<void> {
  const what = `${option} cannot write ${path}`;
  try {
    await access(dirname(resolve(path)), constants.W_OK);
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  } catch (error) {
    throw fileFault(what, error);
  }
}

/**
 * Writes a file by rename, so that nobody ever reads half of it.
 * @param mode permission bits, such as 0o600
 * @throws CommandFault
 */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
  mode = 0o644,
): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  try {
    await writeFile(draft, content, { mode });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw fileFault(`cannot write ${path}`, error);
  }
}

/**
 * The fault of a file that cannot be used.
 * @param what was to be done with which file, such as `--ca cannot read x.pem`
 */
export function fileFault(what: string, error: unknown): CommandFault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = reasons[code] ?? code;
  return new CommandFault(`${what}: ${reason}; name another file.`, exitCodes.setUp, error);
}
