import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IdentityError } from './identity-error.ts';
import { readOwnKeys } from './own-keys.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-keys-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;

function keep(name: string, content: string | Buffer): void {
  writeFileSync(join(folder, name), content);
}

describe('the keys that the user supplies', () => {
  it('are read as PKCS#8, PKCS#1 and SEC1, in the order of their names', async () => {
    keep('c.pem', rsa.export({ type: 'pkcs1', format: 'pem' }));
    keep('a.pem', ed25519.export(pkcs8));
    keep('b.key', p256.export({ type: 'sec1', format: 'pem' }));
    keep('d.pem', rsa.export(pkcs8));
    const keys = await readOwnKeys(folder);
    expect(keys.map(({ keyType }) => keyType)).toEqual(['ed25519', 'ecdsa', 'rsa', 'rsa']);
    expect(keys[2]?.privateKey.equals(rsa)).toBe(true);
    expect(keys[3]?.privateKey.equals(rsa)).toBe(true);
  });

  it('can be in a folder with other files', async () => {
    keep('device.pem', ed25519.export(pkcs8));
    keep('README.md', 'the keys of our test devices');
    expect(await readOwnKeys(folder)).toHaveLength(1);
  });
});

describe('a folder without usable device keys', () => {
  async function refusal(): Promise<string> {
    const thrown: unknown = await readOwnKeys(folder).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(IdentityError);
    return thrown instanceof Error ? thrown.message : '';
  }

  it('is named in the error when it does not exist', async () => {
    folder = join(folder, 'absent');
    expect(await refusal()).toMatch(/^cannot read the key folder \S+absent: there is no such file/);
    folder = join(folder, '..');
  });

  it('is named in the error when no file name is that of a key', async () => {
    keep('README.md', '');
    expect(await refusal()).toMatch(/contains no key: none of its files ends in \.pem or \.key\.$/);
  });

  const encrypted = { ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'x' };
  it.each([
    ['text', 'hello', 'it is not a PEM file'],
    ['nothing', '', 'it is not a PEM file'],
    [
      'a public key',
      generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }),
      'it contains a PUBLIC KEY, not a private key',
    ],
    ['an encrypted key', ed25519.export(encrypted), 'it is encrypted; decrypt it first'],
    ['half a key', ed25519.export(pkcs8).slice(0, 60), 'it is damaged, or has an unknown format'],
    [
      'a key of another curve',
      generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export(pkcs8),
      'its curve is secp384r1; devices use P-256',
    ],
    [
      'a key for agreement',
      generateKeyPairSync('x25519').privateKey.export(pkcs8),
      'its type is x25519; devices use RSA, P-256 or Ed25519',
    ],
    [
      'a short key',
      generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey.export(pkcs8),
      'RSA with 512 bits is too short',
    ],
  ])('is refused for a file with %s', async (_, content, reason) => {
    keep('good.pem', ed25519.export(pkcs8));
    keep('wrong.pem', content);
    const message = await refusal();
    expect(message).toContain(`wrong.pem cannot be a device's key: ${reason}`);
  });

  it('is refused for a file that is far too large', async () => {
    keep('disk.pem', Buffer.alloc(100_000));
    expect(await refusal()).toMatch(/disk\.pem: it is larger than 65536 bytes/);
  });
});
