/** The stage that spreads auth requests and large bodies over rounds of the event loop. */
import { startOfShortTask } from '../../fixtures/clock.ts';
import { isWhole, RequestCutOff, tooManyBytes } from '../http/body.ts';
import type { RequestContext } from './context.ts';
import type { Stage } from './stage.ts';

/** Bytes of JSON that may be read in one round; at their worst, of a member in each ten bytes. */
const ROUND_BYTES = 131_072;
/** Up to here a body costs no more than the rest of its request. */
const SMALL_BODY_BYTES = 8192;
/** Of a round; an auth request takes as long as ten polls, whatever its size. */
const AUTH_REQUEST_SHARE = 1 / 8;

/**
 * Lets a few auth requests, and a few bytes of larger bodies, start in each round: a poll would wait
 * for all that arrived with it. Comes before the caller of an auth request is looked up, which could
 * be outdated otherwise. @throws RequestCutOff
 */
export const takeTurn: Stage = (context) => {
  const { request } = context.exchange;
  const share = shareOf(context);
  const start = share === 0 ? undefined : startOfShortTask(share);
  if (!start) return undefined;
  const letGo = holdBody(context);
  return start.then(() => {
    letGo();
    // A server that stops closes its stores before the requests on its connections are told.
    if (!request.socket.destroyed) return undefined;
    throw new RequestCutOff('the connection closed before the request was handled');
  });
};

/** The share of a round that the request takes; 0 when it does not wait for one. */
function shareOf({ received, exchange, endpoint }: RequestContext): number {
  const { request, response } = exchange;
  const bytes = Buffer.isBuffer(received) ? received.length : 0;
  const isLarge = bytes > SMALL_BODY_BYTES;
  const isAuthRequest = endpoint.operation.authorization === 'signature';
  // Node reads on behind a request that waits: of the small ones of a connection only the first may.
  const mayWait = response.socket !== null || (isLarge && !isWhole(request));
  if (!mayWait || !(isLarge || isAuthRequest)) return 0;
  return Math.max(isAuthRequest ? AUTH_REQUEST_SHARE : 0, bytes / ROUND_BYTES);
}

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
