import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { authRequestVectors } from '../../fixtures/vectors/signatures.ts';
import { readPublicKey } from './public-key.ts';

const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ecdsa: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ed25519: generateKeyPairSync('ed25519'),
} as const;
const kinds = Object.keys(keys) as (keyof typeof keys)[];

function spki(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

function read(text: string) {
  const key = readPublicKey(text);
  if ('reason' in key) throw new Error(`it was refused: it ${key.reason}`);
  return key;
}

function refusal(text: string): string {
  const key = readPublicKey(text);
  if (!('reason' in key)) throw new Error('it was taken');
  return key.reason;
}

/** Returns the base64 of a PEM block without line breaks. */
function inner(pem: string): string {
  return pem.replace(/-----[^-]+-----|\s/g, '');
}

function block(label: string, body: string): string {
  return `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
}

describe.each(kinds)('a public key of kind %s', (kind) => {
  const pem = spki(keys[kind].publicKey);

  it('is accepted, and its kind is detected', () => {
    expect(read(pem)).toMatchObject({ keyType: kind, pem });
  });

  it.each<[string, (text: string) => string]>([
    ['line ends of Windows', (text) => text.replaceAll('\n', '\r\n')],
    ['no line break at its end', (text) => text.trimEnd()],
    ['white space around it', (text) => ` \n\t${text}\n\n `],
    ['one long line', (text) => block('PUBLIC KEY', inner(text))],
    [
      'lines of 76',
      (text) => block('PUBLIC KEY', (inner(text).match(/.{1,76}/g) ?? []).join('\n')),
    ],
    [
      'lines of 10',
      (text) => block('PUBLIC KEY', (inner(text).match(/.{1,10}/g) ?? []).join('\n')),
    ],
  ])('is the same key with %s', (_, rewrite) => {
    const same = read(rewrite(pem));
    expect(same.pem).toBe(pem);
    expect(same.key.equals(keys[kind].publicKey)).toBe(true);
  });

  it('gives the same result when it is read again', () => {
    expect(read(pem)).toBe(read(pem));
  });

  it.each<[string, (text: string) => string]>([
    ['is cut off', (text) => block('PUBLIC KEY', inner(text).slice(0, -8))],
    ['has lost its beginning', (text) => block('PUBLIC KEY', inner(text).slice(8))],
    ['has no first line', (text) => text.split('\n').slice(1).join('\n')],
    ['has no last line', (text) => text.trimEnd().split('\n').slice(0, -1).join('\n')],
    ['is nothing but base64', inner],
    ['is in base64url', (text) => block('PUBLIC KEY', `${inner(text).slice(0, -4)}-_-_`)],
    ['has other words at its end', (text) => text.replace('END PUBLIC', 'END PRIVATE')],
    ['is called otherwise', (text) => text.replaceAll('PUBLIC KEY', 'RSA KEY')],
    ['is called in small letters', (text) => text.toLowerCase()],
    ['has words before it', (text) => `key: ${text}`],
    ['has words behind it', (text) => `${text}# the key`],
    ['is there twice', (text) => text + text],
    ['is followed by another one', (text) => text + spki(keys.ed25519.publicKey)],
  ])('is refused when it %s', (_, spoil) => {
    expect(refusal(spoil(pem))).not.toBe('');
  });

  it('is refused when the private key is sent instead', () => {
    const pkcs8 = keys[kind].privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(refusal(pkcs8)).toContain('PEM block of type "PRIVATE KEY"');
    expect(refusal(block('PUBLIC KEY', inner(pkcs8)))).toContain('cannot be decoded');
  });
});

describe('an Ed25519 key whose base64 ends in unused bits', () => {
  it('is read as the same key', () => {
    const pem = spki(keys.ed25519.publicKey);
    const otherTexts = [...'BCD'].map((last) => pem.replace(/.=/, `${last}=`));
    const same = otherTexts.map((text) => read(text).pem);
    expect(new Set(same)).toEqual(new Set([pem.replace(/.=/, 'A=')]));
  });
});

describe('a P-256 key in another encoding', () => {
  const pem = spki(keys.ecdsa.publicKey);

  it('is the same key when its point is compressed', () => {
    const { x = '', y = '' } = keys.ecdsa.publicKey.export({ format: 'jwk' });
    const isOdd = Buffer.from(y, 'base64url').readUInt8(31) % 2 === 1;
    const point = Buffer.concat([Buffer.from([isOdd ? 3 : 2]), Buffer.from(x, 'base64url')]);
    const head = Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex');
    const compressed = block('PUBLIC KEY', Buffer.concat([head, point]).toString('base64'));
    expect(read(compressed).pem).toBe(pem);
  });

  it('is stored with the curve name if it lists curve parameters', () => {
    const { publicKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      paramEncoding: 'explicit',
    });
    const taken = read(spki(publicKey));
    expect(spki(publicKey).length).toBeGreaterThan(300);
    expect(taken.pem.length).toBe(pem.length);
  });

  it('is refused when its point is not on the curve', () => {
    const key = Buffer.from(inner(pem), 'base64');
    key.writeUInt8(key.readUInt8(key.length - 1) ^ 1, key.length - 1);
    expect(refusal(block('PUBLIC KEY', key.toString('base64')))).toContain('cannot be decoded');
  });
});

describe('a key in another format', () => {
  const pkcs1 = keys.rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const certificate = authRequestVectors().find(({ title }) => title.endsWith(', certificate'));

  it('is refused as PKCS#1 under any PEM label', () => {
    expect(refusal(pkcs1)).toContain('"RSA PUBLIC KEY"; send SubjectPublicKeyInfo');
    expect(refusal(block('PUBLIC KEY', inner(pkcs1)))).toContain('cannot be decoded');
  });

  it('is refused as SEC 1', () => {
    const sec1 = keys.ecdsa.privateKey.export({ type: 'sec1', format: 'pem' }).toString();
    expect(refusal(sec1)).toContain('"EC PRIVATE KEY"');
  });

  it('is refused as a certificate under any PEM label', () => {
    const pem = certificate?.publicKeyPem ?? '';
    expect(refusal(pem)).toContain('"CERTIFICATE"');
    expect(refusal(block('PUBLIC KEY', inner(pem)))).toContain('cannot be decoded');
  });

  it('is refused as JWK', () => {
    const jwk = keys.ecdsa.publicKey.export({ format: 'jwk' });
    expect(refusal(JSON.stringify(jwk))).toBe('is not a single PEM block');
  });
});

describe('a key of an unsupported algorithm', () => {
  it.each<[string, () => KeyObject]>([
    ['secp224r1', () => generateKeyPairSync('ec', { namedCurve: 'P-224' }).publicKey],
    ['secp384r1', () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey],
    ['secp521r1', () => generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey],
    ['secp256k1', () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey],
    ['ed448', () => generateKeyPairSync('ed448').publicKey],
    ['x25519', () => generateKeyPairSync('x25519').publicKey],
    ['rsa-pss', () => generateKeyPairSync('rsa-pss', { modulusLength: 1024 }).publicKey],
    [
      'dsa',
      () => generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).publicKey,
    ],
    ['x448', () => generateKeyPairSync('x448').publicKey],
  ])("is refused with the algorithm's name: %s", (name, make) => {
    expect(refusal(spki(make()))).toBe(
      `has an unsupported algorithm (${name}); use RSA, ECDSA P-256 or Ed25519`,
    );
  });
});

describe('the size of an RSA key', () => {
  it.each([512, 1023])('is refused for fewer than 1024 bits: %i', (modulusLength) => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength });
    expect(refusal(spki(publicKey))).toBe(
      `is an RSA key of ${modulusLength} bits; use 1024 to 8192`,
    );
  });

  it('is accepted from 1024 bits upwards', () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    expect(read(spki(publicKey)).keyType).toBe('rsa');
  });

  it('is refused for more than 8192 bits', () => {
    expect(refusal(rsaKeyOf(8200))).toBe('is an RSA key of 8200 bits; use 1024 to 8192');
  });

  it.each([
    [64, ''],
    [65, 'is an RSA key with a public exponent of 65 bits; use 65537'],
    [2048, 'is an RSA key with a public exponent of 2048 bits; use 65537'],
  ])(
    'is refused for a large exponent, because it would slow down verification: %i',
    (bits, reason) => {
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const exponent = (2n ** BigInt(bits) - 1n).toString(16);
      const bytes = Buffer.from(exponent.length % 2 ? `0${exponent}` : exponent, 'hex');
      const jwk = { ...publicKey.export({ format: 'jwk' }), e: bytes.toString('base64url') };
      const pem = spki(createPublicKey({ key: jwk, format: 'jwk' }));
      if (reason === '') expect(read(pem).keyType).toBe('rsa');
      else expect(refusal(pem)).toBe(reason);
    },
  );
});

describe('a string that is not a key', () => {
  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['words', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@host'],
    ['an empty block', block('PUBLIC KEY', '')],
    ['random base64', block('PUBLIC KEY', Buffer.alloc(91, 7).toString('base64'))],
    ['an empty label', block('', 'AAAA')],
    ['control characters', block('PUBLIC KEY', 'AA\0A')],
    ['headers of an encrypted key', block('PUBLIC KEY', 'Proc-Type: 4,ENCRYPTED\n\nAAAA')],
  ])('is refused: %s', (_, text) => {
    expect(refusal(text)).not.toBe('');
  });

  it.each([
    ['a block that never ends', `-----BEGIN PUBLIC KEY-----${' '.repeat(1_000_000)}`],
    ['white space without a block', ' '.repeat(1_000_000)],
    ['a label that never ends', `-----BEGIN ${'A '.repeat(500_000)}`],
    ['a key in a sea of line breaks', block('PUBLIC KEY', '\n'.repeat(1_000_000))],
  ])('is refused before all of it is read: %s', (_, text) => {
    expect(refusal(text)).toBe('has more than 16384 characters');
  });

  it.each([
    ['a block that never ends', `-----BEGIN PUBLIC KEY-----${' '.repeat(16_000)}`],
    ['blocks in blocks', '-----BEGIN A-----'.repeat(900)],
  ])('is refused in less than quadratic time: %s', (_, text) => {
    expect(refusal(text)).toBe('is not a single PEM block');
  });
});

/** Builds a SubjectPublicKeyInfo of a number that merely has the size of an RSA modulus. */
function rsaKeyOf(bits: number): string {
  const modulus = Buffer.concat([Buffer.from([0]), Buffer.alloc(bits / 8, 0xff)]);
  const algorithm = Buffer.from('300d06092a864886f70d0101010500', 'hex');
  const key = der(0x30, Buffer.concat([der(0x02, modulus), Buffer.from('0203010001', 'hex')]));
  const bitString = der(0x03, Buffer.concat([Buffer.from([0]), key]));
  return block('PUBLIC KEY', der(0x30, Buffer.concat([algorithm, bitString])).toString('base64'));
}

/** Builds one DER element with a length of two bytes. */
function der(tag: number, content: Buffer): Buffer {
  const head = Buffer.from([tag, 0x82, 0, 0]);
  head.writeUInt16BE(content.length, 2);
  return Buffer.concat([head, content]);
}
