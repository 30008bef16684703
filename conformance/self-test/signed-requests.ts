/**
 * Parsing and verification of signed authentication requests for defects. Spec: Device
 * authentication
 */
import { constants, createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { objectOf, ownResponse } from './alter.ts';
import type { Alteration, ProxiedRequest } from './defect.ts';

/** An authentication request as a server reads it. */
export interface SignedRequest {
  readonly key: KeyObject;
  /** The type of the key: `rsa`, `ec` or `ed25519`. */
  readonly keyType: string;
  readonly body: Buffer;
  /** The signature header as sent; empty when there is none. */
  readonly text: string;
}

/** Returns the text of the signature header; undefined when there is none. */
export function signatureText({ headers }: ProxiedRequest): string | undefined {
  return Object.entries(headers).find(([name]) => name.endsWith('-signature'))?.[1];
}

/** Returns the parts of a request with a key and a signature; undefined for any other. */
export function signedRequest(request: ProxiedRequest): SignedRequest | undefined {
  const { pubkey } = objectOf(request);
  const key = typeof pubkey === 'string' ? keyOf(pubkey) : undefined;
  if (!key) return undefined;
  const keyType = key.asymmetricKeyType ?? '';
  return { key, keyType, body: request.body, text: signatureText(request) ?? '' };
}

/** Returns the public key in a text; undefined when there is none. */
export function keyOf(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

/** Returns true when the bytes are the key's signature over the body according to the contract. */
export function verifies({ key, keyType, body }: SignedRequest, signature: Buffer): boolean {
  return verifiesDigest(key, { digest: keyType === 'ed25519' ? null : 'sha256', body, signature });
}

/** Returns true when the bytes are the key's signature over the body with that digest. */
export function verifiesDigest(
  key: KeyObject,
  facts: {
    readonly digest: string | null;
    readonly body: Buffer;
    readonly signature: Buffer;
    readonly pss?: boolean;
    readonly sideBySide?: boolean;
  },
): boolean {
  const { digest, body, signature, pss = false, sideBySide = false } = facts;
  const padding = pss ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const form = key.asymmetricKeyType === 'rsa' ? { padding } : {};
  const dsaEncoding = sideBySide ? 'ieee-p1363' : 'der';
  return verify(digest, body, { key, ...form, dsaEncoding }, signature);
}

/** Returns the SHA-256 of the body. */
export function sha256(body: Buffer): Buffer {
  return createHash('sha256').update(body).digest();
}

/**
 * Returns an alteration: the server also grants a token for the invalid signatures that `isTaken`
 * accepts, by keys of one type.
 */
export function takesSignature(
  keyType: string,
  isTaken: (request: SignedRequest) => boolean,
): () => Alteration {
  return () => ({
    response: (response, request) => {
      const signedParts = signedRequest(request);
      if (response.status !== 401 || signedParts?.keyType !== keyType || !isTaken(signedParts))
        return response;
      return { ...ownResponse(200), body: Buffer.from('e30.e30.granted') };
    },
  });
}
