/** Device keys on P-256: node:crypto signs, and the encoding is checked by hand. */
import { createECDH, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { Random } from '../../fixtures/random.ts';
import { joinIntegers, readEcdsaSequence } from './der.ts';
import type { SigningKey } from './signing-key.ts';

const COORDINATE_BYTES = 32;

/** A key on P-256 that `random` decides. */
export function makeEcdsaKey(random: Random): SigningKey {
  return ecdsaKeyFromScalar(scalarBelowOrder(random));
}

/** The key of a private scalar of 32 bytes. */
export function ecdsaKeyFromScalar(scalar: Buffer): SigningKey {
  const privateKey = privateKeyOf(scalar);
  const publicKey = createPublicKey(privateKey);
  return {
    keyType: 'ecdsa',
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    sign: (body) => {
      const signature = sign('sha256', body, privateKey);
      readEcdsaSequence(signature);
      return signature;
    },
    wrongForms: {
      'R and S side by side': (body) =>
        joinIntegers(readEcdsaSequence(sign('sha256', body, privateKey))),
      'the SHA-512 of the body': (body) => sign('sha512', body, privateKey),
    },
  };
}

/** The order of P-256 begins with 32 one bits, so a scalar without its first bit lies below it. */
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
