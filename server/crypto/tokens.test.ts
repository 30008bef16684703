import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import {
  createTokenIssuer,
  type TokenClaims,
  type TokenIssuer,
  tokenAlgorithms,
  tokenKeyOf,
} from './tokens.ts';

const seed = 'tokens';
const issuer = await issuerOf(seed);
const issuedAt = 1_795_262_400;
const claims: TokenClaims = { kind: 'device', subject: 'd-1', id: 'a-1', expiresAt: issuedAt + 60 };
const token = issuer.issue(claims, issuedAt);

/** Creates an issuer with Ed25519 and a key derived from the seed. */
async function issuerOf(name: string): Promise<TokenIssuer> {
  const key = await tokenAlgorithms.EdDSA.makeKey(seededRandom(name));
  return createTokenIssuer(tokenKeyOf(tokenAlgorithms.EdDSA, key));
}

/** Returns the issuer's own private key, derived from the same seed. */
function keyOfIssuer(): KeyObject {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const der = Buffer.concat([prefix, seededRandom(seed).bytes(32)]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

function encoded(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function decoded(part: number): unknown {
  return JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString());
}

/** Returns a token with changed parts that is signed with the issuer's key. */
function forged(header: unknown, payload: unknown = decoded(1)): string {
  const signed = `${encoded(header)}.${encoded(payload)}`;
  return `${signed}.${sign(null, Buffer.from(signed), keyOfIssuer()).toString('base64url')}`;
}

function hs256(header: object, key: string | Buffer): string {
  const signed = `${encoded(header)}.${encoded(decoded(1))}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

function refusal(text: string): string {
  const read = issuer.read(text);
  if (!('reason' in read)) throw new Error('the token was taken');
  return read.reason;
}

describe('an issued token', () => {
  it('names algorithm, device, authentication set and times, but no secret', () => {
    expect(decoded(0)).toEqual({ alg: 'EdDSA', typ: 'JWT' });
    expect(decoded(1)).toEqual({
      jti: 'a-1',
      sub: 'd-1',
      iss: 'fleetbed',
      iat: issuedAt,
      exp: issuedAt + 60,
      'svc.device': true,
    });
  });

  it.each<TokenClaims>([
    claims,
    { kind: 'user', subject: 'u-1', id: 'l-1', expiresAt: issuedAt },
    { kind: 'user', subject: 'u-1', id: 'l-1' },
  ])('verifies to its claims on the first and on later checks: $kind', (given) => {
    const issued = issuer.issue(given, issuedAt);
    expect(issuer.read(issued)).toEqual({ ...given, issuedAt });
    expect(issuer.read(issued)).toEqual({ ...given, issuedAt });
  });

  it('is reproducible from the seed, and invalid for another issuer', async () => {
    expect((await issuerOf(seed)).read(token)).toEqual({ ...claims, issuedAt });
    const otherIssuer = await issuerOf('other');
    expect(otherIssuer.read(token)).toEqual({ reason: 'has a signature that does not verify' });
  });
});

describe('a token that the server did not issue', () => {
  const publicKey = createPublicKey(keyOfIssuer());
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' });
  const publicDer = publicKey.export({ type: 'spki', format: 'der' });
  const [head = '', payload = '', signature = ''] = token.split('.');

  it.each([
    ['nothing', ''],
    ['dots', '..'],
    ['one part', head],
    ['two parts', `${head}.${payload}`],
    ['four parts', `${token}.${signature}`],
    ['no header', `.${payload}.${signature}`],
    ['no payload', `${head}..${signature}`],
    ['no signature', `${head}.${payload}.`],
    ['parts in another order', `${payload}.${head}.${signature}`],
    ['a signature with a stray character', `${token}!`],
    ['a signature with padding', `${token}==`],
    ['a signature with a line break', `${token}\n`],
    ['a signature in standard base64', `${head}.${payload}.${standardOf(signature)}`],
  ])('is refused: %s', (_, text) => {
    expect(refusal(text)).not.toBe('');
  });

  it.each([
    ['alg none and no signature', `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.`],
    ['alg none and a signature', forged({ alg: 'none', typ: 'JWT' })],
    ['HS256 with the public key as PEM', hs256({ alg: 'HS256', typ: 'JWT' }, String(publicPem))],
    ['HS256 with the public key as DER', hs256({ alg: 'HS256', typ: 'JWT' }, publicDer)],
    ['HS256 under our own header', hs256({ alg: 'EdDSA', typ: 'JWT' }, publicDer)],
    ['alg in small letters', forged({ alg: 'eddsa', typ: 'JWT' })],
    ['another order of the header', forged({ typ: 'JWT', alg: 'EdDSA' })],
    ['a header that names a key', forged({ alg: 'EdDSA', typ: 'JWT', kid: '../../etc/passwd' })],
    ['a header with a key of its own', forged({ alg: 'EdDSA', typ: 'JWT', jwk: {} })],
    ['RS256', forged({ alg: 'RS256', typ: 'JWT' })],
  ])('is refused whatever algorithm its header names: %s', (_, text) => {
    expect(refusal(text)).toMatch(/not issued by this server|does not verify/);
  });

  it.each([
    ['another device', { ...claimsPart(), sub: 'd-2' }],
    ['another set', { ...claimsPart(), jti: 'a-2' }],
    ['a later end', { ...claimsPart(), exp: issuedAt + 61 }],
    ['no end', (({ exp: _, ...rest }) => rest)(claimsPart())],
    ['a user', { ...claimsPart(), 'svc.user': true, 'svc.device': false }],
    ['the same, written with spaces', JSON.stringify(claimsPart(), null, 1)],
  ])('is refused with a changed payload: %s', (_, altered) => {
    expect(refusal(`${head}.${encoded(altered)}.${signature}`)).toContain('does not verify');
  });

  it('is refused with any one character of the signature changed', () => {
    for (let index = 0; index < signature.length; index += 1) {
      const otherLetter = signature[index] === 'A' ? 'B' : 'A';
      const altered = signature.slice(0, index) + otherLetter + signature.slice(index + 1);
      expect(refusal(`${head}.${payload}.${altered}`)).toContain('does not verify');
    }
  });

  it.each([
    ['no set', { sub: 'd' }],
    ['no subject', { jti: 'a' }],
    ['a subject that is not a string', { jti: 'a', sub: 7 }],
    ['an end that is not a number', { jti: 'a', sub: 'd', exp: 'soon' }],
    ['no object', ['a']],
    ['null', null],
  ])('is refused even with a valid signature when claims are missing: %s', (_, altered) => {
    expect(refusal(forged({ alg: 'EdDSA', typ: 'JWT' }, altered))).toBe('lacks claims');
  });
});

function claimsPart(): Record<string, unknown> {
  return decoded(1) as Record<string, unknown>;
}

function standardOf(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString('base64');
}
