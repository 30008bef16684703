/** The stage that spreads sign-ins over rounds of the event loop. */
import { startOfShortTask } from '../../fixtures/clock.ts';
import { RequestCutOff, tooManyBytes } from '../http/body.ts';
import type { RequestContext } from './context.ts';
import type { Stage } from './stage.ts';

/**
 * Lets a few sign-ins start in each round, since one takes as long as ten polls, which would wait
 * for all that arrived with them. Comes before the caller is looked up, which could be outdated
 * otherwise. @throws RequestCutOff
 */
export const takeTurn: Stage = (context) => {
  const { request, response } = context.exchange;
  // Node reads on behind a request that waits; only the first of each connection may.
  const start = response.socket === null ? undefined : startOfShortTask();
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
