/** The pauses between requests of one operation that failed in a row: what every retry owes. */
import type { Violation } from '../../passive/check.ts';
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import type { ClientHistory } from '../client-history.ts';
import { pauseMs } from '../exchange-facts.ts';
import { MIN_PAUSE_MS, TOO_FREQUENT_REPEATS_MAX } from '../exemptions.ts';

/** Number of failures in a row by which the pauses must have grown. */
const FAILURES_MIN = 6;
/** A longer pause need not grow. */
const POLITE_MS = 60_000;
/** Pauses as a server sees them are longer than the device's own by what the network takes. */
const GROWTH_MIN = 1.8;
/** The share of the poll interval that counts as the whole, since a client may jitter it. */
const INTERVAL_SHARE_MIN = 0.9;

/** Returns true if the pause before this request follows failures that it can be compared with. */
export function isRetry({ operation }: JudgedExchange, client: ClientHistory): boolean {
  return (client.retries.failures.get(operation.id)?.count ?? 0) > 1;
}

/**
 * Returns what is wrong with the pauses before this request. The third one of less than a second in
 * a row counts, and pauses of which none is twice the first one over six failures, unless they are
 * as long as the poll interval. Pauses that the server asked for are exempt.
 */
export function retryProblem(
  exchange: JudgedExchange,
  client: ClientHistory,
): Violation | undefined {
  const { id } = exchange.operation;
  const run = client.retries.failures.get(id);
  const pause = pauseMs(run, exchange);
  if (run === undefined || pause === undefined || client.retries.waits.has(id)) return undefined;
  const part = 'the pause after a failure';
  if (pause < MIN_PAUSE_MS && run.tooFrequentCount === TOO_FREQUENT_REPEATS_MAX)
    return { part, expected: 'last 1 s or more', actual: 'less, three times in a row' };
  const { firstPauseMs = 0, longestPauseMs, count } = run;
  const isPolite = pause >= Math.min(POLITE_MS, INTERVAL_SHARE_MIN * (client.paceMs ?? POLITE_MS));
  const isGrowing = Math.max(pause, longestPauseMs) >= GROWTH_MIN * firstPauseMs;
  if (count !== FAILURES_MIN || isPolite || isGrowing) return undefined;
  const actual = `${(pause / 1000).toFixed(1)} s after six failures`;
  return { part, expected: 'grow', actual };
}
