import { describe, expect, it } from 'vitest';
import { ExchangeRecord, exchangeOf } from './exchange.ts';
import { Mask } from './mask.ts';

const token = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJkZXZpY2UifQ.c2lnbmF0dXJl';

describe('Mask', () => {
  it('takes out a learned secret wherever it stands, also escaped', () => {
    const mask = new Mask();
    mask.learn('pa"ss/word');
    const written = mask.value({
      plain: 'before pa"ss/word after',
      json: '{"password":"pa\\"ss/word"}',
      query: '?p=pa%22ss%2Fword',
      list: [{ 'pa"ss/word': 1 }, null, true],
    });
    expect(JSON.stringify(written)).not.toMatch(/ss(\/|%2F)word/);
    expect(written.list[1]).toBeNull();
  });

  it('takes out the longer of two secrets of which one begins the other', () => {
    const mask = new Mask();
    mask.learn('secret');
    mask.learn('secret-and-more');
    expect(mask.text('the secret-and-more.')).toBe('the <masked>.');
  });

  it('takes out every JWT, learned or not', () => {
    expect(new Mask().text(`{"token":"${token}"}`)).toBe('{"token":"<masked>"}');
  });

  it.each([
    'http://host/file?x-svc-expire=1&x-svc-signature=abc%2Bdef&tenant_id=',
    'http://host/file?X-Amz-Signature=abcdef',
    '{"uri":"http://host/file?a=1&x-men-signature=abcdef"}',
  ])('takes the signature out of %s', (text) => {
    expect(new Mask().text(text)).not.toContain('abc');
  });

  it('learns nothing from a text too short to be a secret', () => {
    const mask = new Mask();
    mask.learn('abc');
    expect(mask.text('abcdef')).toBe('abcdef');
  });
});

describe('an exchange that is written down', () => {
  const answer = { status: 200, headers: {}, bytes: Buffer.from('{}') };

  it('shows the scheme of an Authorization header, not its token', () => {
    const headers = { authorization: 'Bearer opaque', cookie: 'JWT=opaque; other=thing' };
    const { request } = exchangeOf({ method: 'GET', url: '/', headers }, answer, 1.4);
    expect(request.headers).toEqual({
      authorization: 'Bearer <masked>',
      cookie: 'JWT=<masked>; other=<masked>',
    });
  });

  it('describes bytes that are no text', () => {
    const bytes = Buffer.from([0, 255, 1]);
    const { answer: written } = exchangeOf({ method: 'GET', url: '/' }, { ...answer, bytes }, 1);
    expect(written?.body).toBe('<3 bytes, not text>');
  });

  it('cuts a long body and says how much is missing', () => {
    const body = 'x'.repeat(5000);
    const { request } = exchangeOf({ method: 'PUT', url: '/', body }, answer, 1);
    expect(request.body).toMatch(/^x{4096}<904 more>$/);
  });

  it('tells why there is no answer', () => {
    const written = exchangeOf({ method: 'GET', url: '/' }, new Error('closed'), 1);
    expect(written).toMatchObject({ failure: 'closed' });
    expect(written).not.toHaveProperty('answer');
  });

  it('makes room for newer ones', () => {
    const record = new ExchangeRecord();
    for (let count = 0; count < 45; count++) {
      record.add(exchangeOf({ method: 'GET', url: `/${count}` }, answer, 1));
    }
    expect(record.exchanges).toHaveLength(40);
    expect(record.exchanges.at(-1)?.request.line).toBe('GET /44');
    expect(record.dropped).toBe(5);
  });
});
