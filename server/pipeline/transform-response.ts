/** The stage in which a response transform may handle the request. */
import { Refusal } from '../http/refusal.ts';
import type { Callers } from './callers.ts';
import type { RequestContext } from './context.ts';
import type { ResponseTransform } from './plug-ins.ts';
import type { Recorder } from './record.ts';
import type { Stage, StageOutcome } from './stage.ts';

/**
 * The first transform that accepts the request handles it. It runs before authentication, since it
 * may end the caller's token; so it receives the caller as the token is at that time.
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
