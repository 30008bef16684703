/** Locks of state folders and ledgers of a fleet. */
import { type Lock, LockHeldError, takeLock } from '../../fixtures/base/process-lock.ts';
import { FleetStateError, fileError } from './state-error.ts';

/**
 * Locks a state folder or a ledger.
 * @param file path of the lock file
 * @param subject name of the locked object in the error message, such as `the state folder x`
 * @throws FleetStateError when another process holds the lock, or the lock file cannot be created
 */
export function takeStateLock(file: string, subject: string): Lock {
  try {
    return takeLock(file, subject);
  } catch (error) {
    if (error instanceof LockHeldError) throw new FleetStateError(error.message, { cause: error });
    throw fileError(`cannot use ${subject}`, error);
  }
}
