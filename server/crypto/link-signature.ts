/** Signatures of links that are used without a token. Spec: Authentication, rule 8 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../fixtures/random.ts';

/** What a link's signature covers. */
export interface SignedLink {
  /** Path without escapes. */
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

/** A signer with a secret of its own. */
export function createLinkSigner(random: Random): LinkSigner {
  const secret = random.bytes(32);
  const sign = (link: SignedLink): string =>
    createHmac('sha256', secret).update(signedText(link)).digest('base64url');
  return {
    sign,
    verifies: (link, signature) => {
      const expected = Buffer.from(sign(link));
      const given = Buffer.from(signature);
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
  };
}

/** Method, path, expiry and tenant, one a line; the method keeps a link from being used otherwise. */
function signedText({ path, expire, tenantId }: SignedLink): string {
  return `GET\n${path}\nexpire=${expire}\ntenant_id=${tenantId}\n`;
}
