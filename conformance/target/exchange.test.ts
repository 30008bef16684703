import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ExchangeList, exchangeOf, reportedExchange, reportedExchanges } from './exchange.ts';
import { Mask } from './mask.ts';

const times = { startMs: 7.2, elapsedMs: 1.4 };
const token = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJkZXZpY2UifQ.c2lnbmF0dXJl';

describe('a recorded exchange', () => {
  const response = { status: 200, headers: {}, bytes: Buffer.from('{}') };

  it('contains the scheme of an Authorization header, without the token', () => {
    const headers = {
      authorization: 'Bearer opaque-credential',
      cookie: 'JWT=opaque-credential; other=other-credential',
    };
    const { request } = new Mask().value(
      exchangeOf({ method: 'GET', url: '/', headers }, response, times),
    );
    expect(request.headers).toEqual({
      authorization: 'Bearer <masked>',
      cookie: 'JWT=<masked>; other=<masked>',
    });
  });

  it('contains invented credentials, and the kind of each known secret', () => {
    const mask = new Mask();
    mask.addSecret(token, 'device-token');
    mask.addSecret('an-opaque-user-token', 'user-token');
    const altered = `${token.slice(0, -1)}A`;
    const reportedTexts = [
      { authorization: 'Bearer nonsense', cookie: `JWT=${token}; a=b` },
      { authorization: 'Bearer an-opaque-user-token', cookie: `JWT=${altered}` },
      { authorization: `Bearer ${altered}`, cookie: 'none' },
    ].map((headers) => {
      const written = exchangeOf({ method: 'GET', url: '/', headers }, response, times);
      return Object.values(mask.value(written).request.headers);
    });
    expect(reportedTexts).toEqual([
      ['Bearer nonsense', 'JWT=<masked:device-token>; a=b'],
      ['Bearer <masked:user-token>', 'JWT=<masked:device-token, other signature>'],
      ['Bearer <masked:device-token, other signature>', 'none'],
    ]);
  });

  it('contains no cookie value that the target sets', () => {
    const set = { ...response, headers: { 'set-cookie': 'id=1; Path=/, s=2' } };
    const { response: written } = exchangeOf({ method: 'GET', url: '/' }, set, times);
    expect(written?.headers).toEqual({
      'set-cookie': 'id=<masked>; Path=<masked>, s=<masked>',
    });
  });

  it('contains the URL as it was sent', () => {
    const url = 'http://host/a/../b {x}';
    const { request } = exchangeOf({ method: 'GET', url }, response, times);
    expect(request.line).toBe('GET http://host/b%20%7Bx%7D');
  });

  it('contains its start and duration in whole milliseconds', () => {
    const written = exchangeOf({ method: 'GET', url: '/' }, response, times);
    expect(written).toMatchObject({ startMs: 7, elapsedMs: 1 });
  });

  it('describes a body that is not text', () => {
    const bytes = Buffer.from([0, 255, 1]);
    const { response: written } = exchangeOf(
      { method: 'GET', url: '/' },
      { ...response, bytes },
      times,
    );
    expect(written?.body).toBe('<3 bytes, not text>');
  });

  it('truncates a long body and states the missing length', () => {
    const body = 'ö'.repeat(20_000);
    const long = { ...response, bytes: Buffer.from('x'.repeat(5000)) };
    const written = exchangeOf({ method: 'PUT', url: '/', body }, long, times);
    expect(written.request.body).toMatch(/^ö{16384}<3616 more>$/);
    expect(written.request.bodyBytes).toBe(40_000);
    expect(reportedExchange(written).response?.body).toMatch(/^x{4096}<904 more>$/);
  });

  it('contains every byte of a request that is not UTF-8', () => {
    const body = Buffer.from([0, 255, 128, 65]);
    const { request } = exchangeOf({ method: 'PUT', url: '/', body }, response, times);
    expect(request).toMatchObject({ body: '\u0000\u00ff\u0080A', bodyEncoding: 'latin1' });
    expect(request).not.toHaveProperty('bodyBytes');
  });

  it('notes that a body was sent in chunks', () => {
    const { request } = exchangeOf({ method: 'PUT', url: '/', body: ['a', 'b'] }, response, times);
    expect(request).toMatchObject({ body: 'ab', headers: { 'transfer-encoding': 'chunked' } });
  });

  it('contains the reason when there is no response', () => {
    const written = exchangeOf({ method: 'GET', url: '/' }, new Error('closed'), times);
    expect(written).toMatchObject({ failure: 'closed' });
    expect(written).not.toHaveProperty('response');
  });

  const bytes = Buffer.alloc(20_000, 'a');

  it('replaces the oldest one when the record is full', () => {
    const record = new ExchangeList();
    for (let count = 0; count < 505; count++) {
      record.add(exchangeOf({ method: 'GET', url: `/${count}` }, response, times));
    }
    expect(record.exchanges).toHaveLength(500);
    expect(record.exchanges.at(-1)?.request.line).toBe('GET /504');
    expect(record.dropped).toBe(5);
    const reported = reportedExchanges(record.exchanges, record.dropped);
    expect([reported.exchanges.length, reported.exchangesDropped]).toEqual([40, 465]);
    expect(reported.exchanges.at(-1)?.request.line).toBe('GET /504');
  });

  it('contains the full request for the repro script, but not in reports', () => {
    const form = { fields: {}, file: { field: 'artifact', name: 'a.mender', bytes } };
    const written = [
      exchangeOf({ method: 'POST', url: '/', form }, response, times),
      exchangeOf({ method: 'POST', url: '/', body: bytes.toString() }, response, times),
    ];
    for (const { request } of written) {
      const { content = '' } = request.form ?? request;
      expect(gunzipSync(Buffer.from(content, 'base64'))).toEqual(bytes);
    }
    expect(JSON.stringify(reportedExchanges(written))).not.toContain('"content"');
  });
});

describe('a recorded signed request', () => {
  const response = { status: 401, headers: {}, bytes: Buffer.alloc(0) };
  const keys = {
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ecdsa: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    ed25519: generateKeyPairSync('ed25519'),
  };

  function signed(keyType: keyof typeof keys, body: string, signedText = body) {
    const { privateKey } = keys[keyType];
    const digest = keyType === 'ed25519' ? null : 'sha256';
    const signature = sign(digest, Buffer.from(signedText), privateKey).toString('base64');
    const headers = { 'x-svc-signature': signature };
    return exchangeOf({ method: 'POST', url: '/', headers, body }, response, times).request
      .signature;
  }

  function bodyOf(publicKey: KeyObject): string {
    return JSON.stringify({ pubkey: publicKey.export({ type: 'spki', format: 'pem' }) });
  }

  it.each(['rsa', 'ecdsa', 'ed25519'] as const)('names the type of the %s key', (keyType) => {
    const body = bodyOf(keys[keyType].publicKey);
    expect(signed(keyType, body)).toEqual({ header: 'x-svc-signature', keyType, fits: true });
    expect(signed(keyType, body, `${body} `)).toMatchObject({ keyType, fits: false });
  });

  it('notes that the signature is of another key', () => {
    expect(signed('rsa', bodyOf(keys.ed25519.publicKey))).toMatchObject({
      keyType: 'ed25519',
      fits: false,
    });
  });

  it.each(['{}', 'no JSON', '{"pubkey":"no key"}', '{"pubkey":7}'])(
    'has no signature details for the body %s',
    (body) => {
      expect(signed('rsa', body)).toBeUndefined();
    },
  );
});
