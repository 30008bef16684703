/**
 * The lock of a data folder. It is a separate file, so that a folder can be checked before its
 * databases are opened. The operating system releases it when the process ends for any reason.
 */
import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { plainFile } from '../../../fixtures/base/plain-file.ts';
import { StateError, stateError } from '../engine/state-error.ts';

const BUSY_TIMEOUT_MS = 200;

/** The lock of a data folder, held until it is released or the process ends. */
export interface FolderLock {
  release(): void;
}

/**
 * Acquires the lock.
 * @throws StateError when another process holds it, or the folder is not writable
 */
export function lockFolder(path: string): FolderLock {
  try {
    accessSync(dirname(path), constants.W_OK);
    closeSync(openSync(plainFile(path), 'a', 0o600));
    const database = new Database(path);
    // Nothing is written, so a journal file would only remain as litter.
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = MEMORY`);
    database.exec('BEGIN EXCLUSIVE');
    return {
      release: () => {
        database.exec('ROLLBACK');
        database.close();
      },
    };
  } catch (cause) {
    const error = stateError(path, cause);
    if (!(error instanceof StateError) || error.kind !== 'in use') throw error;
    throw new StateError('in use', `${dirname(path)} is in use by another process`, { cause });
  }
}
