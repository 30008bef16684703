import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { ed25519ph } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import {
  type SignatureVector,
  signatureVectors,
} from '../../../fixtures/vectors/invalid-signatures.ts';
import { authRequestVectors } from '../../../fixtures/vectors/signatures.ts';
import { verifySignature } from '../../crypto/device-signature.ts';
import { type PublicKey, readPublicKey } from '../../crypto/public-key.ts';
import {
  type NamedDeviceKey,
  OTHER_KEYS_MAX,
  type SignatureFacts,
} from '../../crypto/refused-signature.ts';
import { encodingCauses, readingsOf } from './readings.ts';
import { diagnoseSignature, foundIn } from './signature.ts';
import { signingCauses } from './signing-causes.ts';

function keyOf(pem: string): PublicKey {
  const key = readPublicKey(pem);
  if ('reason' in key) throw new Error(`the key was refused: it ${key.reason}`);
  return key;
}

function publicKeyOf(privateKey: KeyObject): PublicKey {
  const pem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  return keyOf(pem);
}

function refusedIn(vector: SignatureVector): SignatureFacts {
  const { publicKeyPem, body, signature, otherKeys = [] } = vector;
  return {
    body: Buffer.from(body),
    key: keyOf(publicKeyPem),
    signatureText: signature,
    otherKeys: otherKeys.map(({ device, publicKeyPem: pem }) => ({ device, key: keyOf(pem) })),
  };
}

const vectors = signatureVectors();
const writingRows = Object.values(encodingCauses);
const rows = [...signingCauses, ...writingRows];

describe('a wrong signature made by another implementation', () => {
  it.each(vectors)('is diagnosed correctly: $cause, $title', (vector) => {
    const refused = refusedIn(vector);
    const diagnosis = diagnoseSignature(refused);
    expect(diagnosis?.cause ?? null).toBe(vector.cause);
    expect(diagnosis?.also).toBeUndefined();
    const isRight = verifySignature(refused.body, refused.key, refused.signatureText);
    expect(isRight).toBe(vector.cause === null && vector.title.startsWith('right'));
  });

  it('exists for every cause and every key type concerned', () => {
    const pairs = new Set(vectors.map(({ cause, keyType }) => `${cause} ${keyType}`));
    const wanted = rows.flatMap(({ id, keyTypes }) => keyTypes.map((type) => `${id} ${type}`));
    expect(wanted.filter((pair) => !pairs.has(pair))).toEqual([]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  it('comes from four implementations, all independent of the server', () => {
    const makers = new Set(vectors.map(({ madeBy }) => madeBy));
    expect(makers).toEqual(new Set(['openssl', 'cryptography', 'node-forge', '@noble/curves']));
  });
});

/** The first row tries every cause on every vector; the others read its cached results. */
const CROSS_TABLE_MAX_MS = 180_000;

describe('the cross table of all signature causes', { timeout: CROSS_TABLE_MAX_MS }, () => {
  it.each(rows)('finds $id in its own vectors and nowhere else', ({ id }) => {
    const found = vectors.filter((vector) => rowsThatFit(refusedIn(vector)).has(id));
    expect(found.map(titleOf)).toEqual(vectors.filter((each) => each.cause === id).map(titleOf));
  });
});

const fitting = new Map<string, ReadonlySet<string>>();

/** Returns the IDs of all rows that explain the signature, each evaluated by itself. */
function rowsThatFit(refused: SignatureFacts): ReadonlySet<string> {
  const name = `${refused.signatureText} ${refused.body}`;
  const known = fitting.get(name);
  if (known) return known;
  const ids = new Set<string>();
  for (const { bytes, causes } of readingsOf(refused.signatureText, refused.key.keyType)) {
    if (verifySignature(refused.body, refused.key, bytes.toString('base64'))) {
      for (const id of causes) ids.add(id);
    }
    for (const row of signingCauses) {
      if (foundIn(row, { refused, bytes }) !== false) ids.add(row.id);
    }
  }
  fitting.set(name, ids);
  return ids;
}

function titleOf({ cause, title, madeBy }: SignatureVector): string {
  return `${cause}: ${title} by ${madeBy}`;
}

describe('the signature doctor and the published vectors', () => {
  /**
   * Causes by the words after the key type in the vectors' titles; an absent one is unexplained.
   */
  const expected: Readonly<Record<string, string>> = {
    'newline added': 'line-feed-not-signed',
    'newline removed': 'line-feed-not-sent',
    'body written anew': 'json-written-anew',
    base64url: 'base64url',
    'no padding': 'base64-padding',
    hexadecimal: 'hex',
    'base64 twice': 'base64-twice',
    PSS: 'pss',
    sha1: 'sha-1',
    sha384: 'sha-384',
    sha512: 'sha-512',
    'digest without its name': 'digest-without-name',
    'digest of the digest': 'digest-twice',
    'r and s side by side': 'raw-r-s',
    'r and s exchanged': 'r-s-swapped',
    'S before R': 'r-s-swapped',
    'superfluous zero': 'loose-sequence',
    'digest signed': 'digest-with-ed25519',
  };

  it.each(
    authRequestVectors().filter((vector) => vector.valid || vector.invalidPart === 'signature'),
  )('agree on the cause: $title', ({ title, keyType, publicKeyPem, body, signatureBase64 }) => {
    const subtitle = title.split(', ').slice(1).join(', ');
    const ofHex = keyType === 'ed25519' ? 'digest-with-ed25519' : 'digest-as-hex';
    const wanted = subtitle === 'digest in hexadecimal' ? ofHex : expected[subtitle];
    const refused = { body: Buffer.from(body), key: keyOf(publicKeyPem) };
    const diagnosis = diagnoseSignature({ ...refused, signatureText: signatureBase64 });
    expect(diagnosis?.cause).toBe(wanted);
  });
});

const body = Buffer.from(JSON.stringify({ id_data: '{"mac":"1"}', pubkey: 'a/b' }));
const privateKeys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ecdsa: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  ed25519: generateKeyPairSync('ed25519').privateKey,
};
const kinds = ['rsa', 'ecdsa', 'ed25519'] as const;
const rightly = (kind: (typeof kinds)[number], message: Buffer, key = privateKeys[kind]) =>
  sign(kind === 'ed25519' ? null : 'sha256', message, key);

describe('the diagnosis of a signature', () => {
  it('states the cause, the remedy, and how the signed text differs from the sent one', () => {
    const message = Buffer.from('{"id_data": "{\\"mac\\":\\"1\\"}", "pubkey": "a/b"}');
    const signatureText = rightly('rsa', message).toString('base64');
    const key = publicKeyOf(privateKeys.rsa);
    expect(diagnoseSignature({ body, key, signatureText })).toEqual({
      cause: 'json-written-anew',
      sentence: 'The signed JSON text differs from the sent one.',
      remedy: expect.stringMatching(/^Sign the bytes of the body exactly as they are sent/),
      detail:
        'signed: members in order, with spaces after , and :; sent: members in order, without white space',
    });
  });

  it('names the device that owns the signing key', () => {
    const otherKey = generateKeyPairSync('ed25519').privateKey;
    const otherKeys = [{ device: 'device 7', key: publicKeyOf(otherKey) }];
    const signatureText = rightly('ed25519', body, otherKey).toString('base64');
    const key = publicKeyOf(privateKeys.rsa);
    const diagnosis = diagnoseSignature({ body, key, signatureText, otherKeys });
    expect(diagnosis).toMatchObject({ cause: 'key-of-another-device', detail: 'device 7' });
  });

  it.each(kinds)('names both of two combined causes: %s', (kind) => {
    const longer = Buffer.concat([body, Buffer.from('\n')]);
    const signatureText = rightly(kind, longer).toString('hex');
    const refused = { body, key: publicKeyOf(privateKeys[kind]), signatureText };
    expect(diagnoseSignature(refused)).toMatchObject({
      cause: 'line-feed-not-sent',
      also: ['hex'],
    });
  });

  it('recognizes the Ed25519ph signature of RFC 8032, section 7.3', () => {
    const start = '302a300506032b6570032100';
    const publicKey = 'ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf';
    const format = { format: 'der', type: 'spki' } as const;
    const der = Buffer.from(start + publicKey, 'hex');
    const pem = createPublicKey({ key: der, ...format }).export({ type: 'spki', format: 'pem' });
    const signature =
      '98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae41' +
      '31f85042463c2a355a2003d062adf5aaa10b8c61e636062aaad11c2a26083406';
    const diagnosis = diagnoseSignature({
      body: Buffer.from('abc'),
      key: keyOf(pem.toString()),
      signatureText: Buffer.from(signature, 'hex').toString('base64'),
    });
    expect(diagnosis?.cause).toBe('ed25519ph');
  });

  it('recognizes any Ed25519ph signature, but only for its message', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.string(), (secret, text) => {
        const start = Buffer.from('302e020100300506032b657004220420', 'hex');
        const der = Buffer.concat([start, secret]);
        const pem = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----`;
        const message = Buffer.from(text);
        const signatureText = Buffer.from(ed25519ph.sign(message, secret)).toString('base64');
        const key = keyOf(createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString());
        const diagnosis = diagnoseSignature({ body: message, key, signatureText });
        expect(diagnosis?.cause).toBe('ed25519ph');
        const otherMessage = Buffer.concat([message, Buffer.from('!')]);
        expect(diagnoseSignature({ body: otherMessage, key, signatureText })).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });

  it.each(kinds)('is absent for a valid signature of any bytes: %s', (kind) => {
    const key = publicKeyOf(privateKeys[kind]);
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const message = Buffer.from(bytes);
        const signatureText = rightly(kind, message).toString('base64');
        expect(diagnoseSignature({ body: message, key, signatureText })).toBeUndefined();
      }),
      { numRuns: 30 },
    );
  });

  it.each(kinds)('is absent for random text, bytes and bodies: %s', (kind) => {
    const key = publicKeyOf(privateKeys[kind]);
    const length = { rsa: 256, ecdsa: 64, ed25519: 64 }[kind];
    const bytes = fc.uint8Array({ minLength: length, maxLength: length });
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      bytes.map((each) => Buffer.from(each).toString('base64')),
      bytes.map((each) => Buffer.from(each).toString('hex')),
    );
    const bodies = fc.oneof(fc.string(), fc.json(), fc.constant(body.toString()));
    fc.assert(
      fc.property(texts, bodies, (signatureText, text) => {
        const refused = { body: Buffer.from(text), key, signatureText };
        expect(diagnoseSignature(refused)).toBeUndefined();
      }),
      { numRuns: 40 },
    );
  });
});

describe('the work for the diagnosis of a signature', () => {
  const wide = `{"id_data":"{}","x":[${'1,'.repeat(7000)}1]}`;
  const hostile: readonly (readonly [string, string])[] = [
    ['a megabyte of letters', 'a'.repeat(1_000_000)],
    ['a megabyte of brackets', '['.repeat(1_000_000)],
    ['brackets as deep as they are looked at', `{"x":${'['.repeat(8000)}${']'.repeat(8000)}}`],
    ['a long array', wide],
    ['members by the thousand', `{${Array.from({ length: 1200 }, (_, n) => `"${n}":{}`)}}`],
    ['line breaks', '\n'.repeat(1_000_000)],
    ['a name of JavaScript', '{"__proto__":{"id_data":"x"},"constructor":1}'],
  ];

  it.each(hostile.flatMap(([name, text]) => kinds.map((kind) => [name, kind, text] as const)))(
    'is bounded for %s, %s',
    (_, kind, text) => {
      const key = publicKeyOf(privateKeys[kind]);
      const otherKey = generateKeyPairSync('ed25519').privateKey;
      const signatureText = rightly(kind, Buffer.from('other')).toString('base64');
      const otherKeys = Array.from({ length: 1000 }, () => ({
        device: 'd',
        key: publicKeyOf(otherKey),
      }));
      const startMs = systemClock.monotonicMs();
      const refused = { body: Buffer.from(text), key, signatureText, otherKeys };
      expect(diagnoseSignature(refused)).toBeUndefined();
      expect(systemClock.monotonicMs() - startMs).toBeLessThan(3000);
    },
  );

  it.each([
    ['letters', 'a'.repeat(10_000_000)],
    ['white space', ' '.repeat(10_000_000)],
    ['padding', '='.repeat(16_000)],
    ['colons', ':'.repeat(16_000)],
    ['white space within the limit', ` a`.repeat(8000)],
  ])('is bounded for a string of %s', (_, signatureText) => {
    const startMs = systemClock.monotonicMs();
    for (const kind of kinds) {
      const key = publicKeyOf(privateKeys[kind]);
      expect(diagnoseSignature({ body, key, signatureText })).toBeUndefined();
    }
    expect(systemClock.monotonicMs() - startMs).toBeLessThan(1000);
  });

  it('is bounded by a maximum number of keys of other devices', () => {
    const otherKey = generateKeyPairSync('ed25519').privateKey;
    const signatureText = rightly('ed25519', body, otherKey).toString('base64');
    const key = publicKeyOf(privateKeys.ed25519);
    const triedIndexes: number[] = [];
    function* keysWithOtherAt(position: number): Generator<NamedDeviceKey> {
      for (let index = 0; index < 10_000; index += 1) {
        triedIndexes.push(index);
        yield { device: `${index}`, key: index === position ? publicKeyOf(otherKey) : key };
      }
    }
    const diagnoseWithOtherAt = (position: number) =>
      diagnoseSignature({ body, key, signatureText, otherKeys: keysWithOtherAt(position) });
    expect(diagnoseWithOtherAt(OTHER_KEYS_MAX - 1)?.cause).toBe('key-of-another-device');
    expect(diagnoseWithOtherAt(OTHER_KEYS_MAX)).toBeUndefined();
    expect(Math.max(...triedIndexes)).toBe(OTHER_KEYS_MAX);
  });
});
