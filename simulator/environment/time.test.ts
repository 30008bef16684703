import { describe, expect, it } from 'vitest';
import { clockCheck } from './time.ts';

const nowMs = Date.parse('2026-11-21T12:00:00Z');

describe('the check of the clock', () => {
  it.each(['1970-01-01T00:00:00Z', '2025-12-31T23:59:59Z', '2100-01-01T00:00:01Z'])(
    'fails when the clock shows an impossible date: %s',
    (time) => {
      const check = clockCheck(Date.parse(time), undefined);
      expect(check).toMatchObject({ verdict: 'fail', remedy: expect.stringContaining('NTP') });
    },
  );

  it('passes when there is no server time to compare with', () => {
    expect(clockCheck(nowMs, undefined).verdict).toBe('pass');
    expect(clockCheck(nowMs, { isAdjusted: false }).verdict).toBe('pass');
  });

  it.each<[number, boolean, string, string]>([
    [0, false, 'pass', '0 s ahead of'],
    [5000, false, 'pass', '5 s ahead of'],
    [-6000, false, 'warn', '6 s behind'],
    [300_000, false, 'warn', '300 s ahead of'],
    [-301_000, false, 'fail', '301 s behind'],
    [-86_400_000, true, 'warn', '86400 s behind'],
  ])('judges %i ms off the server, adjusted: %s: %s', (offsetMs, isAdjusted, verdict, sentence) => {
    const check = clockCheck(nowMs, { dateMs: nowMs - offsetMs, isAdjusted });
    expect(check.verdict).toBe(verdict);
    expect(check.found).toContain(`${sentence} the server's`);
  });
});
