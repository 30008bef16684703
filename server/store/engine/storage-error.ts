/** Disk errors when writing, as reported by the system and the engine. */

export const noSpace = 'no space left in';
const unwritable = 'cannot write in';
/** The files of a store are no longer where they were: writing to them would keep nothing. */
export class FilesGone extends Error {
  override readonly name = 'FilesGone';
  readonly code = 'FILES_GONE';

  constructor(path: string) {
    super(`${path} was removed or replaced`);
  }
}

export const filesGone = 'files were removed from';
const sentences: Readonly<Record<string, string>> = {
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  // A limit of the process on the size of a file.
  EFBIG: noSpace,
  SQLITE_FULL: noSpace,
  FILES_GONE: filesGone,
  EIO: unwritable,
  EROFS: unwritable,
  SQLITE_READONLY: unwritable,
  // The engine hides the system's code, which may be that of a quota.
  SQLITE_IOERR: unwritable,
};

/**
 * Writes what nobody waits for an answer to, such as the presence of a device; where the disk cannot
 * take it, it is not kept. Other faults are thrown.
 */
export function ignoreUnwritable(write: () => void): void {
  try {
    write();
  } catch (error) {
    rethrowUnlessDiskError(error);
  }
}

/** Throws a fault again that is not the disk's. */
export function rethrowUnlessDiskError(error: unknown): void {
  if (storageProblem(error) === undefined) throw error;
}

/** What is the matter with the folder that follows; nothing for a fault that is not the disk's. */
export function storageProblem(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // SQLITE_IOERR_WRITE, SQLITE_READONLY_DIRECTORY and the like.
  return sentences[code] ?? sentences[code.split('_').slice(0, 2).join('_')];
}
