import { createPrivateKey, createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { seededRandom } from '../../fixtures/random.ts';
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

/** A signature over some body, whose Base64 is not the same in both alphabets. */
function signatureThatTells(sign: (bytes: Buffer) => Buffer): Buffer {
  for (let serial = 0; serial < 100; serial++) {
    const signature = sign(Buffer.from(`body ${serial}`));
    if (distinguishesTexts(signature)) return signature;
  }
  throw new Error('no signature tells the alphabets apart');
}

describe.each(keyTypes)('a %s key', (keyType) => {
  const { makeKey, signedBy } = signingAlgorithms[keyType];
  const made = makeKey(seededRandom('a device'));

  it('makes signatures that an independent library verifies', async () => {
    const key = await made;
    expect(verifies(key.publicKeyPem, body, key.sign(body))).toBe(true);
  });

  it('makes no signature that fits a changed body', async () => {
    const key = await made;
    expect(verifies(key.publicKeyPem, Buffer.from('{}'), key.sign(body))).toBe(false);
  });

  it('is written as SubjectPublicKeyInfo in PEM', async () => {
    const { publicKeyPem } = await made;
    const parsed = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'pem' });
    expect(publicKeyPem).toBe(parsed);
  });

  it('is signed by two implementations, both rightly, whatever is signed', async () => {
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

  it('has wrong forms of both kinds, none of which verifies', async () => {
    const { publicKeyPem, wrongForms } = await made;
    for (const kind of [wrongForms.digest, wrongForms.form]) {
      const forms = Object.entries(kind);
      expect(forms).not.toHaveLength(0);
      for (const [form, sign] of forms) {
        expect([form, verifies(publicKeyPem, body, sign(body))]).toEqual([form, false]);
      }
    }
  });

  it('has wrong texts in the header, each other than the right one', async () => {
    const key = await made;
    const signature = signatureThatTells(key.sign);
    const right = signature.toString('base64');
    const texts = Object.values(wrongTexts).map((textOf) => textOf(signature));
    expect(new Set([...texts, right]).size).toBe(texts.length + 1);
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

/** The suite's key of a published private key. */
const keyOfVector = {
  rsa: (text: string) =>
    rsaKeyOf(createPrivateKey({ key: hex(text), format: 'der', type: 'pkcs8' })),
  ecdsa: (text: string) => ecdsaKeyFromScalar(hex(text)),
  ed25519: (text: string) => ed25519KeyFromSeed(hex(text)),
};

describe.each(publishedVectors())(
  '$source',
  ({ keyType, privateKey, publicKeyPem, messageHex, signatureBase64 }) => {
    const key = keyOfVector[keyType](privateKey);

    it('has the public key that we derive', () => {
      expect(key.publicKeyPem).toBe(publicKeyPem);
    });

    it('is met by every implementation that signs by its standard', () => {
      const made = Object.entries(key.signers).filter(
        // ECDSA of node:crypto draws its nonce; what it makes can only be verified.
        ([signer]) => keyType !== 'ecdsa' || signer !== 'node:crypto',
      );
      expect(made.length).toBeGreaterThan(0);
      for (const [signer, sign] of made) {
        const signature = sign(hex(messageHex)).toString('base64');
        expect([signer, signature]).toEqual([signer, signatureBase64]);
      }
    });

    it('is verified by a library that did not make it', () => {
      const signature = Buffer.from(signatureBase64, 'base64');
      expect(verifies(key.publicKeyPem, hex(messageHex), signature)).toBe(true);
    });
  },
);

describe('a deterministic signature on P-256', () => {
  it('verifies for many keys and bodies, integers short and long, S low and high', () => {
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

describe('the DER check', () => {
  const vectors = authRequestVectors().filter(({ keyType }) => keyType === 'ecdsa');
  const bytesOf = (title: string): Buffer => {
    const found = vectors.find((vector) => vector.title === title);
    return Buffer.from(found?.signatureBase64 ?? '', 'base64');
  };

  it('reads every signature that another tool made rightly', () => {
    const right = vectors.filter(({ valid }) => valid);
    expect(right.length).toBeGreaterThan(5);
    for (const { title } of right) expect(sideBySide(bytesOf(title))).toHaveLength(64);
  });

  it.each(['r and s side by side', 'superfluous zero', 'truncated'])(
    'refuses one that has %s',
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
  ])('refuses %s', (_, text) => {
    expect(() => sideBySide(hex(text.replace(' ', '')))).toThrow();
  });

  it('pads short integers to 32 bytes', () => {
    const [r, s] = [Buffer.alloc(32), Buffer.alloc(32)];
    r.writeUInt8(1, 31);
    s.writeUInt8(2, 31);
    expect(sideBySide(hex('3006020101020102'))).toEqual(Buffer.concat([r, s]));
  });
});
