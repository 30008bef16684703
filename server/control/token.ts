/** The secret that opens the control listener. */
import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * A check of an Authorization header against the token. Digests of equal length are compared, so
 * the time it takes tells nothing of the token, not even its length.
 */
export function tokenCheck(controlToken: string): (authorization: string | undefined) => boolean {
  const expected = digest(controlToken);
  return (authorization = '') => {
    const [, given] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
