/** How long to wait before trying again: what the server asks for, else a growing chance. */
import type { Random } from '../../fixtures/random.ts';

/** The longest wait that a server can ask for and get, in milliseconds. */
export const retryAfterMaxMs = 3_600_000;

/**
 * The wait that a Retry-After header asks for: whole seconds or an HTTP date, never below zero and
 * at most `retryAfterMaxMs`. Undefined when the header is absent or is neither.
 */
export function retryAfterMs(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const waitMs = /^\d{1,10}$/.test(header) ? Number(header) * 1000 : dateOf(header) - nowMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(0, waitMs), retryAfterMaxMs);
}

/** `Date.parse` alone would take `-5` and `2 apples` for dates. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

function dateOf(header: string): number {
  return httpDate.test(header) ? Date.parse(header) : Number.NaN;
}

/** Between which waits a back-off moves, in milliseconds. */
export interface BackOff {
  readonly leastMs: number;
  readonly mostMs: number;
}

/**
 * The wait before try `attempt + 1`: doubled at each attempt, bounded, and between a half and the
 * whole of that by chance, so that devices which failed together do not return together.
 * @param attempt 1 after the first failure
 */
export function backOffMs(attempt: number, backOff: BackOff, random: Random): number {
  const doublings = Math.min(attempt - 1, DOUBLINGS_MAX);
  const ceilingMs = Math.min(backOff.mostMs, backOff.leastMs * 2 ** doublings);
  return Math.round(ceilingMs * (0.5 + random.fraction() / 2));
}

const DOUBLINGS_MAX = 20;
