/**
 * When a device renews its token: some time before it expires, at a different time for each device,
 * so that a fleet that signed in together does not come back together.
 * Spec: Authentication
 */
import type { Random } from '../../fixtures/random.ts';

/**
 * How long before its expiry a token is renewed, as shares of its lifetime: minimum and maximum.
 */
const AHEAD_MIN_SHARE = 0.1;
const AHEAD_MAX_SHARE = 0.3;
const MS_PER_SECOND = 1000;

/**
 * Returns the renewal time in milliseconds since the Unix epoch; Infinity for a token without
 * expiry. The token is not verified: that is not the device's job.
 * @param receivedMs when the device got it, by its own clock
 */
export function renewalAtMs(token: string, receivedMs: number, chance: Random): number {
  const expires = claim(token, 'exp');
  if (expires === undefined) return Number.POSITIVE_INFINITY;
  const expiresMs = expires * MS_PER_SECOND;
  const issuedMs = (claim(token, 'iat') ?? receivedMs / MS_PER_SECOND) * MS_PER_SECOND;
  const share = AHEAD_MIN_SHARE + (AHEAD_MAX_SHARE - AHEAD_MIN_SHARE) * chance.fraction();
  return expiresMs - Math.max(0, expiresMs - issuedMs) * share;
}

/** Returns a claim in whole seconds. */
function claim(token: string, name: 'exp' | 'iat'): number | undefined {
  const [, claims = ''] = token.split('.');
  const text = Buffer.from(claims, 'base64url').toString('utf8');
  const [, seconds] = new RegExp(`"${name}"\\s*:\\s*(\\d{1,12})\\b`).exec(text) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}
