/** Signatures of links that are used without an access token. Spec: Authentication, rule 8 */
import { createHmac } from 'node:crypto';
import { isSameSecret } from './same-secret.ts';

/** The fields that a link's signature covers. */
export interface SignedLink {
  /** The path with its percent-escapes; two escapings of one path have the same signature. */
  readonly path: string;
  /** The expiry time exactly as written in the query. */
  readonly expire: string;
  readonly tenantId: string;
}

export interface LinkSigner {
  /** Returns the HMAC-SHA256 of the link in base64url without padding. */
  sign(link: SignedLink): string;
  verifies(link: SignedLink, signature: string): boolean;
}

/** Length of a signer's secret in bytes: the length of a SHA-256. */
export const LINK_SECRET_BYTES = 32;

/**
 * Signatures cached for one expiry time: a release is linked for many devices with the same expiry.
 */
const KEPT_MAX = 1000;

/** Creates a signer with this secret. */
export function createLinkSigner(secret: Uint8Array): LinkSigner {
  const signatureOf = (link: SignedLink): string =>
    createHmac('sha256', secret).update(signedText(link)).digest('base64url');
  const signatures = new Map<string, string>();
  let keptExpire = '';
  return {
    sign: (link) => {
      const { path, expire, tenantId } = link;
      if (expire !== keptExpire || signatures.size >= KEPT_MAX) signatures.clear();
      keptExpire = expire;
      const key = `${tenantId} ${path}`;
      const signature = signatures.get(key) ?? signatureOf(link);
      signatures.set(key, signature);
      return signature;
    },
    verifies: (link, signature) => isSameSecret(signatureOf(link), signature),
  };
}

/**
 * Returns the signed text: method, path segments, expiry and tenant as JSON. The JSON form prevents
 * a device type from being read as the next field, or as two segments of the path; the method
 * restricts the link to GET.
 */
function signedText({ path, expire, tenantId }: SignedLink): string {
  return JSON.stringify(['GET', path.split('/').map(decodeURIComponent), expire, tenantId]);
}
