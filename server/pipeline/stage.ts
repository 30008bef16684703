/** The stages of a request. */
import type { Refusal } from '../http/refusal.ts';
import type { RequestContext } from './context.ts';

/** Undefined to continue; a refusal; or `answered` when the answer was already written. */
export type StageOutcome = Refusal | 'answered' | undefined;

/**
 * Processes the request, or returns why it ends here; returns a promise only where it has to wait.
 */
export type Stage = (context: RequestContext) => StageOutcome | Promise<StageOutcome>;
