/** Reads and writes the files of a command; each failure is one sentence. */
import { fchmodSync, fstatSync, open } from 'node:fs';
import { access, constants, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { draftOf, removeLeftDrafts } from '../../fixtures/drafts.ts';
import { NotAFile, plainFile } from '../../fixtures/plain-file.ts';
import { CommandError } from './command-error.ts';
import { exitCodes } from './exit-codes.ts';

/** Returns a descriptor, which both streams and synchronous writes accept. */
const openFile = promisify(open);

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/**
 * The text of a file named by an option.
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
 * Checks, before a run begins, that its result can be written to a file named by an option.
 * @throws CommandError
 */
export async function requireWritable(option: string, path: string): Promise<void> {
  const what = `${option} cannot write ${path}`;
  try {
    await access(dirname(resolve(path)), constants.W_OK);
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  } catch (error) {
    throw fileError(what, error);
  }
}

/** The output of a run may hold tokens, addresses and data of devices. */
const OWNER_ONLY = 0o600;
/** For what is published anyway, such as the certificate of a test authority. */
export const FOR_ALL = 0o644;

/**
 * Writes a file by rename, so that it is never read half-written. Only its owner may read it, even
 * if it replaces a file with other permissions.
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
    await rm(draft, { force: true });
    throw fileError(`cannot write ${path}`, error);
  }
}

/**
 * Opens an empty file for lines that are written one by one, readable by its owner only.
 * @param option the option that names it
 * @returns the file's descriptor
 * @throws CommandError
 */
export async function openForLines(option: string, path: string): Promise<number> {
  await requireWritable(option, path);
  try {
    const file = await openFile(path, 'w', OWNER_ONLY);
    // An existing file would keep its mode; a device or a pipe has none to change.
    if (fstatSync(file).isFile()) fchmodSync(file, OWNER_ONLY);
    return file;
  } catch (error) {
    throw fileError(`${option} cannot write ${path}`, error);
  }
}

/**
 * The error of a file that cannot be used.
 * @param what what failed with which file, such as `--ca cannot read x.pem`
 */
export function fileError(what: string, error: unknown): CommandError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = error instanceof NotAFile ? error.message : (reasons[code] ?? code);
  return new CommandError(`${what}: ${reason}; choose another file.`, exitCodes.setUp, error);
}
