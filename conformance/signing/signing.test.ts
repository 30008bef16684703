import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { seededRandom } from '../../fixtures/random.ts';
import { authRequestVectors } from '../../fixtures/vectors/signatures.ts';
import { signingAlgorithms } from './algorithms.ts';
import { joinIntegers, readEcdsaSequence } from './der.ts';
import { ecdsaKeyFromScalar } from './ecdsa.ts';
import { ed25519KeyFromSeed } from './ed25519.ts';

const body = Buffer.from('{"id_data":"{}"}\n');

function verifies(publicKeyPem: string, signed: Buffer, signature: Buffer): boolean {
  const key = createPublicKey(publicKeyPem);
  return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, key, signature);
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

describe.each(keyTypes)('a %s key', (keyType) => {
  const { makeKey } = signingAlgorithms[keyType];

  it('makes signatures that an independent library verifies', async () => {
    const key = await makeKey(seededRandom('a device'));
    expect(verifies(key.publicKeyPem, body, key.sign(body))).toBe(true);
  });

  it('makes no signature that fits a changed body', async () => {
    const key = await makeKey(seededRandom('a device'));
    expect(verifies(key.publicKeyPem, Buffer.from('{}'), key.sign(body))).toBe(false);
  });

  it('is written as SubjectPublicKeyInfo in PEM', async () => {
    const { publicKeyPem } = await makeKey(seededRandom('a device'));
    const parsed = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'pem' });
    expect(publicKeyPem).toBe(parsed);
  });

  it('has wrong forms that do not verify', async () => {
    const key = await makeKey(seededRandom('a device'));
    const forms = Object.entries(key.wrongForms);
    expect(forms).not.toHaveLength(0);
    for (const [, sign] of forms) {
      expect(verifies(key.publicKeyPem, body, sign(body))).toBe(false);
    }
  });
});

describe('a seeded source', () => {
  it.each(['ecdsa', 'ed25519'] as const)('decides the %s key', async (keyType) => {
    const { makeKey } = signingAlgorithms[keyType];
    const first = await makeKey(seededRandom('one'));
    const again = await makeKey(seededRandom('one'));
    const other = await makeKey(seededRandom('two'));
    expect(again.publicKeyPem).toBe(first.publicKeyPem);
    expect(other.publicKeyPem).not.toBe(first.publicKeyPem);
  });
});

describe('published vectors', () => {
  it('are met by Ed25519 (RFC 8032, section 7.1, test 2)', () => {
    const key = ed25519KeyFromSeed(
      hex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb'),
    );
    expect(key.publicKeyPem).toContain(
      hex('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c').toString('base64'),
    );
    expect(key.sign(hex('72')).toString('hex')).toBe(
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
        '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    );
  });

  it('verify under the P-256 key that we derive (RFC 6979, appendix A.2.5)', () => {
    const key = ecdsaKeyFromScalar(
      hex('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721'),
    );
    const published = hex(
      '3046' +
        '022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716' +
        '022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8',
    );
    expect(verifies(key.publicKeyPem, Buffer.from('sample'), published)).toBe(true);
    expect(joinIntegers(readEcdsaSequence(published)).toString('hex')).toMatch(/^efd4.*cda8$/);
  });
});

describe('the DER check', () => {
  const vectors = authRequestVectors().filter(({ keyType }) => keyType === 'ecdsa');
  const bytesOf = (title: string): Buffer => {
    const found = vectors.find((vector) => vector.title === title);
    return Buffer.from(found?.signatureBase64 ?? '', 'base64');
  };

  it('reads every signature that another tool made rightly', () => {
    const right = vectors.filter(({ valid }) => valid);
    expect(right.length).toBeGreaterThan(5);
    for (const { title } of right) expect(() => readEcdsaSequence(bytesOf(title))).not.toThrow();
  });

  it.each(['r and s side by side', 'superfluous zero', 'truncated'])(
    'refuses one that has %s',
    (fault) => {
      expect(() => readEcdsaSequence(bytesOf(`ECDSA P-256, ${fault}`))).toThrow();
    },
  );

  it.each([
    ['no sequence', '31060201010201 01'],
    ['a length that does not span the signature', '30070201010201 01'],
    ['bytes after the second integer', '30070201010201 0100'],
    ['something other than an integer', '30060301010201 01'],
    ['an integer without digits', '3005020002020101'],
    ['an integer that runs past the end', '30060201010204 01'],
    ['a negative integer', '30060201810201 01'],
    ['a padded integer', '3007020200010201 01'],
    ['an integer of 33 digits', `30260221${'01'.repeat(33)}020101`],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(() => readEcdsaSequence(hex(text.replace(' ', '')))).toThrow();
  });

  it('pads short integers to 32 bytes', () => {
    const { r, s } = readEcdsaSequence(hex('3006020101020102'));
    expect([r.length, s.length, r.at(-1), s.at(-1)]).toEqual([32, 32, 1, 2]);
  });
});
