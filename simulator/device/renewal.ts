/**
 * When a device gets itself its next token: some time before the old one runs out, each device at
 * another moment, so that a fleet that signed in together does not come back together.
 * Spec: Authentication
 */
import type { Random } from '../../fixtures/random.ts';

/** How far ahead of the end a token is renewed, as shares of its whole life: at least, at most. */
const AHEAD_LEAST_SHARE = 0.1;
const AHEAD_MOST_SHARE = 0.3;
const MS_PER_SECOND = 1000;

/**
 * The moment in milliseconds since the Unix epoch; infinity for a token that tells no end. Nothing
 * of the token is verified: that is not the device's part.
 * @param receivedMs when the device got it, by its own clock
 */
export function renewalAtMs(token: string, receivedMs: number, chance: Random): number {
  const expires = claim(token, 'exp');
  if (expires === undefined) return Number.POSITIVE_INFINITY;
  const expiresMs = expires * MS_PER_SECOND;
  const issuedMs = (claim(token, 'iat') ?? receivedMs / MS_PER_SECOND) * MS_PER_SECOND;
  const share = AHEAD_LEAST_SHARE + (AHEAD_MOST_SHARE - AHEAD_LEAST_SHARE) * chance.fraction();
  return expiresMs - Math.max(0, expiresMs - issuedMs) * share;
}

/** A claim of whole seconds. */
function claim(token: string, name: 'exp' | 'iat'): number | undefined {
  const [, claims = ''] = token.split('.');
  const text = Buffer.from(claims, 'base64url').toString('utf8');
  const [, seconds] = new RegExp(`"${name}"\\s*:\\s*(\\d{1,12})\\b`).exec(text) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}
