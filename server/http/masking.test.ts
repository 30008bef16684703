import { describe, expect, it } from 'vitest';
import { masked, maskHeaders, maskJson, maskText } from './masking.ts';

const secret = 'S3cret-Value';
const token = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';

describe('the masking of a header', () => {
  it.each([
    ['Authorization', `Bearer ${secret}`],
    ['AUTHORIZATION', `Basic ${secret}`],
    ['Proxy-Authorization', secret],
    ['Cookie', `JWT=${secret}; theme=dark`],
    ['Set-Cookie', `JWT=${secret}; Path=/`],
    ['X-Auth-Token', secret],
    ['X-Api-Key', secret],
    ['Referer', `https://here/page?X-SVC-Signature=${secret}`],
    ['Location', `https://here/page?a=1&X-SVC-Sign%61ture=${secret}`],
    ['X-Note', `bearer ${secret}`],
    ['X-Note', `it said ${token}`.replace('c2ln', secret)],
  ])('hides the secret in %s', (name, value) => {
    const [line] = maskHeaders([name, value]);
    expect(line?.[0]).toBe(name);
    expect(line?.[1]).toContain(masked);
    expect(line?.[1]).not.toContain(secret);
  });

  it.each([
    ['Content-Type', 'application/json'],
    ['X-SVC-Signature', 'MEUCIQ=='],
    ['X-SVC-RequestId', 'abc'],
    ['Link', '</devices?page=2&per_page=20>; rel="next"'],
  ])('keeps a harmless value of %s', (name, value) => {
    expect(maskHeaders([name, value])).toEqual([[name, value]]);
  });

  it('returns a line for each of several values', () => {
    expect(maskHeaders(['Set-Cookie', ['a=1', 'b=2']])).toEqual([
      ['Set-Cookie', masked],
      ['Set-Cookie', masked],
    ]);
  });
});

describe('the masking of a JSON value', () => {
  it.each([
    { password: secret },
    { current_password: secret },
    { tenant_token: secret },
    { secret_hash: secret },
    { token: { value: secret } },
    { tokens: [secret, [secret]] },
    { nested: [{ deeper: { wifi_password: secret } }] },
    { name: 'wifi_password', value: secret },
    { name: 'wifi_password', value: [secret] },
    { private_key: secret },
    { uri: `HTTPS://here/file?X-SVC-Expire=1&X-SVC-Signature=${secret}&tenant_id=` },
    { uri: `https://here/file?%58-SVC-Signatur%65=${secret}` },
    { note: `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY-----` },
    { note: `-----BEGIN PRIVATE KEY-----\n${secret}` },
    { id_data: `{"mac":"a","token":"${secret}"}` },
    JSON.parse(`{"__proto__": {"password": "${secret}"}}`),
  ])('hides the secret: %j', (value) => {
    const maskedText = JSON.stringify(maskJson(value));
    expect(maskedText).toContain(masked);
    expect(maskedText).not.toContain(secret);
  });

  it('hides a number in place of a secret', () => {
    expect(maskJson({ password: 12345678 })).toEqual({ password: masked });
  });

  it.each([
    { artifact_name: 'release-1', device_type: 'board' },
    { token_id: 'abc', expires_in: 60, token_expires_at: 'never' },
    { name: 'mac', value: 'aa:bb' },
    { pubkey: '-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----\n' },
    // This is base64 that happens to contain a word for a secret.
    { pubkey: '-----BEGIN PUBLIC KEY-----\nMCowBQAJwTwz0A5=\n-----END PUBLIC KEY-----\n' },
    { pubkey: '-----BEGIN PUBLIC KEY-----\nMFkw/TokenA51Q==\n-----END PUBLIC KEY-----\n' },
    [1, true, null, 'text'],
  ])('keeps a value without secrets: %j', (value) => {
    expect(maskJson(value)).toEqual(value);
  });

  it('omits the content of a value beyond a nesting depth', () => {
    let value: unknown = secret;
    for (let depth = 0; depth < 5000; depth += 1) value = [value];
    expect(JSON.stringify(maskJson(value))).not.toContain(secret);
  });

  it('accepts values that JSON cannot represent', () => {
    const value = { offset: 2n ** 60n, blob: new Uint8Array([1, 2, 3]), password: 7n };
    expect(maskJson(value)).toEqual({ offset: String(2n ** 60n), blob: 'AQID', password: masked });
  });
});

describe('the masking of non-JSON text', () => {
  it.each([
    `{"password": "${secret}`,
    `{"password": "${secret}" "and more`,
    `{'password': '${secret}'}`,
    `{password: ${secret}}`,
    `{"password": "with spaces ${secret} and \\" quotes", "a": }`,
    `[{"name": "wifi_password", "value": "${secret}`,
    `[{"value": "${secret}", "name": "wifi_password"}, {`,
    `email=a%40b&password=${secret}&x=1`,
    `password=${secret}`,
    `tenant_token:${secret}`,
    `--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n${secret}\r\n--b--`,
    `Authorization: Bearer ${secret}`,
    `curl -H "Authorization: Basic ${secret}"`,
    `GET /x?token=${secret} HTTP/1.1`,
    `"{\\"password\\":\\"${secret}\\"}`,
  ])('hides the secret: %j', (text) => {
    expect(maskText(text)).toContain(masked);
    expect(maskText(text)).not.toContain(secret);
  });

  it.each([
    'the artifact was installed at 12:00:00',
    'GET /devices?status=accepted&per_page=20',
    'a: b, c=d; "e": "f"',
  ])('keeps a string without secrets: %s', (text) => {
    expect(maskText(text)).toBe(text);
  });

  it('leaves an already masked text unchanged', () => {
    const once = maskText(`password=${secret}&{"password": "${secret}"}`);
    expect(maskText(once)).toBe(once);
  });

  it.each([
    'a ',
    '"a":',
    'eyJ-',
    'name="',
    '-----BEGIN ',
    '\\"a\\":\\"',
    '"name":"a"',
    '"value":1,',
    'a=',
    ' : ',
  ])('keeps a long repetition unchanged: %j', (chunk) => {
    const text = chunk.repeat(Math.ceil(16_384 / chunk.length));
    expect(maskText(text)).toBe(text);
  });
});
