/**
 * The lock of a data folder: a separate file, so that a folder can be checked before any
 * database in it is opened. The system releases it when the process ends in any way.
 */
import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { plainFile } from '../../../fixtures/plain-file.ts';
import { StateError, stateError } from '../engine/state-error.ts';

const BUSY_TIMEOUT_MS = 200;

/** A lock that is held. */
export interface FolderLock {
  release(): void;
}

/**
 * Takes the lock.
 * @throws StateError when another process has it, or the folder cannot be written
 */
export function lockFolder(path: string): FolderLock {
  try {
    accessSync(dirname(path), constants.W_OK);
    closeSync(openSync(plainFile(path), 'a', 0o600));
    const database = new Database(path);
    // Nothing is ever written, so a journal would only be left behind.
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = MEMORY`);
    database.exec('BEGIN EXCLUSIVE');
    return {
      release: () => {
        database.exec('ROLLBACK');
        database.close();
      },
    };
  } catch (cause) {
    const fault = stateError(path, cause);
    if (!(fault instanceof StateError) || fault.kind !== 'in use') throw fault;
    throw new StateError('in use', `${dirname(path)} is in use by another process`, { cause });
  }
}
