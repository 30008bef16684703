/**
 * Device keys on P-256, with signatures by node:crypto and by @noble/curves. Both must produce
 * strict DER that the other library can read.
 */
import {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
} from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import type { Random } from '../../fixtures/base/random.ts';
import type { InvalidSignatures, SigningKey } from './signing-key.ts';

const COORDINATE_BYTES = 32;

/** Creates a P-256 key that is derived from `random`. */
export function makeEcdsaKey(random: Random): SigningKey {
  return ecdsaKeyFromScalar(scalarBelowOrder(random));
}

/** Returns the key with a private scalar of 32 bytes. */
export function ecdsaKeyFromScalar(scalar: Buffer): SigningKey {
  const privateKey = privateKeyOf(scalar);
  const signBody = (body: Buffer): Buffer => {
    const signature = sign('sha256', body, privateKey);
    integersOf(signature);
    return signature;
  };
  return {
    keyType: 'ecdsa',
    publicKeyPem: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString(),
    sign: signBody,
    signers: {
      'node:crypto': signBody,
      // Deterministic by RFC 6979. The contract does not require a low S.
      '@noble/curves': (body) =>
        Buffer.from(p256.sign(body, scalar, { format: 'der', lowS: false })),
    },
    invalidSignatures: invalidSignaturesOf(privateKey),
  };
}

/** Returns a signature as 64 bytes of R and S, which the contract does not allow for devices. */
export function sideBySide(signature: Buffer): Buffer {
  return Buffer.from(integersOf(signature).toBytes('compact'));
}

/** Parses R and S of a signature in DER. @throws Error when the encoding is not strict DER */
function integersOf(signature: Buffer): InstanceType<typeof p256.Signature> {
  return p256.Signature.fromBytes(signature, 'der');
}

function invalidSignaturesOf(privateKey: KeyObject): InvalidSignatures {
  const signatureOf = (body: Buffer): Buffer => sign('sha256', body, privateKey);
  return {
    digest: {
      'the SHA-1 of the body': (body) => sign('sha1', body, privateKey),
      'the SHA-384 of the body': (body) => sign('sha384', body, privateKey),
      'the SHA-512 of the body': (body) => sign('sha512', body, privateKey),
      'the SHA-256 of the SHA-256 of the body': (body) =>
        sign('sha256', createHash('sha256').update(body).digest(), privateKey),
    },
    encoding: {
      'R and S side by side': (body) => sideBySide(signatureOf(body)),
      'S before R': (body) => {
        const { r, s } = integersOf(signatureOf(body));
        return Buffer.from(new p256.Signature(s, r).toBytes('der'));
      },
    },
  };
}

/**
 * Returns a private scalar below the order of P-256. The order begins with 32 one bits, so every
 * scalar whose first bit is zero is below it.
 */
function scalarBelowOrder(random: Random): Buffer {
  const scalar = random.bytes(COORDINATE_BYTES);
  scalar.writeUInt8(scalar.readUInt8(0) & 0x7f, 0);
  scalar.writeUInt8(scalar.readUInt8(COORDINATE_BYTES - 1) | 1, COORDINATE_BYTES - 1);
  return scalar;
}

function privateKeyOf(scalar: Buffer): KeyObject {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(scalar);
  const point = pair.getPublicKey();
  return createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: scalar.toString('base64url'),
      x: point.subarray(1, 1 + COORDINATE_BYTES).toString('base64url'),
      y: point.subarray(1 + COORDINATE_BYTES).toString('base64url'),
    },
  });
}
