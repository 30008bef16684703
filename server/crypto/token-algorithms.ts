/** How tokens are signed: one row per algorithm, each with its own key of this server. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { freshRsaKey, type Random } from '../../fixtures/random.ts';

/** An algorithm of RFC 7518 or RFC 8037, by its name in the header. */
export interface TokenAlgorithm {
  readonly name: 'EdDSA' | 'RS256';
  /** The digest's name in node:crypto; null where the algorithm has none of its own. */
  readonly digest: 'sha256' | null;
  readonly makeKey: (random: Random) => KeyObject | Promise<KeyObject>;
}

/** PKCS#8 wrapping of a raw Ed25519 seed (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const RSA_MODULUS_BITS = 2048;

export const tokenAlgorithms: Readonly<Record<'EdDSA' | 'RS256', TokenAlgorithm>> = {
  EdDSA: {
    name: 'EdDSA',
    digest: null,
    makeKey: (random) => {
      const der = Buffer.concat([pkcs8Prefix, random.bytes(32)]);
      return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    },
  },
  RS256: {
    name: 'RS256',
    digest: 'sha256',
    makeKey: () => freshRsaKey(RSA_MODULUS_BITS),
  },
};

/** Signs and verifies with one key. */
export interface TokenKey {
  readonly algorithm: TokenAlgorithm;
  sign(text: string): Buffer;
  verifies(text: string, signature: Buffer): boolean;
}

/** Returns a token key for a private key created by the algorithm's `makeKey`. */
export function tokenKeyOf(algorithm: TokenAlgorithm, privateKey: KeyObject): TokenKey {
  const publicKey = createPublicKey(privateKey);
  const { digest } = algorithm;
  return {
    algorithm,
    sign: (text) => sign(digest, Buffer.from(text), privateKey),
    verifies: (text, signature) => verify(digest, Buffer.from(text), publicKey, signature),
  };
}
