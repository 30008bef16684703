import { readdirSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { Mask } from '../target/mask.ts';
import { Target, type WireRequest } from '../target/target.ts';
import { blockFolder, runBlock } from '../testing/bash.ts';
import { serve } from '../testing/stub-server.ts';
import { reproScript } from './repro-script.ts';
import type { ScriptExchange } from './values.ts';

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
  const baseUrl = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      arrived.push({ method, url, headers, body: Buffer.concat(chunks) });
      response.writeHead(418, { connection: 'close' }).end('seen');
    });
  });
  const clock = new ManualClock(0);
  const client = new Target({ baseUrl, clock, requestTimeLimitMs: 5000 }).newClient();
  return {
    arrived,
    baseUrl,
    blockOf: async (request: WireRequest) => {
      await client.send(request);
      const exchange = client.exchangeList.exchanges.at(-1);
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
    ['what controls a terminal', '\u001b[31mred\u0007\u009b'],
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
    mask.addSecret('device-secret-0123456789', 'device-token');
    mask.addSecret('user-secret-0123456789', 'user-token');
    const { arrived, blockOf } = await listening(mask);
    const body = '{"a":"user-secret-0123456789\'","tenant_token":"of tenant"}';
    const headers = { authorization: 'Bearer device-secret-0123456789' };
    const block = await blockOf({ method: 'PUT', url: '/x?sig=abcdef', headers, body });
    expect(block).not.toMatch(/secret-|abcdef|of tenant/);
    expect(block).toMatch(
      /^LINK_SIGNATURE=.* any value will do\nDEVICE_TOKEN=.*\nneed DEVICE_TOKEN/m,
    );
    expect(block).toMatch(/USER_TOKEN=\$\(curl -sS -f -X POST -u/m);
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
    mask.addSecret('device-secret-0123456789', 'device-token');
    const { arrived, blockOf } = await listening(mask);
    const headers = { authorization: 'Bearer device-secret-0123456789' };
    const ran = await runBlock(await blockOf({ method: 'GET', url: '/x', headers }), folder);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/^set DEVICE_TOKEN: the body of the 200 response/);
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
    expect(block.length).toBeLessThan(4000);
  });

  it('has only visible characters, whatever the requests contain', async () => {
    const { blockOf } = await listening();
    const block = await blockOf({ method: 'PUT', url: '/', body: `a\nb\u001b\u2028${hostile}` });
    expect(block.replaceAll('\n', '')).not.toMatch(/[\p{C}\u2028\u2029]/u);
  });

  it.each([
    ['as a WebSocket client does', 'upgrade'],
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

describe('the outcome of a repro script', () => {
  const failed = { id: 'errors/x', title: 'A title.', violations: [] };

  /** Returns the run of the script of one response against a server that now gives another one. */
  async function outcomeOf(
    seen: ScriptExchange['response'],
    currentResponse: { readonly status: number; readonly body?: string | Buffer },
    finding: { readonly expected: string; readonly actual: string },
  ) {
    const baseUrl = await serve((_, response) => {
      response
        .writeHead(currentResponse.status, { 'content-type': 'x/y', connection: 'close' })
        .end(currentResponse.body);
    });
    const request = { line: `GET ${baseUrl}/`, headers: {} };
    const steps = [{ request, ...(seen && { response: seen }) }];
    const script = reproScript(steps, { baseUrl, failed: { ...failed, ...finding } });
    return { script, ...(await runBlock(script, folder, { TMPDIR: folder })) };
  }
  const headers = { 'content-type': 'x/y', date: 'Fri, 27 Nov 2026 10:00:00 GMT' };
  const ofStatus = { expected: 'status 400 or 422 for a name', actual: '204 without a body' };
  const ofBody = { expected: 'name as string', actual: "name: none, in it's" };
  const firstId = 'aaaaaaaa-0000-4000-8000-000000000001';
  const secondId = 'bbbbbbbb-1111-4111-9111-111111111112';

  it.each([
    ['1 and "reproduced" when the status is still wrong', 204, 204, 1],
    ['1 when another status came that is wrong too', 204, 500, 1],
    ['0 and "not reproduced" when an expected status came', 204, 422, 0],
  ])('is exit code %s', async (_, seen, currentStatus, code) => {
    const ran = await outcomeOf({ status: seen, headers }, { status: currentStatus }, ofStatus);
    expect([ran.code, ran.stderr]).toEqual([code, '']);
    expect(ran.stdout).toContain(`expected status 400 or 422, actual status ${currentStatus}\n`);
    expect(ran.stdout).toContain(code === 1 ? '\nreproduced\n' : '\nnot reproduced\n');
    expect(ran.script).toContain('# expected  status 400 or 422 for a name');
  });

  it.each([
    ['1 when the body is the same but for ids and times', `{"id":"${secondId}","é":1}`, 1],
    ['0 when the body has changed', `{"id":"${secondId}","name":"a"}`, 0],
  ])('is exit code %s', async (_, body, code) => {
    const seen = { status: 200, headers, body: `{"id":"${firstId}","é":1}` };
    const ran = await outcomeOf(seen, { status: 200, body }, ofBody);
    expect([ran.code, ran.stderr]).toEqual([code, '']);
    expect(ran.stdout).toContain('expected name as string\n');
  });

  it.each(['END\n', "'", '`', '$(', '"', '\\', '\n'])(
    'depends on no command that a recorded response contains after %j',
    async (separator) => {
      const body = `${separator}touch pwned;${separator}\ntouch pwned\n`;
      const seen = { status: 200, headers: { ...headers, link: `${separator}touch pwned` }, body };
      const finding = { expected: `a name${body}`, actual: body };
      const ran = await outcomeOf(seen, { status: 204 }, finding);
      expect([ran.code, ran.stderr]).toEqual([0, '']);
      expect(ran.script).not.toMatch(/^touch/m);
    },
  );

  it('is exit code 2 when a step before the judged one is answered otherwise', async () => {
    const baseUrl = await serve((_, response) => response.writeHead(401).end());
    const step = { request: { line: `GET ${baseUrl}/`, headers: {} } };
    const steps = [
      { ...step, response: { status: 200, headers } },
      { ...step, response: { status: 204, headers } },
    ];
    const script = reproScript(steps, { baseUrl, failed: { ...failed, ...ofStatus } });
    const ran = await runBlock(script, folder);
    expect(ran.code).toBe(2);
    expect(ran.stdout).toContain('cannot decide: step 1 was answered with 401 instead of 200;');
  });

  it('leaves no file, and prints the size of a body that is not text', async () => {
    const body = Buffer.from([0x1f, 0x8b, 0, 1, 2, 0xff, 0x1b, 0x5b]);
    const seen = { status: 200, headers, body: '<8 bytes, not text>' };
    const ran = await outcomeOf(seen, { status: 200, body }, ofBody);
    expect(ran.stdout).toContain('<8 bytes, not text>');
    expect(ran.stdout).not.toMatch(/[^\P{Cc}\r\n]|\ufffd/u);
    expect(ran.code).toBe(1);
    expect(readdirSync(folder).filter((name) => name.startsWith('tmp.'))).toEqual([]);
  });
});
