/**
 * Computes the wait before a retry: the wait that the server requests, or else a random wait that
 * grows with each failure.
 */
import type { Random } from '../../fixtures/base/random.ts';
import type { BackOffKind } from '../plan/policy.ts';

/**
 * The longest wait that a server can request, in milliseconds; longer requests are shortened to it.
 */
export const retryAfterMaxMs = 3_600_000;

/**
 * Parses a Retry-After header, which contains whole seconds or an HTTP date. Returns milliseconds
 * from 0 to `retryAfterMaxMs`; undefined when the header is absent or has neither form.
 */
export function retryAfterMs(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const waitMs = /^\d{1,10}$/.test(header) ? Number(header) * 1000 : dateOf(header) - nowMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(0, waitMs), retryAfterMaxMs);
}

/**
 * The format of an HTTP date, checked first because `Date.parse` accepts `-5` and `2 apples` as
 * dates.
 */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

function dateOf(header: string): number {
  return httpDate.test(header) ? Date.parse(header) : Number.NaN;
}

/** Back-off after consecutive errors; times in milliseconds. */
export interface BackOff {
  /** How each wait is computed; `equal-jitter` when omitted. */
  readonly kind?: BackOffKind;
  readonly minMs: number;
  readonly maxMs: number;
}

/** Computes a wait of each kind. The ceiling is `minMs`, doubled at each attempt, up to `maxMs`. */
const waits: Readonly<
  Record<BackOffKind, (ceilingMs: number, minMs: number, chance: Random) => number>
> = {
  fixed: (_, minMs) => minMs,
  exponential: (ceilingMs) => ceilingMs,
  'equal-jitter': (ceilingMs, _, chance) => ceilingMs * (0.5 + chance.fraction() / 2),
  'full-jitter': (ceilingMs, _, chance) => ceilingMs * chance.fraction(),
};

/**
 * Returns the wait in milliseconds between failure number `attempt` and the next attempt. Without
 * jitter, devices that fail together also retry together; `equal-jitter` draws from the upper half
 * of the ceiling, `full-jitter` from the whole of it.
 * @param attempt 1 after the first failure
 */
export function backOffMs(attempt: number, backOff: BackOff, random: Random): number {
  const { kind = 'equal-jitter', minMs, maxMs } = backOff;
  const doublings = Math.min(attempt - 1, DOUBLINGS_MAX);
  const ceilingMs = Math.min(maxMs, minMs * 2 ** doublings);
  return Math.round(waits[kind](ceilingMs, minMs, random));
}

const DOUBLINGS_MAX = 20;
