/**
 * Verifies the signatures of device clients by other libraries than clients in this project sign
 * with. Spec: Device authentication
 */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import forge from 'node-forge';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';

const standardBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

interface Verifier {
  readonly hasKeyType: (key: KeyObject) => boolean;
  readonly verify: (key: KeyObject, body: Buffer, signature: Buffer) => boolean;
}

const verifiers: Readonly<Record<KeyType, Verifier>> = {
  rsa: {
    hasKeyType: ({ asymmetricKeyType }) => asymmetricKeyType === 'rsa',
    verify: (key, body, signature) => {
      const { n = '', e = '' } = key.export({ format: 'jwk' });
      const publicKey = forge.pki.setRsaPublicKey(bigInteger(n), bigInteger(e));
      const digest = sha256(body).toString('latin1');
      return publicKey.verify(digest, signature.toString('latin1'), 'RSASSA-PKCS1-V1_5');
    },
  },
  ecdsa: {
    hasKeyType: ({ asymmetricKeyDetails }) => asymmetricKeyDetails?.namedCurve === 'prime256v1',
    verify: (key, body, signature) => {
      const { x = '', y = '' } = key.export({ format: 'jwk' });
      const point = [Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
      return p256.verify(signature, sha256(body), Buffer.concat(point), {
        format: 'der',
        prehash: false,
        lowS: false,
      });
    },
  },
  ed25519: {
    hasKeyType: ({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519',
    verify: (key, body, signature) => {
      const { x = '' } = key.export({ format: 'jwk' });
      return ed25519.verify(signature, body, Buffer.from(x, 'base64url'), { zip215: false });
    },
  },
};

/**
 * Returns the type of a public key; undefined unless it is an RSA, P-256 or Ed25519 key as PEM
 * SubjectPublicKeyInfo.
 */
export function keyTypeOf(pem: string): KeyType | undefined {
  const key = publicKeyIn(pem);
  if (key === undefined) return undefined;
  const entry = Object.entries(verifiers).find(([, { hasKeyType }]) => hasKeyType(key));
  return entry?.[0] as KeyType | undefined;
}

/**
 * Returns what is wrong with the signature of a body; undefined if it verifies.
 * @param text the value of the signature header
 */
export function signatureProblem(pem: string, body: Buffer, text: string): string | undefined {
  const key = publicKeyIn(pem);
  const type = keyTypeOf(pem);
  if (key === undefined || type === undefined) return 'a signature by an unsupported key';
  if (!standardBase64.test(text) || text === '') return 'a text that is not Base64';
  try {
    if (verifiers[type].verify(key, body, Buffer.from(text, 'base64'))) return undefined;
  } catch {
    // The libraries throw for bytes that have not the form of a signature.
    return 'bytes that are no signature of this key type';
  }
  return 'a signature over other bytes, or by another key';
}

/** The key that was read last, because several duties look at the key of one request. */
let lastKey: { readonly pem: string; readonly key: KeyObject | undefined } | undefined;

function publicKeyIn(pem: string): KeyObject | undefined {
  if (lastKey?.pem !== pem) lastKey = { pem, key: readKey(pem) };
  return lastKey.key;
}

function readKey(pem: string): KeyObject | undefined {
  if (!pem.includes('-----BEGIN PUBLIC KEY-----')) return undefined;
  try {
    return createPublicKey(pem);
  } catch {
    // The caller says that it is no key.
    return undefined;
  }
}

function bigInteger(base64url: string): forge.jsbn.BigInteger {
  return new forge.jsbn.BigInteger(Buffer.from(base64url, 'base64url').toString('hex'), 16);
}

function sha256(body: Buffer): Buffer {
  return createHash('sha256').update(body).digest();
}
