/**
 * Device keys on Ed25519, with signatures by tweetnacl and by node:crypto. This module encodes the
 * public key, which @noble/curves derives, as PEM itself.
 */
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import nacl from 'tweetnacl';
import type { Random } from '../../fixtures/base/random.ts';
import type { SigningKey } from './signing-key.ts';

const SEED_BYTES = 32;

/** The bytes before the 32-byte key in an Ed25519 SubjectPublicKeyInfo. RFC 8410, section 4 */
const PUBLIC_KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
/** The bytes before the 32-byte seed in an Ed25519 PKCS #8 key. RFC 8410, section 7 */
const PRIVATE_KEY_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Creates an Ed25519 key that is derived from `random`. */
export function makeEd25519Key(random: Random): SigningKey {
  return ed25519KeyFromSeed(random.bytes(SEED_BYTES));
}

/** Returns the key with a seed of 32 bytes. */
export function ed25519KeyFromSeed(seed: Buffer): SigningKey {
  // tweetnacl derives the public key six times as slowly.
  const publicKey = Buffer.from(ed25519.getPublicKey(seed));
  const secretKey = new Uint8Array(Buffer.concat([seed, publicKey]));
  const signBytes = (bytes: Buffer): Buffer =>
    Buffer.from(nacl.sign.detached(new Uint8Array(bytes), secretKey));
  return {
    keyType: 'ed25519',
    publicKeyPem: publicKeyPem(publicKey),
    sign: signBytes,
    signers: {
      tweetnacl: signBytes,
      'node:crypto': (body) => sign(null, body, privateKeyOf(seed)),
    },
    invalidSignatures: {
      digest: {
        'the SHA-256 of the body': (body) => signBytes(digestOf('sha256', body)),
        'the SHA-512 of the body': (body) => signBytes(digestOf('sha512', body)),
        'the SHA-256 of the body in hexadecimal': (body) =>
          signBytes(Buffer.from(digestOf('sha256', body).toString('hex'))),
      },
      encoding: {
        'the body after the signature': (body) => Buffer.concat([signBytes(body), body]),
      },
    },
  };
}

function digestOf(algorithm: string, body: Buffer): Buffer {
  return createHash(algorithm).update(body).digest();
}

function privateKeyOf(seed: Buffer): KeyObject {
  const key = Buffer.concat([PRIVATE_KEY_PREFIX, seed]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

function publicKeyPem(rawKey: Buffer): string {
  const base64Key = Buffer.concat([PUBLIC_KEY_PREFIX, rawKey]).toString('base64');
  return `-----BEGIN PUBLIC KEY-----\n${base64Key}\n-----END PUBLIC KEY-----\n`;
}
