import { describe, expect, it } from 'vitest';
import { RateLimits } from './rate-limits.ts';

describe('a rate limit', () => {
  it('lets every request pass until it is set', () => {
    const rates = new RateLimits();
    for (let count = 0; count < 1000; count += 1) expect(rates.count('a', 0)).toBeUndefined();
  });

  it('admits its number per window and returns the seconds to wait', () => {
    const rates = new RateLimits({ requests: 2, windowSeconds: 10 });
    expect([rates.count('a', 0), rates.count('a', 0), rates.count('a', 500)]).toEqual([
      undefined,
      undefined,
      10,
    ]);
    expect(rates.count('a', 9999)).toBe(1);
    expect(rates.count('a', 10_000)).toBeUndefined();
  });

  it('counts each caller separately', () => {
    const rates = new RateLimits({ requests: 1, windowSeconds: 10 });
    expect([rates.count('a', 0), rates.count('b', 0), rates.count('a', 0)]).toEqual([
      undefined,
      undefined,
      10,
    ]);
  });

  it('admits no request when it is 0', () => {
    expect(new RateLimits({ requests: 0, windowSeconds: 3 }).count('a', 0)).toBe(3);
  });

  it('blocks nobody longer than a window after the clock is set back', () => {
    const rates = new RateLimits({ requests: 1, windowSeconds: 10 });
    rates.count('a', 1_000_000);
    expect(rates.count('a', 0)).toBeUndefined();
    expect(rates.count('a', 0)).toBe(10);
  });

  it('restarts its counts when it is set, and stops when it is removed', () => {
    const rates = new RateLimits({ requests: 1, windowSeconds: 10 });
    rates.count('a', 0);
    rates.set({ requests: 1, windowSeconds: 5 });
    expect([rates.count('a', 0), rates.count('a', 0)]).toEqual([undefined, 5]);
    rates.set(undefined);
    expect(rates.count('a', 0)).toBeUndefined();
  });

  it('removes old callers to limit its memory', () => {
    const rates = new RateLimits({ requests: 1, windowSeconds: 10 });
    for (let count = 0; count < 100_000; count += 1) rates.count(`old ${count}`, 0);
    rates.count('kept', 9000);
    rates.count('new', 11_000);
    expect(rates.count('kept', 11_000)).toBe(8);
  });
});
