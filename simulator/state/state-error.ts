/** Errors about a state folder or a ledger that cannot be used. */
import { reasonOf } from '../identity/identity-error.ts';

/** One sentence: what is wrong, where, and the remedy. */
export class StateError extends Error {
  override readonly name = 'StateError';
}

/** Builds the error for a file that the system cannot access. */
export function fileError(what: string, error: unknown): StateError {
  return error instanceof StateError
    ? error
    : new StateError(`${what}: ${reasonOf(error)}; use another place.`, { cause: error });
}
