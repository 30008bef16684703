/** What a stage of a request is. */
import type { Refusal } from '../http/refusal.ts';
import type { RequestContext } from './context.ts';

/** Nothing to go on; a refusal; or `answered` when the answer was written already. */
export type StageOutcome = Refusal | 'answered' | undefined;

/** Does its part with the request, or says why it ends here; a promise only where it has to wait. */
export type Stage = (context: RequestContext) => StageOutcome | Promise<StageOutcome>;
