/** Locks of state folders and ledgers of a fleet. */
import { type Lock, LockHeldError, takeLock } from '../../fixtures/process-lock.ts';
import { fileError, StateError } from './state-error.ts';

/**
 * Takes a lock.
 * @param what is locked, for the error message, such as `the state folder x`
 * @throws StateError when another process holds it, or its file cannot be created
 */
export function takeStateLock(file: string, what: string): Lock {
  try {
    return takeLock(file, what);
  } catch (error) {
    if (error instanceof LockHeldError) throw new StateError(error.message, { cause: error });
    throw fileError(`cannot use ${what}`, error);
  }
}
