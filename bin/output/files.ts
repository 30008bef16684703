/** Reads and writes the files of a command, and reports each failure as one sentence. */
import { fchmodSync, fstatSync, open } from 'node:fs';
import { access, constants, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { draftOf, removeLeftDrafts } from '../../fixtures/base/drafts.ts';
import { makeFolder } from '../../fixtures/base/make-folder.ts';
import { NotAFile, plainFile } from '../../fixtures/base/plain-file.ts';
import { CommandError } from './command-error.ts';
import { exitCodes } from './exit-codes.ts';

/**
 * Opens a file and resolves with its descriptor, which streams and synchronous writes both accept.
 */
const openFile = promisify(open);

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  EROFS: 'the file system is read-only',
  ENOTEMPTY: 'it is a folder that is not empty',
  EEXIST: 'a part of the path is not a folder',
  ENOSPC: 'the disk is full',
};

/**
 * Returns the text of a file that an option names.
 * @throws CommandError when it cannot be read
 */
export async function readNamedFile(option: string, path: string): Promise<string> {
  try {
    return await readFile(plainFile(path), 'utf8');
  } catch (error) {
    throw fileError(`${option} cannot read ${path}`, error);
  }
}

/**
 * Checks before a run starts that its result can be written to a file that an option names.
 * @throws CommandError
 */
export async function requireWritable(option: string, path: string): Promise<void> {
  const problem = `${option} cannot write ${path}`;
  try {
    await access(dirname(resolve(path)), constants.W_OK);
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  } catch (error) {
    throw fileError(problem, error);
  }
}

/** File mode of all output, which may contain tokens, addresses and data of devices. */
const OWNER_ONLY = 0o600;
/** File mode of public output, such as the certificate of the test CA. */
export const FOR_ALL = 0o644;

/**
 * Writes a file by renaming a complete draft, so that no reader sees a partial file. Only its owner
 * may read it, even if it replaces a file with other permissions.
 * @param mode other permission bits
 * @throws CommandError
 */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
  mode = OWNER_ONLY,
): Promise<void> {
  const draft = draftOf(path);
  try {
    removeLeftDrafts(path);
    await writeFile(draft, content, { mode, flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await removeDraft(draft);
    throw fileError(`cannot write ${path}`, error);
  }
}

/**
 * Writes a new folder by renaming a complete draft, so that it has all its files or is not there.
 * Only their owner may read them. An empty folder is replaced.
 * @param option the option that names the folder
 * @param files contents by file name
 * @throws CommandError when the folder is not empty, or cannot be written
 */
export async function writeWholeFolder(
  option: string,
  path: string,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  const folder = resolve(path);
  const draft = draftOf(folder);
  try {
    makeFolder(dirname(folder));
    removeLeftDrafts(folder);
    await mkdir(draft);
    for (const [name, content] of files) {
      await writeFile(join(draft, name), content, { mode: OWNER_ONLY, flag: 'wx' });
    }
    await rename(draft, folder);
  } catch (error) {
    await removeDraft(draft);
    throw fileError(`${option} cannot write ${path}`, error, 'folder');
  }
}

/** Removes a draft; below a file, where none can be, `rm` fails even with `force`. */
async function removeDraft(draft: string): Promise<void> {
  const isThere = await access(draft).then(
    () => true,
    () => false,
  );
  if (isThere) await rm(draft, { recursive: true });
}

/**
 * Opens an empty file for writing single lines; only its owner may read it.
 * @param option the option that names the file
 * @returns the file descriptor
 * @throws CommandError
 */
export async function openForLines(option: string, path: string): Promise<number> {
  await requireWritable(option, path);
  try {
    const file = await openFile(path, 'w', OWNER_ONLY);
    // An existing file would keep its mode. Devices and pipes have none to change.
    if (fstatSync(file).isFile()) fchmodSync(file, OWNER_ONLY);
    return file;
  } catch (error) {
    throw fileError(`${option} cannot write ${path}`, error);
  }
}

/**
 * Returns the error for a file that cannot be used.
 * @param problem the failed action with the file, such as `--ca cannot read x.pem`
 * @param kind what to choose another one of
 */
export function fileError(
  problem: string,
  error: unknown,
  kind: 'file' | 'folder' = 'file',
): CommandError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = error instanceof NotAFile ? error.message : (reasons[code] ?? code);
  return new CommandError(`${problem}: ${reason}; choose another ${kind}.`, exitCodes.setUp, error);
}

/** Returns true for an error of the file system, and for a path that is not a regular file. */
export function isFileProblem(error: unknown): boolean {
  return error instanceof NotAFile || (error instanceof Error && 'syscall' in error);
}
