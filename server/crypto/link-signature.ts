/** Signatures of links that are used without a token. Spec: Authentication, rule 8 */
import { createHmac } from 'node:crypto';
import { isSameSecret } from './same-secret.ts';

/** What a link's signature covers. */
export interface SignedLink {
  /** Path with its escapes; how they are written does not count. */
  readonly path: string;
  /** Expiry time as it stands in the query. */
  readonly expire: string;
  readonly tenantId: string;
}

export interface LinkSigner {
  /** HMAC-SHA256 in base64url without padding. */
  sign(link: SignedLink): string;
  verifies(link: SignedLink, signature: string): boolean;
}

/** Length of a signer's secret, as long as what it makes. */
export const LINK_SECRET_BYTES = 32;

/** A signer with this secret. */
export function createLinkSigner(secret: Uint8Array): LinkSigner {
  const sign = (link: SignedLink): string =>
    createHmac('sha256', secret).update(signedText(link)).digest('base64url');
  return {
    sign,
    verifies: (link, signature) => isSameSecret(sign(link), signature),
  };
}

/**
 * Method, path, expiry and tenant as JSON, so that no device type can be read as the fields after
 * it, nor as two parts of the path; the method keeps a link from being used otherwise.
 */
function signedText({ path, expire, tenantId }: SignedLink): string {
  return JSON.stringify(['GET', path.split('/').map(decodeURIComponent), expire, tenantId]);
}
