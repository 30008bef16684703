/** The stage that spreads requests which arrive at once over rounds of the event loop. */
import { RequestCutOff, tooManyBytes } from '../http/body.ts';
import type { RequestContext } from './context.ts';
import type { Stage } from './stage.ts';

/** Bytes of JSON that may be read in one round; at their worst, of a member in each ten bytes. */
const ROUND_BYTES = 131_072;

/**
 * Waits while this round of the event loop has no time left: all that arrived with the request would
 * wait for it. Comes before the caller is looked up where nothing has to be read before it, which
 * could be outdated otherwise. @throws RequestCutOff
 */
export const takeTurn: Stage = (context) => {
  const { received, exchange, turns } = context;
  const { request, response } = exchange;
  // Whoever calls in this process has made its own turns.
  if (response.socket === null) return undefined;
  const { authorization = '', cookie = '' } = request.headers;
  const bytes = Buffer.isBuffer(received) ? received.length : 0;
  const start = turns.next(authorization || cookie, bytes / ROUND_BYTES);
  if (!start) return undefined;
  const letGo = holdBody(context);
  return start.then(() => {
    letGo();
    // A server that stops closes its stores before the requests on its connections are told.
    if (!request.socket.destroyed) return undefined;
    throw new RequestCutOff('the connection closed before the request was handled');
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
