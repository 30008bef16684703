import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { rawRequest, readResponse, untilClosed } from '../testing/raw-http.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../testing/test-server.ts';
import { control } from '../testing/test-tenants.ts';
import { hasFired, plan, ruleCounts } from './testing/planned.ts';

let server: TestServer;
let device: AcceptedDevice;
let sockets: Socket[] = [];

beforeEach(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'd-1');
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await server.close();
});

const operation = 'get-configuration';
const match = { operation };
const configured = { 'connect.timeout': 'x'.repeat(200) };

/** Reads the configuration, which has a body of some 200 bytes. */
function ask(): Promise<TestResponse> {
  return server.call('get-configuration', { token: device.token });
}

async function configure(): Promise<TestResponse> {
  return server.call('set-configuration', {
    token: server.adminToken,
    parameters: { id: device.id },
    json: configured,
  });
}

/** Returns the text of the same request for a raw connection that is kept open. */
const getRequest = () =>
  rawRequest(`GET ${operations['get-configuration'].path}`, [
    'Host: test',
    `Authorization: Bearer ${device.token}`,
    'Connection: keep-alive',
  ]);

async function askRaw(request = getRequest()): Promise<Socket> {
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  sockets.push(socket);
  socket.write(request);
  return socket;
}

/** Returns the received text as soon as it matches. */
async function received(socket: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  while (!pattern.test(text)) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString('latin1');
  }
  return text;
}

/** Returns how a connection ended, `reset` or `end`, with the text received before. */
async function endOf(socket: Socket): Promise<{ text: string; how: string }> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  return new Promise((resolve) => {
    socket.once('error', () => resolve({ text, how: 'reset' }));
    // Node may report an RST that arrives with data as an end, but a write then fails.
    socket.once('end', () => {
      socket.write('x', (error) => resolve({ text, how: error ? 'reset' : 'end' }));
    });
  });
}

/** Advances the clock until the promise is settled, for a limited number of steps. */
async function passing<Result>(waiting: Promise<Result>, stepMs: number): Promise<Result> {
  let isSettled = false;
  const watched = waiting.finally(() => {
    isSettled = true;
  });
  for (let step = 0; step < 1000 && !isSettled; step += 1) {
    server.clock.advance(stepMs);
    await control(server, 'GET', '/clock');
  }
  return watched;
}

describe('a delay fault', () => {
  it.each(['before', 'after', 'body'])(
    'follows the clock of the tenant for the kind %s',
    async (when) => {
      await configure();
      await plan(server, { match, when, act: { kind: 'delay', ms: 60_000 } });
      const waiting = ask();
      await hasFired(server);
      server.clock.advance(59_999);
      const first = await Promise.race([waiting, control(server, 'GET', '/clock')]);
      expect(first).not.toHaveProperty('headers');
      server.clock.advance(1);
      const response = await waiting;
      expect([response.status, response.json()]).toEqual([200, configured]);
      expect(response.headers.get('x-svc-testbed-fault')).toBe('fault');
    },
  );

  it('is skipped when the clock is advanced', async () => {
    await plan(server, { match, act: { kind: 'delay', ms: 3_600_000 } });
    const waiting = ask();
    await hasFired(server);
    await control(server, 'POST', '/clock', { advanceSeconds: 3600 });
    expect((await waiting).status).toBe(200);
  });

  it('shows later changes if it is before the handler, and none if after it', async () => {
    for (const [id, when, seen] of [
      ['b', 'before', configured],
      ['a', 'after', {}],
    ] as const) {
      await plan(server, { id, match, when, act: { kind: 'delay', ms: 1000 } });
      const delayedCall = server.call('set-configuration', {
        token: server.adminToken,
        parameters: { id: device.id },
        json: {},
      });
      await delayedCall;
      const waiting = ask();
      for (let trip = 0; trip < 1000 && (await ruleCounts(server, id)).fired === 0; trip += 1);
      await configure();
      server.clock.advance(1000);
      expect((await waiting).json()).toEqual(seen);
    }
  });
});

describe('a pipelined request behind a delayed request', () => {
  const { path } = operations[operation];
  const headersOf = (token: string, ...more: string[]) => [
    `Authorization: Bearer ${token}`,
    ...more,
  ];

  it('gets its response after it, with a body or without', async () => {
    await plan(server, { match, act: { kind: 'delay', ms: 60_000 }, times: 'once' });
    const socket = await askRaw();
    const json = ['Content-Type: application/json', 'Content-Length: 2'];
    const keep = 'Connection: keep-alive';
    const put = rawRequest(`PUT ${path}`, headersOf(device.token, ...json, keep), '{}');
    const get = rawRequest(`GET ${path}`, headersOf(device.token, keep));
    socket.write(`${put}${get}`.repeat(20) + rawRequest(`GET ${path}`));
    await hasFired(server);
    const arrived = untilClosed(socket);
    server.clock.advance(60_000);
    const statuses = (await arrived).match(/(?<=HTTP\/1\.1 )\d+/g);
    expect(statuses).toEqual(['200', ...Array(20).fill(['204', '200']).flat(), '401']);
  });

  it('is never started when the caller disconnects', async () => {
    await plan(server, { match, act: { kind: 'delay', ms: 60_000 } });
    const socket = await askRaw();
    const line = `GET ${operations['export-audit-logs'].path}`;
    socket.write(rawRequest(line, headersOf(server.adminToken)));
    await hasFired(server);
    socket.destroy();
    let text = '';
    for (let trip = 0; trip < 1000 && !text.includes('"status":0'); trip += 1) {
      ({ text } = await control(server, 'GET', `/journal?operation=${operation}`));
    }
    expect(text).toContain('"status":0');
    ({ text } = await control(server, 'GET', '/journal?operation=export-audit-logs'));
    expect(JSON.parse(text).entries).toEqual([]);
  });
});

describe('a stall fault', () => {
  it('sends nothing until its time is over, then cuts the connection', async () => {
    await plan(server, { match, act: { kind: 'stall', maxSeconds: 5 } });
    const socket = await askRaw();
    await hasFired(server);
    const end = endOf(socket);
    server.clock.advance(5000);
    expect(await end).toEqual({ text: '', how: 'end' });
  });

  it('ends when its rule is cleared', async () => {
    await plan(server, { match, times: 'until-cleared', act: 'stall' });
    const socket = await askRaw();
    await hasFired(server);
    const end = endOf(socket);
    await control(server, 'DELETE', '/faults?id=fault');
    expect(await end).toEqual({ text: '', how: 'end' });
    expect((await ask()).status).toBe(200);
  });

  it('starts after half of the body if it is in the body', async () => {
    await configure();
    await plan(server, { match, when: 'body', act: 'stall' });
    const socket = await askRaw();
    const text = await received(socket, /\r\n\r\n.+/s);
    const { headers, body } = readResponse(text);
    expect(body.length).toBe(Math.floor(Number(headers['content-length']) / 2));
  });

  it('starts after the chosen number of bytes if it is in the body', async () => {
    await configure();
    await plan(server, { match, when: 'body', act: { kind: 'stall', afterBytes: 3 } });
    const socket = await askRaw();
    const { body } = readResponse(await received(socket, /\r\n\r\n.{3}/s));
    expect(body).toHaveLength(3);
  });

  it('does not delay the shutdown of the server', async () => {
    await plan(server, { match, act: 'stall' });
    const waiting = ask();
    await hasFired(server);
    const ended = expect(waiting).rejects.toThrow();
    await server.close();
    await ended;
    server = await startTestServer();
  });
});

describe('a reset fault', () => {
  it('replaces any response if it is before the handler', async () => {
    await plan(server, { match, act: 'reset' });
    expect(await endOf(await askRaw())).toEqual({ text: '', how: 'reset' });
    expect((await ask()).status).toBe(200);
  });

  it('keeps the written state if it is after the handler', async () => {
    await plan(server, { match: { operation: 'put-configuration' }, when: 'after', act: 'reset' });
    const put = server.call('put-configuration', { token: device.token, json: { a: 'b' } });
    await expect(put).rejects.toThrow();
    const response = await server.call('show-configuration', {
      token: server.adminToken,
      parameters: { id: device.id },
    });
    expect(response.json()).toMatchObject({ reported: { a: 'b' } });
  });

  it.each([
    ['half', (length: number) => Math.floor(length / 2)],
    ['end', (length: number) => length],
    [7, () => 7],
    [0, () => 0],
  ] as const)('follows after %s if it is in the body', async (afterBytes, expected) => {
    await configure();
    await plan(server, { match, when: 'body', act: { kind: 'reset', afterBytes } });
    const { text, how } = await endOf(await askRaw());
    const { headers, body } = readResponse(text);
    expect([body.length, how]).toEqual([expected(Number(headers['content-length'])), 'reset']);
    expect(headers['x-svc-testbed-fault']).toBe('fault');
  });

  it('counts as one fault per request, whatever happens to the connection', async () => {
    await plan(server, { match, times: { next: 2 }, act: 'reset' });
    await endOf(await askRaw());
    expect(await ruleCounts(server)).toMatchObject({ matched: 1, fired: 1, left: 1 });
  });
});

describe('a half-close fault', () => {
  it("ends the server's side, and cuts the connection a minute later", async () => {
    await plan(server, { match, act: 'half-close' });
    const socket = await askRaw();
    const { text, how } = await endOf(socket);
    expect([text, how]).toEqual(['', 'end']);
  });

  it('follows after half of the body if it is in the body', async () => {
    await configure();
    await plan(server, { match, when: 'body', act: 'half-close' });
    const { text, how } = await endOf(await askRaw());
    const { headers, body } = readResponse(text);
    expect([body.length, how]).toEqual([Math.floor(Number(headers['content-length']) / 2), 'end']);
  });
});

describe('a body fault', () => {
  beforeEach(configure);

  it("drips the body at a rate per second of the tenant's clock", async () => {
    await plan(server, { match, act: { kind: 'drip', bytesPerSecond: 100 } });
    const socket = await askRaw();
    const first = readResponse(await received(socket, /\r\n\r\n.+/s));
    expect(first.body.length).toBe(100);
    const remainingBody = received(socket, /x"}$/);
    expect(first.body + (await passing(remainingBody, 1000))).toBe(JSON.stringify(configured));
  });

  it('truncates the body below the announced length', async () => {
    await plan(server, { match, act: { kind: 'truncated', missingBytes: 10 } });
    const { text, how } = await endOf(await askRaw());
    const { headers, body } = readResponse(text);
    expect([body.length, how]).toEqual([Number(headers['content-length']) - 10, 'end']);
    await plan(server, { id: 'again', match, act: 'truncated' });
    await expect(ask()).rejects.toThrow();
  });

  it('extends the body beyond the announced length', async () => {
    await plan(server, { match, act: { kind: 'over-long', extraBytes: 5 } });
    const socket = await askRaw();
    const { headers, body } = readResponse(await received(socket, /!!!!!/));
    expect(body.length).toBe(Number(headers['content-length']) + 5);
    expect(body.slice(0, -5)).toBe(JSON.stringify(configured));
  });

  it('extends even a 204 response, which has no body, by extra bytes', async () => {
    const put = { operation: 'put-configuration' };
    await plan(server, { match: put, act: { kind: 'over-long', extraBytes: 5 } });
    const headersOf = [
      ...['Host: test', 'Connection: keep-alive', `Authorization: Bearer ${device.token}`],
      ...['Content-Type: application/json', 'Content-Length: 2'],
    ];
    const line = `PUT ${operations['put-configuration'].path}`;
    const socket = await askRaw(rawRequest(line, headersOf, '{}'));
    const { status, headers, body } = readResponse(await received(socket, /!!!!!/));
    expect([status, headers['content-length'], body]).toEqual([204, undefined, '!!!!!']);
  });

  it('sends the body in malformed chunks', async () => {
    await plan(server, { match, act: 'malformed-chunks' });
    const { text } = await endOf(await askRaw());
    const { headers, body } = readResponse(text);
    expect(headers).not.toHaveProperty('content-length');
    expect(headers['transfer-encoding']).toBe('chunked');
    expect(body).toMatch(/^[0-9a-f]+\r\n\{.*\r\nnot-a-length\r\n/s);
    await plan(server, { id: 'again', match, act: 'malformed-chunks' });
    await expect(ask()).rejects.toThrow();
  });

  it('corrupts the body without changing its length', async () => {
    await plan(server, { match, act: { kind: 'corrupted', atByte: 3, bytes: 2 } });
    const own = Buffer.from(JSON.stringify(configured));
    const response = await ask();
    expect(response.headers.get('content-length')).toBe(String(own.length));
    expect(response.text).not.toBe(own.toString());
    expect((await ask()).text).toBe(own.toString());
  });

  it.each(['truncated', 'over-long', 'malformed-chunks', 'corrupted'])(
    'does not apply to a response without a body and stays due: %s',
    async (act) => {
      await plan(server, { act });
      const json = [{ name: 'a', value: 'b' }];
      const put = await server.call('patch-attributes', { token: device.token, json });
      expect([put.status, put.headers.get('x-svc-testbed-fault')]).toEqual([200, null]);
      expect(await ruleCounts(server)).toMatchObject({ matched: 1, fired: 0, left: 1 });
    },
  );
});

describe('a server with planned faults', () => {
  it('keeps serving all other callers', async () => {
    await configure();
    await plan(server, { match: { operation, nthCall: 1 }, when: 'body', act: 'stall' });
    const stalled = await askRaw();
    await received(stalled, /\r\n\r\n.+/s);
    expect((await ask()).json()).toEqual(configured);
  });

  it('survives callers that disconnect in mid-response', async () => {
    await configure();
    const acts = ['stall', 'half-close', { kind: 'drip', bytesPerSecond: 1 }];
    const rules = acts.map((act, index) => ({ id: `r-${index}`, match, when: 'body', act }));
    await plan(server, rules);
    for (const _ of acts) {
      const socket = await askRaw();
      await received(socket, /\r\n\r\n.+/s);
      socket.destroy();
    }
    expect((await ask()).json()).toEqual(configured);
  });

  it('leaves no listeners on a connection that is reused many times', async () => {
    await configure();
    const warnings: Error[] = [];
    const keep = (warning: Error): number => warnings.push(warning);
    process.on('warning', keep);
    const acts = ['gateway-502', 'corrupted'];
    await plan(server, {
      match,
      script: Array.from({ length: 30 }, (_, n) => acts[n % 2] ?? 'pass'),
    });
    for (let call = 0; call < 30; call += 1) await ask();
    process.off('warning', keep);
    expect([warnings, (await ruleCounts(server)).fired]).toEqual([[], 30]);
  });

  it('closes a keep-alive connection after a truncated response', async () => {
    await plan(server, { match, act: { kind: 'truncated' } });
    await configure();
    expect((await untilClosed(await askRaw())).length).toBeGreaterThan(0);
  });
});
