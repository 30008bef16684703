import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { authRequestVectors, publishedVectors } from '../../fixtures/vectors/signatures.ts';
import { verifySignature } from './device-signature.ts';
import { type PublicKey, readPublicKey } from './public-key.ts';

function keyOf(pem: string): PublicKey {
  const key = readPublicKey(pem);
  if ('reason' in key) throw new Error(`the key was refused: it ${key.reason}`);
  return key;
}

function publicKeyOf({ publicKey }: { publicKey: KeyObject }): PublicKey {
  return keyOf(publicKey.export({ type: 'spki', format: 'pem' }).toString());
}

/** Returns whether the request was accepted, refused for its key, or refused for its signature. */
function judged({ publicKeyPem, body, signatureBase64 }: ReturnType<typeof authRequestVectors>[0]) {
  const key = readPublicKey(publicKeyPem);
  if ('reason' in key) return 'key';
  return verifySignature(Buffer.from(body), key, signatureBase64) ? 'accepted' : 'signature';
}

const requests = authRequestVectors().map((vector) => [vector.title, vector] as const);

describe('authentication requests signed with openssl', () => {
  it.each(requests.filter(([, { valid }]) => valid))('are accepted: %s', (_, vector) => {
    expect(judged(vector)).toBe('accepted');
  });

  it.each(requests.filter(([, { valid }]) => !valid))('are refused: %s', (_, vector) => {
    expect(judged(vector)).toBe(vector.valid ? 'accepted' : vector.invalidPart);
  });
});

describe('published signatures', () => {
  it.each(publishedVectors().map((vector) => [vector.source, vector] as const))(
    'match, and fail when a bit is changed: %s',
    (_, { publicKeyPem, messageHex, signatureBase64 }) => {
      const key = keyOf(publicKeyPem);
      const message = Buffer.from(messageHex, 'hex');
      expect(verifySignature(message, key, signatureBase64)).toBe(true);
      expect(
        verifySignature(Buffer.concat([message, Buffer.from([0])]), key, signatureBase64),
      ).toBe(false);
      const altered = Buffer.from(signatureBase64, 'base64');
      altered.writeUInt8(altered.readUInt8(altered.length - 1) ^ 1, altered.length - 1);
      expect(verifySignature(message, key, altered.toString('base64'))).toBe(false);
    },
  );
});

const message = Buffer.from('{"id_data":"{}"}');

interface Signer {
  readonly pair: { publicKey: KeyObject; privateKey: KeyObject };
  readonly right: (signed: Buffer) => Buffer;
  readonly wrong: Readonly<Record<string, () => Buffer>>;
}

function signers(): Readonly<Record<string, Signer>> {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ed = generateKeyPairSync('ed25519');
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING };
  const ecDer = (signed: Buffer): Buffer => sign('sha256', signed, ec.privateKey);
  const edRight = (signed: Buffer): Buffer => sign(null, signed, ed.privateKey);
  return {
    rsa: {
      pair: rsa,
      right: (signed) => sign('sha256', signed, rsa.privateKey),
      wrong: {
        PSS: () => sign('sha256', message, { key: rsa.privateKey, ...pss }),
        'SHA-1': () => sign('sha1', message, rsa.privateKey),
        'SHA-512': () => sign('sha512', message, rsa.privateKey),
        MD5: () => sign('md5', message, rsa.privateKey),
        'zeros of the right length': () => Buffer.alloc(256),
        'ones of the right length': () => Buffer.alloc(256, 0xff),
        'a byte more': () =>
          Buffer.concat([sign('sha256', message, rsa.privateKey), Buffer.alloc(1)]),
        'a byte before it': () =>
          Buffer.concat([Buffer.alloc(1), sign('sha256', message, rsa.privateKey)]),
      },
    },
    ecdsa: {
      pair: ec,
      right: ecDer,
      wrong: {
        'r and s side by side': () =>
          sign('sha256', message, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
        'SHA-1': () => sign('sha1', message, ec.privateKey),
        'SHA-384': () => sign('sha384', message, ec.privateKey),
        'an empty sequence': () => Buffer.from('3000', 'hex'),
        'r and s of one': () => Buffer.from('3006020101020101', 'hex'),
        'no DER': () => Buffer.alloc(70, 0x41),
        'a length that lies': () => {
          const der = ecDer(message);
          der.writeUInt8(der.readUInt8(1) + 1, 1);
          return der;
        },
      },
    },
    ed25519: {
      pair: ed,
      right: edRight,
      wrong: {
        'zeros of the right length': () => Buffer.alloc(64),
        'a byte more': () => Buffer.concat([edRight(message), Buffer.alloc(1)]),
        'a byte less': () => edRight(message).subarray(0, 63),
        'its halves exchanged': () => {
          const right = edRight(message);
          return Buffer.concat([right.subarray(32), right.subarray(0, 32)]);
        },
      },
    },
  };
}

describe.each(Object.entries(signers()))(
  'a signature of kind %s',
  (_kind, { pair, right, wrong }) => {
    const key = publicKeyOf(pair);
    const validSignature = right(message).toString('base64');

    it('matches the bytes that were signed', () => {
      expect(verifySignature(message, key, validSignature)).toBe(true);
    });

    it('matches no bytes that are changed, longer or shorter by one', () => {
      for (let index = 0; index < message.length; index += 1) {
        const altered = Buffer.from(message);
        altered.writeUInt8(altered.readUInt8(index) ^ 0x20, index);
        expect(verifySignature(altered, key, validSignature)).toBe(false);
      }
      expect(
        verifySignature(Buffer.concat([message, Buffer.from('\n')]), key, validSignature),
      ).toBe(false);
      expect(verifySignature(message.subarray(0, -1), key, validSignature)).toBe(false);
      expect(verifySignature(Buffer.alloc(0), key, validSignature)).toBe(false);
    });

    it('distinguishes a body with a trailing line break from one without', () => {
      const longer = Buffer.concat([message, Buffer.from('\n')]);
      const withBreak = right(longer).toString('base64');
      expect(verifySignature(longer, key, withBreak)).toBe(true);
      expect(verifySignature(message, key, withBreak)).toBe(false);
    });

    it.each(Object.entries(wrong))('does not match as %s', (_, make) => {
      expect(verifySignature(message, key, make().toString('base64'))).toBe(false);
    });

    it.each<[string, (text: string) => string]>([
      ['base64url', (text) => `${text.replaceAll('+', '-').replaceAll('/', '_')}-_-_`],
      ['hexadecimal', (text) => Buffer.from(text, 'base64').toString('hex')],
      ['base64 of base64', (text) => Buffer.from(text).toString('base64')],
      ['cut short', (text) => text.slice(0, -4)],
      ['a stray character', (text) => `${text.slice(0, 8)}!${text.slice(8)}`],
      ['a space inside', (text) => `${text.slice(0, 8)} ${text.slice(8)}`],
      ['a line break inside', (text) => `${text.slice(0, 8)}\n${text.slice(8)}`],
      ['padding without need', (text) => `${text}====`],
      ['two of them in a list', (text) => `${text}, ${text}`],
      ['quotes', (text) => `"${text}"`],
      ['its algorithm before it', (text) => `sha256=${text}`],
      ['nothing', () => ''],
    ])('does not match when written as %s', (_, rewrite) => {
      expect(verifySignature(message, key, rewrite(validSignature))).toBe(false);
    });

    it('does not match any other key, whatever its kind', () => {
      for (const otherSigner of Object.values(signers())) {
        expect(verifySignature(message, publicKeyOf(otherSigner.pair), validSignature)).toBe(false);
      }
    });
  },
);

describe('the Base64 padding of a signature', () => {
  it('is required', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const validSignature = sign(null, message, privateKey).toString('base64');
    expect(validSignature.endsWith('==')).toBe(true);
    const key = publicKeyOf({ publicKey });
    expect(verifySignature(message, key, validSignature)).toBe(true);
    expect(verifySignature(message, key, validSignature.slice(0, -1))).toBe(false);
    expect(verifySignature(message, key, validSignature.slice(0, -2))).toBe(false);
  });
});
