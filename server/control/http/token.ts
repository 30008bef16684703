/** The secret that opens the control listener. */
import { isSameSecret } from '../../crypto/same-secret.ts';

/** A check of an Authorization header against the token; its time tells nothing of the token. */
export function tokenCheck(controlToken: string): (authorization: string | undefined) => boolean {
  return (authorization = '') => {
    const [, given] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
    return given !== undefined && isSameSecret(given, controlToken);
  };
}
