/** Errors about keys or identities that a fleet cannot be built from. */

/** Thrown with one sentence that says what is wrong, where, and how to correct it. */
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

/** Returns a short reason for the failure of a system call. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return reasons[code] ?? (error instanceof Error ? error.message : String(error));
}
