/** How long to wait before a retry: what the server asks for, else a growing random wait. */
import type { Random } from '../../fixtures/random.ts';
import type { BackOffKind } from '../plan/policy.ts';

/** The longest wait that a server can request, in milliseconds. */
export const retryAfterMaxMs = 3_600_000;

/**
 * Parses a Retry-After header: whole seconds or an HTTP date, clamped to 0 and `retryAfterMaxMs`.
 * Undefined when the header is absent or is neither.
 */
export function retryAfterMs(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const waitMs = /^\d{1,10}$/.test(header) ? Number(header) * 1000 : dateOf(header) - nowMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(0, waitMs), retryAfterMaxMs);
}

/** `Date.parse` alone would accept `-5` and `2 apples` as dates. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

function dateOf(header: string): number {
  return httpDate.test(header) ? Date.parse(header) : Number.NaN;
}

/** Back-off after consecutive errors; times in milliseconds. */
export interface BackOff {
  /** How each wait is drawn; defaults to `equal-jitter`. */
  readonly kind?: BackOffKind;
  readonly minMs: number;
  readonly maxMs: number;
}

/** The wait by kind; the ceiling is the minimum wait, doubled at each attempt, up to a limit. */
const waits: Readonly<
  Record<BackOffKind, (ceilingMs: number, minMs: number, chance: Random) => number>
> = {
  fixed: (_, minMs) => minMs,
  exponential: (ceilingMs) => ceilingMs,
  'equal-jitter': (ceilingMs, _, chance) => ceilingMs * (0.5 + chance.fraction() / 2),
  'full-jitter': (ceilingMs, _, chance) => ceilingMs * chance.fraction(),
};

/**
 * Returns the wait before attempt `attempt + 1`. Devices that fail together retry together except
 * for the jitter: none, over the upper half of the ceiling (the default), or over all of it.
 * @param attempt 1 after the first failure
 */
export function backOffMs(attempt: number, backOff: BackOff, random: Random): number {
  const { kind = 'equal-jitter', minMs, maxMs } = backOff;
  const doublings = Math.min(attempt - 1, DOUBLINGS_MAX);
  const ceilingMs = Math.min(maxMs, minMs * 2 ** doublings);
  return Math.round(waits[kind](ceilingMs, minMs, random));
}

const DOUBLINGS_MAX = 20;
