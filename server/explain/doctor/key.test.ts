import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { keyVectors } from '../../../fixtures/vectors/invalid-signatures.ts';
import { authRequestVectors } from '../../../fixtures/vectors/signatures.ts';
import { readPublicKey } from '../../crypto/public-key.ts';
import { diagnoseKey, keyCauses, keyTextOf } from './key.ts';

const vectors = keyVectors();

describe('a faulty public key made by another implementation', () => {
  it.each(vectors)('is diagnosed correctly: $cause, $title', ({ cause, pubkey }) => {
    const wanted = cause === null || cause === 'unexplained' ? undefined : cause;
    expect(diagnoseKey(pubkey)?.cause).toBe(wanted);
    expect('reason' in readPublicKey(pubkey)).toBe(cause !== null);
  });

  it('exists for every known cause', () => {
    const causes = new Set(vectors.map(({ cause }) => cause));
    expect(keyCauses.filter(({ id }) => !causes.has(id))).toEqual([]);
    expect(new Set(keyCauses.map(({ id }) => id)).size).toBe(keyCauses.length);
  });

  it.each(keyCauses)('matches no other cause: $id', ({ id, fits }) => {
    const refused = vectors.filter(({ cause }) => cause !== null);
    const found = refused.filter(({ pubkey }) => fits(keyTextOf(pubkey.trim())) !== false);
    expect(found.map(({ title }) => title)).toEqual(
      vectors.filter(({ cause }) => cause === id).map(({ title }) => title),
    );
  });

  it('is diagnosed with the curve name if it is on another curve', () => {
    const details = vectors
      .filter(({ cause }) => cause === 'other-curve')
      .map(({ pubkey }) => diagnoseKey(pubkey)?.detail);
    expect(details).toEqual([
      'secp224r1',
      'secp384r1',
      'secp521r1',
      'secp256k1',
      'brainpoolP256r1',
      'ed448',
    ]);
  });
});

describe('the key doctor and the published vectors', () => {
  const expected: Readonly<Record<string, string>> = {
    'RSA-2048, PEM of PKCS#1': 'pkcs1-public-key',
    'ECDSA P-256, certificate': 'certificate',
    'ECDSA P-384': 'other-curve',
    'ECDSA P-521': 'other-curve',
    'ECDSA secp256k1': 'other-curve',
    Ed448: 'other-curve',
    'RSA key for PSS only': 'key-for-pss',
    'ECDSA P-256, no PEM': 'no-pem-lines',
  };

  it.each(authRequestVectors())('agree on the cause: $title', ({ title, publicKeyPem }) => {
    expect(diagnoseKey(publicKeyPem)?.cause).toBe(expected[title]);
  });
});

describe('a string that is not a key', () => {
  it('never gets a diagnosis, whatever it contains', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String(), fc.json()), (text) => {
        expect(diagnoseKey(text)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['a block that never ends', `-----BEGIN PUBLIC KEY-----${'A'.repeat(16_000)}`],
    ['blocks in blocks', '-----BEGIN PUBLIC KEY-----AAAA'.repeat(500)],
    ['dashes', '-'.repeat(16_000)],
    ['ten megabytes', 'A'.repeat(10_000_000)],
    ['brackets', '{'.repeat(16_000)],
  ])('is refused quickly: %s', (_, text) => {
    const startMs = systemClock.monotonicMs();
    expect(diagnoseKey(text)).toBeUndefined();
    expect(systemClock.monotonicMs() - startMs).toBeLessThan(500);
  });
});
