/** Comparing secrets without telling, by the time it takes, how much of a guess is right. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets are equal. Digests are compared, so that not even a length is told. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
