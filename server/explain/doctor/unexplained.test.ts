import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPublicKey } from '../../crypto/public-key.ts';
import { describeUnexplained } from './unexplained.ts';

const body = Buffer.from('{"id_data":"{}","pubkey":"k"}');
const otherBody = Buffer.from('{"id_data":"{}","pubkey":"another"}');
const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ecdsa: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  ed25519: generateKeyPairSync('ed25519').privateKey,
};
type Kind = keyof typeof keys;
const kinds = ['rsa', 'ecdsa', 'ed25519'] as const;

function publicKeyOf(privateKey: KeyObject) {
  const pem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  const key = readPublicKey(pem);
  if ('reason' in key) throw new Error(key.reason);
  return key;
}

const signed = (kind: Kind, message: Buffer, key = keys[kind]): Buffer =>
  sign(kind === 'ed25519' ? null : 'sha256', message, key);

const remarkOf = (kind: Kind, signatureText: string) =>
  describeUnexplained({ body, key: publicKeyOf(keys[kind]), signatureText });

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

describe('the remark on an unexplained signature', () => {
  it('states for RSA that the key is right and the digests differ', () => {
    expect(remarkOf('rsa', signed('rsa', otherBody).toString('base64'))).toMatchObject({
      cause: 'other-bytes-signed',
      sentence: expect.stringMatching(/^The key is right, but the signed bytes are not/),
      detail: `bytes with SHA-256 ${sha256(otherBody).toString('hex')} were signed; the ${body.length} bytes of the body have ${sha256(body).toString('hex')}`,
    });
  });

  it('states for RSA that another key signed', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const texts = Array.from({ length: 4 }, (_, at) =>
      signed('rsa', Buffer.from(`${at}`), privateKey).toString('base64'),
    );
    // About one in 256 signatures has a valid padding under the right key by chance.
    expect(texts.map((text) => remarkOf('rsa', text).cause)).toContain('another-key');
  });

  it.each(['ecdsa', 'ed25519'] as const)(
    'names the key or the signed bytes as the cause for %s, and a test',
    (kind) => {
      const remark = remarkOf(kind, signed(kind, otherBody).toString('base64'));
      expect(remark).toMatchObject({
        cause: 'unexplained',
        sentence: expect.stringMatching(/with another key, or over other bytes/),
        remedy: expect.stringMatching(/openssl pkey -in KEY -pubout/),
      });
    },
  );

  it.each(kinds)('reports a cut-off signature, as bytes and as one line of base64: %s', (kind) => {
    const bytes = signed(kind, body);
    const short = bytes.subarray(0, 40).toString('base64');
    const line = bytes.toString('base64').slice(0, 64);
    const odd = bytes.toString('base64').slice(0, 65);
    expect(remarkOf(kind, short)).toMatchObject({
      cause: 'cut-off',
      detail: `after 40 of ${bytes.length} bytes, ${short.length} characters`,
    });
    expect(remarkOf(kind, line).cause).toBe('cut-off');
    expect(remarkOf(kind, odd).cause).toBe('cut-off');
  });

  it.each(kinds)('reports a digest, or the length of one: %s', (kind) => {
    const own = sha256(body).toString('base64');
    expect(remarkOf(kind, own)).toMatchObject({ cause: 'digest-sent', detail: 'sha256' });
    const hmac = sha256(otherBody);
    for (const text of [hmac.toString('base64'), hmac.toString('hex')]) {
      expect(remarkOf(kind, text)).toMatchObject({
        cause: 'length-of-a-digest',
        detail: '32 bytes, as SHA-256',
      });
    }
  });

  it.each([
    ['rsa', 'ecdsa'],
    ['rsa', 'ed25519'],
    ['ecdsa', 'rsa'],
    ['ed25519', 'ecdsa'],
    ['ed25519', 'rsa'],
  ] as const)('reports another key type: %s key, %s signature', (kind, signedAs) => {
    const text = signed(signedAs, body).toString('base64');
    expect(remarkOf(kind, text).cause).toBe('other-key-type');
  });

  it.each(kinds)('reports a wrong length or invalid base64: %s', (kind) => {
    expect(remarkOf(kind, Buffer.alloc(300, 1).toString('base64')).cause).toBe('not-a-signature');
    expect(remarkOf(kind, '***')).toMatchObject({ cause: 'not-base64' });
  });

  it.each(kinds)('exists for any text and body without an error: %s', (kind) => {
    const key = publicKeyOf(keys[kind]);
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef') }),
    );
    fc.assert(
      fc.property(texts, fc.string(), (signatureText, text) => {
        const remark = describeUnexplained({ body: Buffer.from(text), key, signatureText });
        expect(remark.sentence).toMatch(/\.$/);
      }),
      { numRuns: 100 },
    );
  });
});
