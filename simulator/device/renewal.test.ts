import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { renewalAtMs } from './renewal.ts';

const issuedMs = Date.UTC(2026, 0, 31, 12);
const WEEK_MS = 604_800_000;

function tokenWith(claims: object): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
}

const iat = issuedMs / 1000;
const exp = (issuedMs + WEEK_MS) / 1000;
const chanceOf = (index: number) => seededRandom('x').stream(`device/${index}/renewal`);

describe('the renewal of a device token', () => {
  it('is due by chance a tenth to three tenths of its life before expiry', () => {
    const shares = Array.from({ length: 200 }, (_, index) => {
      const dueMs = renewalAtMs(tokenWith({ sub: 'd', iat, exp }), issuedMs, chanceOf(index));
      return (issuedMs + WEEK_MS - dueMs) / WEEK_MS;
    });
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0.1);
    expect(Math.max(...shares)).toBeLessThanOrEqual(0.3);
    expect(Math.max(...shares) - Math.min(...shares)).toBeGreaterThan(0.15);
  });

  it('is counted from the receipt of a token without an issue time', () => {
    const dueMs = renewalAtMs(tokenWith({ exp }), issuedMs + WEEK_MS / 2, chanceOf(0));
    expect(dueMs).toBeGreaterThanOrEqual(issuedMs + 0.85 * WEEK_MS);
    expect(dueMs).toBeLessThanOrEqual(issuedMs + 0.95 * WEEK_MS);
  });

  it('is due at the expiry of a token that expires before its issue time', () => {
    const token = tokenWith({ iat: exp, exp: iat });
    expect(renewalAtMs(token, issuedMs, chanceOf(0))).toBe(issuedMs);
  });

  it.each([
    ['tells no end', tokenWith({ sub: 'd' })],
    ['tells it as a string', tokenWith({ exp: 'tomorrow' })],
    ['is not JSON', 'e30.%%%.c2ln'],
    ['is empty', ''],
  ])('is never due for a token that %s', (_what, token) => {
    expect(renewalAtMs(token, issuedMs, chanceOf(0))).toBe(Number.POSITIVE_INFINITY);
  });
});
