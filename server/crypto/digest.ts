/** Digests that serve as names: equal texts have equal digests. */
import { createHash } from 'node:crypto';

/** Returns the SHA-256 digest of the text, in hex. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
