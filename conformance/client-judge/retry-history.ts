/** The history of the failed and refused requests of one device, by operation. */
import type { ClientExchange } from '../../fixtures/control/client-event.ts';
import type { JudgedExchange } from '../passive/judged-exchange.ts';
import { BoundedMap } from './bounded-map.ts';
import { contentOf, pauseMs, timesOf, waitSeconds } from './exchange-facts.ts';
import { hasReceivedResponse, MIN_PAUSE_MS } from './exemptions.ts';
import { type FailureRun, ITEMS_MAX, type Wait } from './history-items.ts';

/** The failures of one device as seen so far. */
export class RetryHistory {
  readonly failures = new BoundedMap<FailureRun>(ITEMS_MAX);
  /** The waits that the server asked for. */
  readonly waits = new BoundedMap<Wait>(ITEMS_MAX);
  /** The last request that was answered with 400, and how often it was sent in a row. */
  readonly malformed = new BoundedMap<{ readonly content: string; readonly times: number }>(
    ITEMS_MAX,
  );
  /** The longest time that the device waited for a response that did not come. */
  slowestMs = 0;

  record(exchange: JudgedExchange, event: ClientExchange): void {
    if (!hasReceivedResponse(event))
      this.slowestMs = Math.max(this.slowestMs, event.endedMs - event.sentMs);
    this.#recordFailure(exchange, event);
    this.#recordRetryAfter(exchange);
    this.#recordMalformed(exchange);
  }

  /** The longest pause that the device has chosen after a failure. */
  get longestPauseMs(): number {
    const pauses = this.failures.values.flatMap((run) => [
      run.firstPauseMs ?? 0,
      run.longestPauseMs,
    ]);
    return Math.max(0, ...pauses);
  }

  /** Forgets what proves nothing after an interruption. */
  recordServerEvent(): void {
    this.failures.clear();
    this.waits.clear();
  }

  #recordFailure(exchange: JudgedExchange, event: ClientExchange): void {
    const { operation, status } = exchange;
    const isFailure = status >= 500 || status === 429 || !hasReceivedResponse(event);
    const earlierFailure = this.failures.get(operation.id);
    if (!isFailure) {
      this.failures.delete(operation.id);
      return;
    }
    // A pause that Retry-After has asked for is none that the device has chosen.
    const isOwn = !this.waits.has(operation.id);
    const pause = isOwn ? pauseMs(earlierFailure, exchange) : undefined;
    const firstPauseMs = earlierFailure?.firstPauseMs ?? pause;
    const longestPauseMs = Math.max(
      earlierFailure?.longestPauseMs ?? 0,
      earlierFailure?.firstPauseMs === undefined ? 0 : (pause ?? 0),
    );
    const tooFrequentCount =
      pause !== undefined && pause < MIN_PAUSE_MS ? (earlierFailure?.tooFrequentCount ?? 0) + 1 : 0;
    const count = (earlierFailure?.count ?? 0) + (isOwn ? 1 : 0);
    const run = { ...timesOf(exchange), count, tooFrequentCount, firstPauseMs, longestPauseMs };
    this.failures.keep(operation.id, run);
  }

  #recordRetryAfter(exchange: JudgedExchange): void {
    const { operation, status, response, serverNowMs } = exchange;
    const seconds = waitSeconds(response.headers['retry-after'] ?? '', serverNowMs);
    const hasPause = (status === 429 || status === 503) && seconds !== undefined;
    if (hasPause) this.waits.keep(operation.id, { ...timesOf(exchange), seconds });
    else this.waits.delete(operation.id);
  }

  #recordMalformed(exchange: JudgedExchange): void {
    const { operation, status } = exchange;
    if (status !== 400) {
      this.malformed.delete(operation.id);
      return;
    }
    const content = contentOf(exchange);
    const earlierRefusal = this.malformed.get(operation.id);
    const times = earlierRefusal?.content === content ? earlierRefusal.times + 1 : 1;
    this.malformed.keep(operation.id, { content, times });
  }
}
