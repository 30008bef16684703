/** The stage that refuses a caller above the tenant's rate limit. Spec: Rate limits */
import { refuse } from '../http/refusal.ts';
import type { Stage } from './stage.ts';

/** Refuses with 429; counts by device or user, and by address where the request has neither. */
export const limitRate: Stage = ({ tenant, device, user, exchange, nowMs }) => {
  const { rates } = tenant;
  if (!rates.limit) return undefined;
  const subject = device ?? user;
  const address = exchange.request.socket.remoteAddress ?? '';
  const waitSeconds = rates.ask(subject ? subject.id : `from ${address}`, nowMs);
  if (waitSeconds === undefined) return undefined;
  const { requests, windowSeconds } = rates.limit;
  return refuse.tooManyRequests(waitSeconds, undefined, {
    expected: `at most ${requests} requests of one caller in ${windowSeconds} s`,
    actual: 'one more',
  });
};
