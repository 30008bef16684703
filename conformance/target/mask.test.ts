import { describe, expect, it } from 'vitest';
import { Mask } from './mask.ts';

const token = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJkZXZpY2UifQ.c2lnbmF0dXJl';

describe('the mask of secrets', () => {
  it('masks an added secret everywhere, even when escaped', () => {
    const mask = new Mask();
    mask.addSecret('pa"ss/word');
    const written = mask.value({
      plain: 'before pa"ss/word after',
      json: '{"password":"pa\\"ss/word"}',
      query: '?p=pa%22ss%2Fword',
      list: [{ 'pa"ss/word': 1 }, null, true],
    });
    expect(JSON.stringify(written)).not.toMatch(/ss(\/|%2F)word/);
    expect(written.list[1]).toBeNull();
  });

  it('masks the longer of two secrets when one is a prefix of the other', () => {
    const mask = new Mask();
    mask.addSecret('secret');
    mask.addSecret('secret-and-more');
    expect(mask.text('the secret-and-more.')).toBe('the <masked>.');
  });

  it('masks every JWT, even one that was not added', () => {
    expect(new Mask().text(`{"token":"${token}"}`)).toBe('{"token":"<masked>"}');
  });

  it.each([300, 60, 40, 25])('masks a JWT that was truncated to %i characters', (length) => {
    expect(new Mask().text(`got ${token.slice(0, length)}…`)).toMatch(/^got <masked>…$/);
  });

  it.each([
    'http://host/file?x-svc-expire=1&x-svc-signature=abc%2Bdef&tenant_id=',
    'http://host/file?X-Amz-Signature=abcdef',
    'next=http%3A%2F%2Fhost%2Ffile%3Fa%3D1%26x-men-signature%3Dabc%252B%26b%3D1',
    '{"uri":"http://host/file?a=1&x-men-signature=abcdef"}',
  ])('masks the signature in %s', (text) => {
    expect(new Mask().text(text)).not.toContain('abc');
  });

  it('ignores a string that is too short to be a secret', () => {
    const mask = new Mask();
    mask.addSecret('abc');
    expect(mask.text('abcdef')).toBe('abcdef');
  });

  it('shows the kind of each secret', () => {
    const mask = new Mask();
    mask.addSecret(token, 'device-token');
    mask.addSecret('opaque-user-token', 'user-token');
    expect(mask.text(`${token} and opaque-user-token`)).toBe(
      '<masked:device-token> and <masked:user-token>',
    );
  });

  it.each([
    [`${token.slice(0, -1)}A`, 'signature'],
    [token.replace('.eyJz', '.eyJy'), 'claims'],
    [`${token.split('.').slice(0, 2).join('.')}.`, 'signature'],
    [token.replace('eyJh', 'eyJi'), 'header'],
  ])('shows for the altered token %s the part that was altered: %s', (altered, part) => {
    const mask = new Mask();
    mask.addSecret(token, 'device-token');
    expect(mask.text(altered)).toBe(`<masked:device-token, other ${part}>`);
  });

  it.each([
    ['{"password":"x1"}', '{"password":"<masked:password>"}'],
    ['{"current_password" : "a\\"b"}', '{"current_password" : "<masked:password>"}'],
    ['{"tenant_token":"opaque"}', '{"tenant_token":"<masked:tenant-token>"}'],
    ['{"id_data":"{\\"token\\":\\"t\\"}"}', '{"id_data":"{\\"token\\":\\"<masked>\\"}"}'],
  ])('masks the member with the name of a secret in %s', (text, masked) => {
    expect(new Mask().text(text)).toBe(masked);
  });

  it.each(['{"tenant_token":""}', '{"password":7}', '{"tokens":"two"}', '{"kind":"password"}'])(
    'does not change %s, which contains no secret',
    (text) => {
      expect(new Mask().text(text)).toBe(text);
    },
  );

  it('masks the credentials of a request wherever the response repeats them', () => {
    const exchange = {
      observation: 'told ZGV2aWNlOnNlY3JldA==',
      request: { headers: { authorization: 'Basic ZGV2aWNlOnNlY3JldA==' } },
      response: { headers: { 'x-told': 'ZGV2aWNlOnNlY3JldA==' }, body: 'Bearer nonsense' },
    };
    expect(new Mask().value(exchange)).toEqual({
      observation: 'told <masked:basic>',
      request: { headers: { authorization: 'Basic <masked:basic>' } },
      response: { headers: { 'x-told': '<masked:basic>' }, body: 'Bearer nonsense' },
    });
  });

  it('does not mask a page that came instead of a token', () => {
    const mask = new Mask();
    mask.addSecret('<html>Log in</html>', 'device-token');
    expect(mask.text('answered with 200: <html>Log in</html>')).toContain('<html>Log in</html>');
  });

  it('finds a secret in a body that is recorded byte by byte', () => {
    const mask = new Mask();
    mask.addSecret('pässwört');
    expect(mask.text(Buffer.from('pässwört').toString('latin1'))).toBe('<masked>');
  });
});
