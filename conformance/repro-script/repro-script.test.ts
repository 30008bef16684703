import { rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/clock.ts';
import { Mask } from '../target/mask.ts';
import { Target, type WireRequest } from '../target/target.ts';
import { blockFolder, runBlock } from '../testing/bash.ts';
import { serve } from '../testing/tiny-server.ts';
import { reproScript } from './repro-script.ts';

interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const hostile = `'"\\$(touch pwned)\`id\`!! %s %d & | ; > # ~ * ? [] {} \u00e9 \u202e \u200b 😀`;
let folder: string;

beforeAll(() => {
  folder = blockFolder();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a server that records requests; `blockOf` sends one and returns its repro script. */
async function listening(mask = new Mask()) {
  const arrived: Arrived[] = [];
  const baseUrl = await serve((request, answer) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      arrived.push({ method, url, headers, body: Buffer.concat(chunks) });
      answer.writeHead(418, { connection: 'close' }).end('seen');
    });
  });
  const clock = new ManualClock(0);
  const session = new Target({ baseUrl, clock, requestTimeLimitMs: 5000 }).session();
  return {
    arrived,
    baseUrl,
    blockOf: async (request: WireRequest) => {
      await session.send(request);
      const exchange = session.record.exchanges.at(-1);
      if (!exchange) throw new Error('nothing was recorded');
      return reproScript([exchange], { baseUrl, mask });
    },
  };
}

/**
 * Sends a request first by the suite and then by its repro script; returns both as they arrived.
 */
async function twice(request: WireRequest): Promise<readonly [Arrived, Arrived]> {
  const { arrived, blockOf } = await listening();
  const { code, stdout, stderr } = await runBlock(await blockOf(request), folder);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^HTTP\/1\.1 418/);
  const [bySuite, again] = arrived;
  if (!bySuite || !again) throw new Error('it did not arrive twice');
  return [bySuite, again];
}

describe('a request that is repeated by its repro script', () => {
  it.each<[string, string | Buffer]>([
    ['quotes and words of the shell', hostile],
    ['a file name for curl', '@/etc/passwd'],
    ['lines and tabs', '{\n\t"a": 1\r\n}\n'],
    ['a leading dash', '--help'],
    ['what steers a terminal', '\u001b[31mred\u0007\u009b'],
    ['NUL', '{"a":"\0"}'],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0, 39, 34, 92, 10, 0x80])],
    ['digits after a control character', '\u00017'],
    ['a lone backslash', '\\'],
    ['a byte order mark', '\ufeff{}'],
  ])('carries %s in its body byte by byte', async (_, body) => {
    const headers = { 'content-type': 'application/json' };
    const [bySuite, again] = await twice({ method: 'PUT', url: '/x', headers, body });
    expect(again.body).toEqual(Buffer.from(body));
    expect(again.method).toBe('PUT');
    expect(again.headers['content-type']).toBe(bySuite.headers['content-type']);
  });

  it('carries arbitrary bytes in its body', { timeout: 60_000 }, async () => {
    const { arrived, blockOf } = await listening();
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 });
    const property = fc.asyncProperty(bytes, async (sent) => {
      const body = Buffer.from(sent);
      await runBlock(await blockOf({ method: 'POST', url: '/x', body }), folder);
      expect(arrived.at(-1)?.body).toEqual(body);
    });
    await fc.assert(property, { seed: 5, numRuns: 25 });
  });

  it('uses exactly the same URL', async () => {
    const url = "/a/../b/%2e%2e/[x]{y}'$(id)?q=%00&r='%22&s=*";
    const [bySuite, again] = await twice({ method: 'GET', url });
    expect(again.url).toBe(bySuite.url);
    expect(again.url).toContain("'$(id)?");
  });

  it('has the same headers, even empty ones, and no added Content-Type', async () => {
    const headers = { 'x-odd': `'"$HOME\`id\`;`, 'x-empty': '', 'if-match': '*' };
    const [bySuite, again] = await twice({ method: 'POST', url: '/', headers, body: 'text' });
    for (const name of [...Object.keys(headers), 'content-type']) {
      expect(again.headers[name]).toBe(bySuite.headers[name]);
    }
  });

  it.each(['DELETE', 'OPTIONS', 'PATCH', 'HEAD'])('uses the method %s', async (method) => {
    const [, again] = await twice({ method, url: '/' });
    expect(again.method).toBe(method);
  });

  it('executes no command that its body contains', async () => {
    await twice({ method: 'POST', url: '/', body: `$(touch pwned)'; touch pwned; '` });
    expect((await runBlock('ls', folder)).stdout).not.toContain('pwned');
  });
});

describe('a repro script', () => {
  it('has a variable in place of each secret, and explains how to get it', async () => {
    const mask = new Mask();
    mask.learn('device-secret-0123456789', 'device-token');
    mask.learn('user-secret-0123456789', 'user-token');
    const { arrived, blockOf } = await listening(mask);
    const body = '{"a":"user-secret-0123456789\'","tenant_token":"of tenant"}';
    const headers = { authorization: 'Bearer device-secret-0123456789' };
    const block = await blockOf({ method: 'PUT', url: '/x?sig=abcdef', headers, body });
    expect(block).not.toMatch(/secret-|abcdef|of tenant/);
    expect(block).toMatch(
      /^LINK_SIGNATURE=.* any value will do\n# DEVICE_TOKEN: .*\n# USER_TOKEN: curl -sS -X POST -u/m,
    );
    await runBlock(block, folder, {
      DEVICE_TOKEN: 'device-secret-0123456789',
      USER_TOKEN: 'user-secret-0123456789',
      TENANT_TOKEN: 'of tenant',
      LINK_SIGNATURE: 'abcdef',
    });
    const [bySuite, again] = arrived;
    expect(again?.body).toEqual(bySuite?.body);
    expect(again?.url).toBe('/x?sig=abcdef');
    expect(again?.headers.authorization).toBe(headers.authorization);
  });

  it('does not run while a secret is missing', async () => {
    const mask = new Mask();
    mask.learn('device-secret-0123456789', 'device-token');
    const { arrived, blockOf } = await listening(mask);
    const headers = { authorization: 'Bearer device-secret-0123456789' };
    const ran = await runBlock(await blockOf({ method: 'GET', url: '/x', headers }), folder);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain('DEVICE_TOKEN');
    expect(arrived).toHaveLength(1);
  });

  it.each([
    ['is long', 'x'.repeat(70_000)],
    ['comes in chunks', ['[{"a":', '1}]']],
  ])('sends a body that %s unchanged, even when its lines are indented', async (_, body) => {
    const { arrived, blockOf } = await listening();
    const block = await blockOf({ method: 'PUT', url: '/', body });
    await runBlock(block.replaceAll('\n', '\n    '), folder);
    const [bySuite, again] = arrived;
    expect(again?.body.equals(bySuite?.body ?? Buffer.of())).toBe(true);
    expect(again?.headers['transfer-encoding']).toBe(bySuite?.headers['transfer-encoding']);
    expect(block.length).toBeLessThan(1000);
  });

  it('has one command on each line, with only visible characters', async () => {
    const { blockOf } = await listening();
    const block = await blockOf({ method: 'PUT', url: '/', body: `a\nb\u001b\u2028${hostile}` });
    expect(block.replaceAll('\n', '')).not.toMatch(/[\p{C}\u2028\u2029]/u);
    const commands = block.split('\n').filter((line) => !line.startsWith('#'));
    expect(commands.slice(0, -1).every((line) => line.endsWith('\\'))).toBe(true);
  });

  it.each([
    ['as a websocket client does', 'upgrade'],
    ['with header names in capital letters', 'UPGRADE'],
  ])('requests an upgrade %s, and ends', async (_, name) => {
    const { arrived, baseUrl } = await listening();
    const key = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const headers = { connection: 'Upgrade', [name]: 'websocket', ...key };
    const script = reproScript([{ request: { line: `GET ${baseUrl}/`, headers } }], { baseUrl });
    await runBlock(script, folder);
    expect(arrived.at(-1)?.headers).toMatchObject({
      upgrade: 'websocket',
      ...key,
    });
    expect(script).toContain('--max-time');
  });
});
