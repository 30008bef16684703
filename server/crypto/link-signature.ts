/** Signatures of links that are used without a token. Spec: Authentication, rule 8 */
import { createHmac } from 'node:crypto';
import { isSameSecret } from './same-secret.ts';

/** What a link's signature covers. */
export interface SignedLink {
  /** Path with its escapes; differences in escaping do not matter. */
  readonly path: string;
  /** Expiry time as written in the query. */
  readonly expire: string;
  readonly tenantId: string;
}

export interface LinkSigner {
  /** Returns the HMAC-SHA256 in base64url without padding. */
  sign(link: SignedLink): string;
  verifies(link: SignedLink, signature: string): boolean;
}

/** Length of a signer's secret, the same as its output. */
export const LINK_SECRET_BYTES = 32;

/** Links with one expiry, of which the signatures are kept: a release is linked for many devices. */
const KEPT_MAX = 1000;

/** Creates a signer with this secret. */
export function createLinkSigner(secret: Uint8Array): LinkSigner {
  const signatureOf = (link: SignedLink): string =>
    createHmac('sha256', secret).update(signedText(link)).digest('base64url');
  const kept = new Map<string, string>();
  let keptExpire = '';
  return {
    sign: (link) => {
      const { path, expire, tenantId } = link;
      if (expire !== keptExpire || kept.size >= KEPT_MAX) kept.clear();
      keptExpire = expire;
      const key = `${tenantId} ${path}`;
      const known = kept.get(key) ?? signatureOf(link);
      kept.set(key, known);
      return known;
    },
    verifies: (link, signature) => isSameSecret(signatureOf(link), signature),
  };
}

/**
 * Returns method, path, expiry and tenant as JSON, so that a device type cannot be read as the
 * following fields, nor as two parts of the path; the method prevents other uses of a link.
 */
function signedText({ path, expire, tenantId }: SignedLink): string {
  return JSON.stringify(['GET', path.split('/').map(decodeURIComponent), expire, tenantId]);
}
