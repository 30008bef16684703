/** The stage that spreads bodies which arrive at once over rounds of the event loop. */
import { tooManyBytes } from '../http/body.ts';
import type { RequestContext } from './context.ts';
import type { Stage } from './stage.ts';

/** Bytes of JSON that may be read in one round; at their worst, of a member in each ten bytes. */
const ROUND_BYTES = 131_072;

/**
 * Waits while this round of the event loop has no time left: all that arrived with the body would
 * wait for it. The request had a turn of its own before it was routed. @throws RequestCutOff
 */
export const takeTurn: Stage = (context) => {
  const { received, exchange, turns } = context;
  // Whoever calls in this process has made its own turns.
  if (exchange.response.socket === null) return undefined;
  const bytes = Buffer.isBuffer(received) ? received.length : 0;
  const start = turns.next(context.caller, bytes / ROUND_BYTES);
  if (!start) return undefined;
  const letGo = holdBody(context);
  return start.then(() => {
    letGo();
    // A server that stops closes its stores before the requests on its connections are told.
    context.stopIfGone();
    return undefined;
  });
};

/** Counts the body until it is let go; it gives way to others where there is no room. */
function holdBody(context: RequestContext): () => void {
  const { received, underway, exchange } = context;
  if (!Buffer.isBuffer(received)) return () => undefined;
  const held = underway.open(() => {
    context.received = tooManyBytes;
    exchange.record.body = undefined;
  });
  held.set(received.length);
  return () => held.set(0);
}
