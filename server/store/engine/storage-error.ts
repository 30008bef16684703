/** Classifies disk errors of the system and of SQLite. */

export const noSpace = 'no space left in';
const unwritable = 'cannot write in';
/** The files of a store were removed or replaced, so that writes would be lost. */
export class FilesRemoved extends Error {
  override readonly name = 'FilesRemoved';
  readonly code = 'FILES_REMOVED';

  constructor(path: string) {
    super(`${path} was removed or replaced`);
  }
}

export const filesRemoved = 'files were removed from';
const sentences: Readonly<Record<string, string>> = {
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  // The process's limit on file sizes.
  EFBIG: noSpace,
  SQLITE_FULL: noSpace,
  FILES_REMOVED: filesRemoved,
  EIO: unwritable,
  EROFS: unwritable,
  SQLITE_READONLY: unwritable,
  // SQLite hides the system's error code, which may be that of a disk quota.
  SQLITE_IOERR: unwritable,
};

/**
 * Runs a write that no response depends on, such as a device's connection state. Ignores disk
 * errors; rethrows others.
 */
export function ignoreUnwritable(write: () => void): void {
  try {
    write();
  } catch (error) {
    rethrowUnlessDiskError(error);
  }
}

/** Rethrows an error that is not a disk error. */
export function rethrowUnlessDiskError(error: unknown): void {
  if (storageProblem(error) === undefined) throw error;
}

/**
 * Returns the beginning of a sentence about a disk error, to be followed by the folder; undefined
 * for other errors.
 */
export function storageProblem(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Extended codes such as SQLITE_IOERR_WRITE begin with the two words of their primary code.
  return sentences[code] ?? sentences[code.split('_').slice(0, 2).join('_')];
}
