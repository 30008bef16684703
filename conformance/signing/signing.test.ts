import { createPrivateKey, createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { authRequestVectors, publishedVectors } from '../../fixtures/vectors/signatures.ts';
import { signingAlgorithms } from './algorithms.ts';
import { ecdsaKeyFromScalar, makeEcdsaKey, sideBySide } from './ecdsa.ts';
import { ed25519KeyFromSeed } from './ed25519.ts';
import { distinguishesTexts, wrongTexts } from './header-text.ts';
import { rsaKeyOf } from './rsa.ts';

const body = Buffer.from('{"id_data":"{}"}\n');

function verifies(publicKeyPem: string, signed: Buffer, signature: Buffer): boolean {
  const key = createPublicKey(publicKeyPem);
  return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, key, signature);
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

/** Returns a signature whose Base64 text differs between the two alphabets. */
function signatureThatTells(sign: (bytes: Buffer) => Buffer): Buffer {
  for (let serial = 0; serial < 100; serial++) {
    const signature = sign(Buffer.from(`body ${serial}`));
    if (distinguishesTexts(signature)) return signature;
  }
  throw new Error('no signature tells the alphabets apart');
}

describe.each(keyTypes)('a signing key of type %s', (keyType) => {
  const { makeKey, signedBy } = signingAlgorithms[keyType];
  const made = makeKey(seededRandom('a device'));

  it('makes signatures that node:crypto verifies', async () => {
    const key = await made;
    expect(verifies(key.publicKeyPem, body, key.sign(body))).toBe(true);
  });

  it('makes signatures that do not verify for a changed body', async () => {
    const key = await made;
    expect(verifies(key.publicKeyPem, Buffer.from('{}'), key.sign(body))).toBe(false);
  });

  it('is exported as SubjectPublicKeyInfo in PEM', async () => {
    const { publicKeyPem } = await made;
    const parsed = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'pem' });
    expect(publicKeyPem).toBe(parsed);
  });

  it('has signers from several implementations, which sign any bytes correctly', async () => {
    const { publicKeyPem, signers } = await made;
    expect(Object.keys(signers)).toEqual(signedBy);
    for (const [signer, sign] of Object.entries(signers)) {
      for (const bytes of [body, Buffer.alloc(0), Buffer.from('grün & <blue>\r\n \0')]) {
        expect([signer, verifies(publicKeyPem, bytes, sign(bytes))]).toEqual([signer, true]);
        const changed = Buffer.concat([bytes, Buffer.of(32)]);
        expect([signer, verifies(publicKeyPem, changed, sign(bytes))]).toEqual([signer, false]);
      }
    }
  });

  it('has signatures with wrong digests and wrong encodings, none of which verifies', async () => {
    const { publicKeyPem, invalidSignatures } = await made;
    for (const kind of [invalidSignatures.digest, invalidSignatures.encoding]) {
      const forms = Object.entries(kind);
      expect(forms).not.toHaveLength(0);
      for (const [form, sign] of forms) {
        expect([form, verifies(publicKeyPem, body, sign(body))]).toEqual([form, false]);
      }
    }
  });

  it('has wrong header texts that all differ from the right text', async () => {
    const key = await made;
    const signature = signatureThatTells(key.sign);
    const right = signature.toString('base64');
    const texts = Object.values(wrongTexts).map((textOf) => textOf(signature));
    expect(new Set([...texts, right]).size).toBe(texts.length + 1);
  });
});

describe('a seeded random source', () => {
  it.each(['ecdsa', 'ed25519'] as const)('determines the key of type %s', async (keyType) => {
    const { makeKey } = signingAlgorithms[keyType];
    const firstKey = await makeKey(seededRandom('one'));
    const sameKey = await makeKey(seededRandom('one'));
    const otherKey = await makeKey(seededRandom('two'));
    expect(sameKey.publicKeyPem).toBe(firstKey.publicKeyPem);
    expect(otherKey.publicKeyPem).not.toBe(firstKey.publicKeyPem);
  });
});

/** Returns the suite's key for the private key of a published test vector. */
const keyOfVector = {
  rsa: (text: string) =>
    rsaKeyOf(createPrivateKey({ key: hex(text), format: 'der', type: 'pkcs8' })),
  ecdsa: (text: string) => ecdsaKeyFromScalar(hex(text)),
  ed25519: (text: string) => ed25519KeyFromSeed(hex(text)),
};

describe.each(publishedVectors())(
  'the published vector $source',
  ({ keyType, privateKey, publicKeyPem, messageHex, signatureBase64 }) => {
    const key = keyOfVector[keyType](privateKey);

    it('has the same public key that the suite derives', () => {
      expect(key.publicKeyPem).toBe(publicKeyPem);
    });

    it('has the same signature that every deterministic signer makes', () => {
      const made = Object.entries(key.signers).filter(
        // ECDSA of node:crypto uses a random nonce, so its signatures can only be verified.
        ([signer]) => keyType !== 'ecdsa' || signer !== 'node:crypto',
      );
      expect(made.length).toBeGreaterThan(0);
      for (const [signer, sign] of made) {
        const signature = sign(hex(messageHex)).toString('base64');
        expect([signer, signature]).toEqual([signer, signatureBase64]);
      }
    });

    it('has a signature that node:crypto verifies', () => {
      const signature = Buffer.from(signatureBase64, 'base64');
      expect(verifies(key.publicKeyPem, hex(messageHex), signature)).toBe(true);
    });
  },
);

describe('a deterministic signature on P-256', () => {
  it('verifies for many keys and bodies, with short and long integers, low and high S', () => {
    const random = seededRandom('keys on P-256');
    const lengths = new Set<number>();
    const halves = new Set<boolean>();
    for (let round = 0; round < 40; round++) {
      const bytes = random.bytes(round);
      const { publicKeyPem, signers } = makeEcdsaKey(random);
      const signature = signers['@noble/curves']?.(bytes) ?? Buffer.alloc(0);
      lengths.add(signature.length);
      halves.add(sideBySide(signature).readUInt8(32) >= 0x80);
      expect(verifies(publicKeyPem, bytes, signature)).toBe(true);
      expect(signers['@noble/curves']?.(bytes)).toEqual(signature);
    }
    expect(lengths.size).toBeGreaterThan(2);
    expect(halves.size).toBe(2);
  });
});

describe('the DER check of ECDSA signatures', () => {
  const vectors = authRequestVectors().filter(({ keyType }) => keyType === 'ecdsa');
  const bytesOf = (title: string): Buffer => {
    const found = vectors.find((vector) => vector.title === title);
    return Buffer.from(found?.signatureBase64 ?? '', 'base64');
  };

  it('accepts every valid signature of another tool', () => {
    const right = vectors.filter(({ valid }) => valid);
    expect(right.length).toBeGreaterThan(5);
    for (const { title } of right) expect(sideBySide(bytesOf(title))).toHaveLength(64);
  });

  it.each(['r and s side by side', 'superfluous zero', 'truncated'])(
    'refuses a test vector with the problem: %s',
    (problem) => {
      expect(() => sideBySide(bytesOf(`ECDSA P-256, ${problem}`))).toThrow();
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
  ])('refuses a signature with %s', (_, text) => {
    expect(() => sideBySide(hex(text.replace(' ', '')))).toThrow();
  });

  it('pads short integers to 32 bytes', () => {
    const [r, s] = [Buffer.alloc(32), Buffer.alloc(32)];
    r.writeUInt8(1, 31);
    s.writeUInt8(2, 31);
    expect(sideBySide(hex('3006020101020102'))).toEqual(Buffer.concat([r, s]));
  });
});
