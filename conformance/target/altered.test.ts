import { describe, expect, it } from 'vitest';
import {
  withAlteredSignature,
  withOtherExpiry,
  withParameter,
  withSegment,
} from './altered-link.ts';
import { NotObservable } from './expectations.ts';
import { claimsOf, forgeToken, unsignedToken, withOtherClaims } from './token-claims.ts';

const link = 'http://host/a/board%202%2F%C3%B8/device?x-svc-expire=2026&x-svc-signature=Abc';

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const token = `${part({ alg: 'EdDSA' })}.${part({ sub: 'd', iat: 100, exp: 700 })}.Abc`;

describe('an altered link', () => {
  it('differs only in its signature', () => {
    expect(withAlteredSignature(link)).toBe(link.replace('=Abc', '=Bbc'));
  });

  it('differs in its last parameter when it has no signature', () => {
    expect(withAlteredSignature('http://host/a?b=1&c=2')).toBe('http://host/a?b=1&c=A');
  });

  it('lacks one parameter, or has another value for it', () => {
    expect(withParameter(link, 'x-svc-expire', undefined)).not.toContain('expire');
    expect(withParameter(link, 'x-svc-expire', '2099')).toContain('x-svc-expire=2099');
  });

  it.each([
    [
      'a date',
      'http://host/a?x-expire=2026-01-01&sig=A',
      ['http://host/a?x-expire=2099-01-01&sig=A'],
    ],
    ['seconds', 'http://host/a?X-Expires=900&sig=A', ['http://host/a?X-Expires=1800&sig=A']],
    ['no expiry time', 'http://host/a?name=expires&sig=A', []],
    ['an expiry time in another form', 'http://host/a?expires=soon', []],
  ])('ends later if it shows %s', (_, link, laterLinks) => {
    expect(withOtherExpiry(link)).toEqual(laterLinks);
  });

  it('differs in one path segment, and keeps the encoding of the others', () => {
    expect(withSegment(link, 1, 'a/b')).toBe(link.replace('/device?', '/a%2Fb?'));
    expect(withSegment(link, 3, 'z')).toContain('/z/board%202%2F%C3%B8/device?');
  });
});

describe('an altered token', () => {
  it('has a forged signature with unchanged claims', () => {
    expect(forgeToken(token)).toBe(token.replace(/Abc$/, 'Bbc'));
  });

  it('has a later expiry with an unchanged signature', () => {
    const changed = withOtherClaims(token);
    expect(claimsOf(changed).exp).toBe(701);
    expect(changed.split('.')[2]).toBe('Abc');
  });

  it('has no signature and names the algorithm "none"', () => {
    const [header = '', claims, signature] = unsignedToken(token).split('.');
    expect(Buffer.from(header, 'base64url').toString()).toContain('"none"');
    expect([claims, signature]).toEqual([token.split('.')[1], '']);
  });
});

describe('the claims of a token', () => {
  it.each(['opaque', `${part({})}.${part({ exp: 1 })}.x`, 'a.b.c'])(
    'cannot be observed in the token %s',
    (text) => {
      expect(() => claimsOf(text)).toThrow(NotObservable);
    },
  );
});
