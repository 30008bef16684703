/**
 * Computes when a device renews its token: a random time before the token expires, so that devices
 * that authenticated together do not all renew it together.
 * Spec: Authentication
 */
import type { Random } from '../../fixtures/base/random.ts';

/**
 * Minimum and maximum time from the renewal of a token to its expiry, as shares of its lifetime.
 */
const AHEAD_MIN_SHARE = 0.1;
const AHEAD_MAX_SHARE = 0.3;
const MS_PER_SECOND = 1000;

/**
 * Returns the renewal time in milliseconds since the Unix epoch; Infinity for a token without
 * expiry. A device does not verify its token.
 * @param receivedMs when the device received the token, by its own clock
 */
export function renewalAtMs(token: string, receivedMs: number, chance: Random): number {
  const expires = claim(token, 'exp');
  if (expires === undefined) return Number.POSITIVE_INFINITY;
  const expiresMs = expires * MS_PER_SECOND;
  const issuedMs = (claim(token, 'iat') ?? receivedMs / MS_PER_SECOND) * MS_PER_SECOND;
  const share = AHEAD_MIN_SHARE + (AHEAD_MAX_SHARE - AHEAD_MIN_SHARE) * chance.fraction();
  return expiresMs - Math.max(0, expiresMs - issuedMs) * share;
}

/** Returns a claim of the token in whole seconds; undefined when it is absent. */
function claim(token: string, name: 'exp' | 'iat'): number | undefined {
  const [, claims = ''] = token.split('.');
  const text = Buffer.from(claims, 'base64url').toString('utf8');
  const [, seconds] = new RegExp(`"${name}"\\s*:\\s*(\\d{1,12})\\b`).exec(text) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}
