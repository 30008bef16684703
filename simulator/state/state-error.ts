/** A folder of state, or a ledger, that cannot be used. */
import { reasonOf } from '../identity/identity-error.ts';

/** One sentence: what is wrong, where, and the way out. */
export class StateError extends Error {
  override readonly name = 'StateError';
}

/** The fault of a file that the system refuses. */
export function fileFault(what: string, error: unknown): StateError {
  return error instanceof StateError
    ? error
    : new StateError(`${what}: ${reasonOf(error)}; name another place.`, { cause: error });
}
