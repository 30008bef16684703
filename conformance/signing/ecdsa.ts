/**
 * Device keys on P-256, signed by node:crypto and by the arithmetic of the curve itself: of the
 * suite's other libraries none knows P-256.
 */
import {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
} from 'node:crypto';
import type { Random } from '../../fixtures/random.ts';
import { joinIntegers, readEcdsaSequence, writeEcdsaSequence } from './der.ts';
import { signOnP256 } from './p256.ts';
import type { SigningKey, WrongForms } from './signing-key.ts';

const COORDINATE_BYTES = 32;

/** A key on P-256 that `random` decides. */
export function makeEcdsaKey(random: Random): SigningKey {
  return ecdsaKeyFromScalar(scalarBelowOrder(random));
}

/** The key of a private scalar of 32 bytes. */
export function ecdsaKeyFromScalar(scalar: Buffer): SigningKey {
  const privateKey = privateKeyOf(scalar);
  const signed = (body: Buffer): Buffer => {
    const signature = sign('sha256', body, privateKey);
    readEcdsaSequence(signature);
    return signature;
  };
  return {
    keyType: 'ecdsa',
    publicKeyPem: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString(),
    sign: signed,
    signers: {
      'node:crypto': signed,
      'the arithmetic of P-256 (RFC 6979)': (body) => signOnP256(scalar, body),
    },
    wrongForms: wrongFormsOf(privateKey),
  };
}

function wrongFormsOf(privateKey: KeyObject): WrongForms {
  const integersOver = (body: Buffer) => readEcdsaSequence(sign('sha256', body, privateKey));
  return {
    digest: {
      'the SHA-1 of the body': (body) => sign('sha1', body, privateKey),
      'the SHA-384 of the body': (body) => sign('sha384', body, privateKey),
      'the SHA-512 of the body': (body) => sign('sha512', body, privateKey),
      'the SHA-256 of the SHA-256 of the body': (body) =>
        sign('sha256', createHash('sha256').update(body).digest(), privateKey),
    },
    form: {
      'R and S side by side': (body) => joinIntegers(integersOver(body)),
      'S before R': (body) => {
        const { r, s } = integersOver(body);
        return writeEcdsaSequence({ r: s, s: r });
      },
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
