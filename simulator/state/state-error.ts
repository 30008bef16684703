/** Errors about a state folder or a ledger that cannot be used. */
import { reasonOf } from '../identity/identity-error.ts';

/** Thrown with one sentence that says what is wrong, where, and how to correct it. */
export class FleetStateError extends Error {
  override readonly name = 'FleetStateError';
}

/** Returns the error for a file that cannot be accessed. */
export function fileError(action: string, error: unknown): FleetStateError {
  return error instanceof FleetStateError
    ? error
    : new FleetStateError(`${action}: ${reasonOf(error)}; use another path.`, { cause: error });
}
