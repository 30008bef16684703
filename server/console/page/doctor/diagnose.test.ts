import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { diagnose } from './diagnose.ts';

const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ecdsa: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ed25519: generateKeyPairSync('ed25519'),
} as const;
type KeyType = keyof typeof keys;
const keyTypes = ['rsa', 'ecdsa', 'ed25519'] as const;

const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

function signed(keyType: KeyType, body: string | Buffer): Buffer {
  const digest = keyType === 'ed25519' ? null : 'sha256';
  return sign(digest, Buffer.from(body), keys[keyType].privateKey);
}

const body = JSON.stringify({ id_data: '{"mac":"02:00"}', pubkey: 'PEM', tenant_token: 't' });

/** The same JSON with a space after each comma and colon. */
const python = String.raw`{"id_data": "{\"mac\":\"02:00\"}", "pubkey": "PEM", "tenant_token": "t"}`;

function examine(keyType: KeyType, signature: string, sent = body) {
  const pubkey = pemOf(keys[keyType].publicKey);
  return diagnose({ body: new TextEncoder().encode(sent), pubkey, signature });
}

describe.each(keyTypes)('a signature with %s', (keyType) => {
  const right = () => signed(keyType, body).toString('base64');

  it('that fits is in order, with line breaks too', async () => {
    expect(await examine(keyType, right())).toMatchObject({ isRight: true, keyType });
    const broken = right().replace(/.{40}/g, '$&\n');
    expect(await examine(keyType, broken)).toMatchObject({ isRight: true });
  });

  it.each([
    ['hexadecimal', (bytes: Buffer) => bytes.toString('hex'), /hexadecimal/],
    ['base64 twice', (b: Buffer) => Buffer.from(b.toString('base64')).toString('base64'), /twice/],
  ])('in %s is recognised', async (_, write, sentence) => {
    const found = await examine(keyType, write(signed(keyType, body)));
    expect(found.isRight).toBe(false);
    expect(found.sentence).toMatch(sentence);
  });

  it.each([
    ['a newline more', `${body}\n`, /newline/],
    ['spaces as Python has them', python, /JSON/],
    ['the identity alone', '{"mac":"02:00"}', /part of the body/],
  ])('over %s is recognised', async (_, other, sentence) => {
    const found = await examine(keyType, signed(keyType, other).toString('base64'));
    expect(found.isRight).toBe(false);
    expect(found.sentence).toMatch(sentence);
  });

  it('of another key is not explained away', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const found = await examine(keyType, sign(null, Buffer.from(body), other).toString('base64'));
    expect(found).toMatchObject({ isRight: false });
    expect(found.sentence).toContain('no usual mistake');
  });
});

describe('the doctor', () => {
  it('recognises base64url and the numbers of ECDSA side by side', async () => {
    // Until the signature has a character that base64url writes in another way.
    let nonce = 0;
    let sent = body;
    while (!/[+/]/.test(signed('rsa', sent).toString('base64'))) sent = `${body}${nonce++}`;
    const url = signed('rsa', sent).toString('base64url');
    const padded = url.padEnd(Math.ceil(url.length / 4) * 4, '=');
    expect((await examine('rsa', padded, sent)).sentence).toContain('base64url');
    const key = { key: keys.ecdsa.privateKey, dsaEncoding: 'ieee-p1363' } as const;
    const raw = sign('sha256', Buffer.from(body), key).toString('base64');
    expect((await examine('ecdsa', raw)).sentence).toContain('side by side');
  });

  it.each([
    ['rsa', 'sha1', 'SHA-1'],
    ['rsa', 'sha384', 'SHA-384'],
    ['rsa', 'sha512', 'SHA-512'],
    ['ecdsa', 'sha1', 'SHA-1'],
    ['ecdsa', 'sha384', 'SHA-384'],
    ['ecdsa', 'sha512', 'SHA-512'],
  ] as const)('recognises %s over a digest by %s', async (keyType, digest, name) => {
    const signature = sign(digest, Buffer.from(body), keys[keyType].privateKey);
    const { sentence, remedy } = await examine(keyType, signature.toString('base64'));
    expect(sentence).toContain(name);
    expect(remedy).toContain('SHA-256');
  });

  it.each([
    [constants.RSA_PSS_SALTLEN_DIGEST, 'padded by PSS.'],
    [constants.RSA_PSS_SALTLEN_MAX_SIGN, 'the longest salt'],
  ])('recognises the padding by PSS with the salt length %i', async (saltLength, part) => {
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    const key = { key: keys.rsa.privateKey, padding, saltLength };
    const signature = sign('sha256', Buffer.from(body), key).toString('base64');
    expect((await examine('rsa', signature)).sentence).toContain(part);
  });

  it.each([
    ['no key', ''],
    ['half a key', '-----BEGIN PUBLIC KEY-----\nAAAA'],
    ['no base64', '-----BEGIN PUBLIC KEY-----\n!!!\n-----END PUBLIC KEY-----'],
    ['no ASN.1', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----'],
    ['another curve', pemOf(generateKeyPairSync('ed448').publicKey)],
  ])('says that the key cannot be read: %s', async (_, pubkey) => {
    const found = await diagnose({ body: new Uint8Array(), pubkey, signature: 'AAAA' });
    expect(found.isRight).toBe(false);
    expect(found.sentence).toContain('The key cannot be read');
  });

  it.each(['', '!', 'AAAA', 'A', '00'.repeat(64), '\0', 'é'])(
    'never throws for the signature %j',
    async (signature) => {
      for (const keyType of keyTypes) {
        expect(await examine(keyType, signature)).toMatchObject({ isRight: false });
      }
    },
  );
});
