/** The stage in which a response transform may take the request on. */
import { Refusal } from '../http/refusal.ts';
import type { Callers } from './callers.ts';
import type { RequestContext } from './context.ts';
import type { ResponseTransform } from './plug-ins.ts';
import type { Recorder } from './record.ts';
import type { Stage, StageOutcome } from './stage.ts';

/**
 * The first transform that wants the request has it. It comes before the caller is let in, whose
 * token it may end; so it is told what the token says by then.
 */
export function transformResponse(
  transforms: readonly ResponseTransform[],
  { callers, recorder }: { readonly callers: Callers; readonly recorder: Recorder },
): Stage {
  return async (context: RequestContext): Promise<StageOutcome> => {
    const { exchange, endpoint } = context;
    const found = callers.find(exchange, endpoint.operation);
    const caller = found instanceof Refusal ? callers.unauthenticated(exchange) : found;
    const settled = (status: number): void => recorder.end(exchange, status, context.knownTenant);
    for (const transform of transforms) {
      const interception = transform.intercept?.(context, caller, settled);
      if (!interception) continue;
      context.interception = interception;
      if ((await interception.begin()) === 'answered') return 'answered';
      exchange.notices = [...(exchange.notices ?? []), ...interception.notices];
      return undefined;
    }
    return undefined;
  };
}
