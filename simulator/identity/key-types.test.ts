import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { freshRsaKey, type Random, seededRandom } from '../../fixtures/base/random.ts';
import { type KeyType, keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { keyTypeRows, signatureOf } from './key-types.ts';

const body = Buffer.from('{"id_data":"{}","pubkey":"…"}\n');
const digests: Readonly<Record<KeyType, string | null>> = {
  rsa: 'sha256',
  ecdsa: 'sha256',
  ed25519: null,
};

/** A fake generator that always returns these bytes, as in a published vector. */
function fixedRandom(hex: string): Random {
  const chance = seededRandom('unused');
  return Object.assign(chance, {
    bytes: (count: number) => Buffer.from(hex.padStart(2 * count, '0'), 'hex'),
  });
}

/** Derives a key from this generator, where the key type supports it. */
async function keyOf(keyType: KeyType, random: Random): Promise<KeyObject> {
  return keyTypeRows[keyType].derive?.(random) ?? freshRsaKey(2048);
}

function publicJwk(privateKey: KeyObject): Record<string, unknown> {
  return { ...createPublicKey(privateKey).export({ format: 'jwk' }) };
}

describe.each(keyTypes)('signatures by %s keys', (keyType) => {
  it('are valid for exactly the signed bytes and for nothing else', async () => {
    const privateKey = await keyOf(keyType, seededRandom('x'));
    const publicKey = createPublicKey(privateKey);
    const signature = Buffer.from(signatureOf(body, keyType, privateKey), 'base64');
    const holds = (bytes: Buffer): boolean => verify(digests[keyType], bytes, publicKey, signature);
    expect(holds(body)).toBe(true);
    expect(holds(body.subarray(0, -1))).toBe(false);
    expect(holds(Buffer.concat([body, Buffer.from(' ')]))).toBe(false);
  });

  it('are not valid for the key of another device', async () => {
    const mine = await keyOf(keyType, seededRandom('x'));
    const otherKey = await keyOf(keyType, seededRandom('y'));
    const signature = Buffer.from(signatureOf(body, keyType, mine), 'base64');
    expect(verify(digests[keyType], body, createPublicKey(otherKey), signature)).toBe(false);
  });

  it('are standard base64 with padding and without line breaks', async () => {
    const privateKey = await keyOf(keyType, seededRandom('x'));
    const text = signatureOf(body, keyType, privateKey);
    expect(text).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    expect(text.length % 4).toBe(0);
  });
});

describe('the table of key types', () => {
  it('signs with RSA by PKCS#1 v1.5, not PSS', async () => {
    const privateKey = await keyOf('rsa', seededRandom('x'));
    const one = signatureOf(body, 'rsa', privateKey);
    expect(signatureOf(body, 'rsa', privateKey)).toBe(one);
  });

  it('writes ECDSA signatures as a DER SEQUENCE, not as raw R and S', async () => {
    const privateKey = await keyOf('ecdsa', seededRandom('x'));
    const der = Buffer.from(signatureOf(body, 'ecdsa', privateKey), 'base64');
    expect(der[0]).toBe(0x30);
    expect(der[1]).toBe(der.length - 2);
    expect(der[2]).toBe(0x02);
  });

  it('derives the public point of RFC 6979, A.2.5 from its private scalar', async () => {
    // This is one less than the scalar of the RFC, because the derivation adds one to avoid zero.
    const scalar = 'c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6720';
    const privateKey = await keyOf('ecdsa', fixedRandom(scalar));
    const hex = (part: unknown): string => Buffer.from(String(part), 'base64url').toString('hex');
    const { x, y } = publicJwk(privateKey);
    expect(hex(x)).toBe('60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6');
    expect(hex(y)).toBe('7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299');
  });

  it('never derives a P-256 scalar of zero or of the order', async () => {
    const zero = await keyOf('ecdsa', fixedRandom('00'));
    const order = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551';
    const wrapped = await keyOf('ecdsa', fixedRandom(order));
    expect(publicJwk(zero).x).not.toBe(publicJwk(wrapped).x);
    expect(zero.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  });

  it('makes the key and the signature of RFC 8032, 7.1, test 2', async () => {
    const seed = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';
    const privateKey = await keyOf('ed25519', fixedRandom(seed));
    const raw = Buffer.from(String(publicJwk(privateKey).x), 'base64url').toString('hex');
    expect(raw).toBe('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c');
    const signature = signatureOf(Buffer.from('72', 'hex'), 'ed25519', privateKey);
    expect(Buffer.from(signature, 'base64').toString('hex')).toBe(
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
        '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    );
  });

  it('does not sign with a key of another type', () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    expect(() => signatureOf(body, 'ecdsa', privateKey)).toThrow();
  });
});
