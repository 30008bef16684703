import { describe, expect, it } from 'vitest';
import { isSameSecret } from './same-secret.ts';

const secret = 'Zm9vYmFyYmF6cXV4';

describe('the comparison of two secrets', () => {
  it.each([secret, '', 'é€\u{1f600}', '\0', 'a'.repeat(100_000)])('accepts equal %.20j', (text) => {
    expect(isSameSecret(text, `${text}`)).toBe(true);
  });

  it.each([
    ['empty', ''],
    ['its beginning', secret.slice(0, -1)],
    ['longer', `${secret}A`],
    ['twice as long', secret + secret],
    ['of other letters', secret.toLowerCase()],
    ['different in the first character', `A${secret.slice(1)}`],
    ['different in the last character', `${secret.slice(0, -1)}A`],
    ['followed by a NUL', `${secret}\0`],
    ['followed by a line end', `${secret}\n`],
    ['of as many characters but other bytes', 'é'.repeat(secret.length)],
  ])('fails when one is %s', (_, other) => {
    expect(isSameSecret(secret, other)).toBe(false);
    expect(isSameSecret(other, secret)).toBe(false);
  });

  it('fails when only their replacement characters differ', () => {
    expect(isSameSecret('\ufffd', '\ufffd\ufffd')).toBe(false);
  });
});
