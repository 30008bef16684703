/** Digests as names: equal texts have equal ones. */
import { createHash } from 'node:crypto';

/** SHA-256 in hex. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
