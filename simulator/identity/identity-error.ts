/** Errors about keys or identities that a fleet cannot be built from. */

/** One sentence: what is wrong, where, and the remedy. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user may not use it',
  EPERM: 'this user may not do that there',
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is no folder',
  EEXIST: 'something else goes by that name',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Returns why a system call failed, in a few words. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return reasons[code] ?? (error instanceof Error ? error.message : String(error));
}
