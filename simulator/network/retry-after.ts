/** How long to wait before trying again: what the server asks for, else a growing chance. */
import type { Random } from '../../fixtures/random.ts';
import type { BackOffKind } from '../plan/policy.ts';

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

/** How long to wait after faults in a row, in milliseconds. */
export interface BackOff {
  /** Absent: `equal-jitter`. */
  readonly kind?: BackOffKind;
  readonly leastMs: number;
  readonly mostMs: number;
}

/** The wait by kind; the ceiling is the least wait, doubled at each attempt, and bounded. */
const waits: Readonly<
  Record<BackOffKind, (ceilingMs: number, leastMs: number, chance: Random) => number>
> = {
  fixed: (_, leastMs) => leastMs,
  exponential: (ceilingMs) => ceilingMs,
  'equal-jitter': (ceilingMs, _, chance) => ceilingMs * (0.5 + chance.fraction() / 2),
  'full-jitter': (ceilingMs, _, chance) => ceilingMs * chance.fraction(),
};

/**
 * The wait before try `attempt + 1`. Devices that failed together return together but for the
 * chance in it: none, over the upper half of the ceiling (unless told otherwise), or over all of it.
 * @param attempt 1 after the first failure
 */
export function backOffMs(attempt: number, backOff: BackOff, random: Random): number {
  const { kind = 'equal-jitter', leastMs, mostMs } = backOff;
  const doublings = Math.min(attempt - 1, DOUBLINGS_MAX);
  const ceilingMs = Math.min(mostMs, leastMs * 2 ** doublings);
  return Math.round(waits[kind](ceilingMs, leastMs, random));
}

const DOUBLINGS_MAX = 20;
