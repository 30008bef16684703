import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../fixtures/base/clock.ts';
import { Watchdog } from './watchdog.ts';

let lines: string[];
let watchdog: Watchdog;

beforeEach(() => {
  lines = [];
  watchdog = new Watchdog({ warn: (line) => lines.push(line) });
});

afterEach(() => watchdog.close());

/**
 * Works on one core for this long, whatever share of it this process gets. The CPU time counts
 * other threads too, so the clock must have advanced as well.
 */
function work(milliseconds: number): void {
  const began = process.cpuUsage();
  const startedMs = systemClock.monotonicMs();
  const workedMs = (): number => {
    const { user, system } = process.cpuUsage(began);
    return Math.min((user + system) / 1000, systemClock.monotonicMs() - startedMs);
  };
  while (workedMs() < milliseconds);
}

it('the watchdog logs overlong work with its operation, at a limited rate', () => {
  for (const requestId of ['first', 'second']) {
    const startedMs = watchdog.begin();
    work(150);
    watchdog.end(startedMs, { operation: 'get-inventory', requestId });
  }
  expect(lines).toEqual([
    expect.stringMatching(/^the event loop stalled for \d+ ms in get-inventory \(request first\)$/),
  ]);
  expect(watchdog.stalls).toMatchObject({ count: 2, worstIn: expect.stringContaining('get-inv') });
  expect(watchdog.stalls.worstMs).toBeGreaterThanOrEqual(150);
});

it('the watchdog ignores short work and counts no stall', () => {
  watchdog.end(watchdog.begin(), { operation: 'get-inventory', requestId: 'quick' });
  expect(lines).toEqual([]);
  expect(watchdog.stalls).toEqual({ count: 0, worstMs: 0, worstIn: '' });
});

it('the watchdog reports a stall between requests', async () => {
  watchdog.start();
  watchdog.end(watchdog.begin(), { operation: 'login', requestId: 'before' });
  work(250);
  await expect.poll(() => watchdog.stalls.count).toBe(1);
  expect(lines).toEqual([
    expect.stringMatching(/ ms outside any request; the last one was login \(request before\)$/),
  ]);
});

it('the watchdog counts a wait without work as no stall, whatever came before', async () => {
  work(300);
  watchdog.start();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  await systemClock.sleep(100);
  expect(watchdog.stalls).toEqual({ count: 0, worstMs: 0, worstIn: '' });
});
