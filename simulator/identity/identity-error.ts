/** Errors about keys or identities that a fleet cannot be built from. */

/** One sentence: what is wrong, where, and the remedy. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'the operation is not permitted',
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is not a folder',
  EEXIST: 'the name is already in use',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Returns why a system call failed, in a few words. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return reasons[code] ?? (error instanceof Error ? error.message : String(error));
}
