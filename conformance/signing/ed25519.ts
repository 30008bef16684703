/** Device keys on Ed25519: tweetnacl signs, and the public key is wrapped into PEM by hand. */
import { createHash } from 'node:crypto';
import nacl from 'tweetnacl';
import type { Random } from '../../fixtures/random.ts';
import type { SigningKey } from './signing-key.ts';

const SEED_BYTES = 32;

/** SubjectPublicKeyInfo of Ed25519 up to the 32 bytes of the key. RFC 8410, section 4 */
const PUBLIC_KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** A key on Ed25519 that `random` decides. */
export function makeEd25519Key(random: Random): SigningKey {
  return ed25519KeyFromSeed(random.bytes(SEED_BYTES));
}

/** The key of a seed of 32 bytes. */
export function ed25519KeyFromSeed(seed: Buffer): SigningKey {
  const pair = nacl.sign.keyPair.fromSeed(new Uint8Array(seed));
  const sign = (bytes: Buffer): Buffer =>
    Buffer.from(nacl.sign.detached(new Uint8Array(bytes), pair.secretKey));
  return {
    keyType: 'ed25519',
    publicKeyPem: publicKeyPem(Buffer.from(pair.publicKey)),
    sign,
    wrongForms: {
      'the SHA-256 of the body': (body) => sign(createHash('sha256').update(body).digest()),
    },
  };
}

function publicKeyPem(rawKey: Buffer): string {
  const encoded = Buffer.concat([PUBLIC_KEY_PREFIX, rawKey]).toString('base64');
  return `-----BEGIN PUBLIC KEY-----\n${encoded}\n-----END PUBLIC KEY-----\n`;
}
