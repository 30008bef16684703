import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { digestOf } from './digest.ts';
import { createLinkSigner, type SignedLink } from './link-signature.ts';
import { hashPassword, verifyPassword } from './passwords.ts';

describe('the signature of a link', () => {
  const link: SignedLink = { path: '/a/b', expire: '2026-01-01T00:00:00Z', tenantId: '' };
  const signer = createLinkSigner(seededRandom('links').bytes(32));
  const signature = signer.sign(link);

  it('matches the link that it was made for', () => {
    expect(signature).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(signer.verifies(link, signature)).toBe(true);
  });

  it.each<[string, Partial<SignedLink>]>([
    ['path', { path: '/a/c' }],
    ['letters of the path', { path: '/A/b' }],
    ['expiry', { expire: '2026-01-01T00:00:01Z' }],
    ['tenant', { tenantId: 't' }],
    ['path that swallows the next line', { path: '/a/b\nexpire=2026', expire: '' }],
  ])('does not match another %s', (_, change) => {
    expect(signer.verifies({ ...link, ...change }, signature)).toBe(false);
  });

  it.each(['', signature.slice(1), `${signature}=`, signature.toLowerCase(), '\u00e9'.repeat(43)])(
    'does not match when it is spelled differently: %s',
    (text) => {
      expect(signer.verifies(link, text)).toBe(false);
    },
  );

  it('does not match under another secret', () => {
    expect(createLinkSigner(seededRandom('other').bytes(32)).verifies(link, signature)).toBe(false);
  });
});

describe('a stored password hash', () => {
  let stored: string;

  beforeAll(async () => {
    stored = await hashPassword('correct horse', seededRandom('salt'));
  });

  it('matches its password', async () => {
    expect(await verifyPassword('correct horse', stored)).toBe(true);
  });

  it.each(['', 'correct hors', 'correct horse ', 'Correct horse', 'correct\0horse', 'the hash'])(
    'does not match another password: %j',
    async (password) => {
      const given = password === 'the hash' ? stored : password;
      expect(await verifyPassword(given, stored)).toBe(false);
    },
  );

  it.each(['', 'correct horse', '0', '\0'.repeat(32)])(
    'matches no password if it is absent: %j',
    async (password) => expect(await verifyPassword(password, undefined)).toBe(false),
  );

  it('never contains the password, and differs each time', async () => {
    const random = seededRandom('salts');
    const first = await hashPassword('abcdefgh', random);
    const second = await hashPassword('abcdefgh', random);
    expect(first).not.toBe(second);
    expect(first).not.toContain('abcdefgh');
    expect(await verifyPassword('abcdefgh', first)).toBe(true);
    expect(await verifyPassword('abcdefgh', second)).toBe(true);
  });
});

describe('a digest of a secret', () => {
  it('is SHA-256 in hexadecimal', () => {
    expect(digestOf('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(digestOf('abd')).not.toBe(digestOf('abc'));
  });
});
