/** Compares secrets without leaking, through timing, how much of a guess is right. */
import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Returns true when two secrets are equal. It compares digests, so that timing does not reveal the
 * length either.
 */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
