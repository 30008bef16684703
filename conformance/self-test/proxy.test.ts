import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { opcodes } from '../target/frames.ts';
import { ActiveDefect } from './active-defect.ts';
import { ownResponse, withHeaders, withStatus, withText } from './alter.ts';
import type { Alteration, Defect } from './defect.ts';
import { DefectProxy } from './proxy.ts';

const configurationPath = operations['get-configuration'].path;
const connectPath = operations.connect.path;

function planting(alteration: Alteration, operations_: Defect['operations'] = 'all'): ActiveDefect {
  return new ActiveDefect({ operations: operations_, alter: () => alteration });
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function proxyBefore(targetUrl: string, planted?: ActiveDefect): Promise<DefectProxy> {
  const proxy = await DefectProxy.open({
    targetUrl,
    names: vendorNames('X-SVC'),
    userToken: 'user-token',
    clock: systemClock,
    random: seededRandom('proxy'),
  });
  onTestFinished(() => proxy.close());
  proxy.activate(planted);
  return proxy;
}

/** Opens a proxy in front of a server with only this listener. */
async function before(listener: RequestListener, planted?: ActiveDefect): Promise<DefectProxy> {
  return proxyBefore(await listening(createServer(listener)), planted);
}

/**
 * Sends these bytes, which must request to close the connection, and returns everything received.
 */
async function exchanged(baseUrl: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  socket.write(bytes, 'latin1');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}

const odd: RequestListener = (request, response) => {
  response.sendDate = false;
  response.writeHead(299, 'Quite Fine', [
    ...['X-Seen', `${request.method} ${request.url}`],
    ...['X-Twice', 'one', 'X-Twice', 'two', 'x-SPELT', 'oddly \u00e9'],
    ...['Content-Length', '3', 'Connection', 'close'],
  ]);
  response.end('a\u0000b');
};

describe('a defect proxy without a defect', () => {
  it('passes a response on unchanged, byte by byte', async () => {
    const targetUrl = await listening(createServer(odd));
    const proxy = await proxyBefore(targetUrl);
    const bytes = 'GET /a%2Fb?c=d&c=%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    const direct = await exchanged(targetUrl, bytes);
    expect(direct).toContain('299 Quite Fine');
    expect(await exchanged(proxy.baseUrl, bytes)).toBe(direct);
  });

  it('passes a request on with the spelling of its headers, Host and body', async () => {
    const seen: { headers: string[]; body: string }[] = [];
    const proxy = await before(async (request, response) => {
      seen.push({ headers: request.rawHeaders, body: await text(request) });
      response.writeHead(204, { connection: 'close' }).end();
    });
    const headers = ['HOST', 'devices.example', 'x-One', '1', 'X-one', '2', 'Content-Length', '4'];
    const lines = ['HOST: devices.example', 'x-One: 1', 'X-one: 2', 'Content-Length: 4'];
    await exchanged(proxy.baseUrl, `PUT / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\nbody`);
    // The Connection header applies only to one hop, so the proxy sets its own.
    expect(seen).toEqual([{ headers: [...headers, 'Connection', 'keep-alive'], body: 'body' }]);
  });

  it('passes chunks on as they arrive, before the response is complete', async () => {
    let proceed = (): void => undefined;
    const proxy = await before((_, response) => {
      response.write('first');
      proceed = () => response.end('second');
    });
    const response = await fetch(`${proxy.baseUrl}/`);
    expect(response.headers.get('transfer-encoding')).toBe('chunked');
    const parts: string[] = [];
    for await (const part of response.body ?? []) {
      parts.push(Buffer.from(part).toString());
      proceed();
    }
    expect(parts).toEqual(['first', 'second']);
  });

  it('passes on a partial response, an empty response and a response to HEAD', async () => {
    const proxy = await before((request, response) => {
      if (request.headers.range) {
        response.writeHead(206, { 'content-range': 'bytes 1-2/4', 'content-length': 2 }).end('bc');
      } else if (request.method === 'HEAD') response.writeHead(200, { 'content-length': 4 }).end();
      else response.writeHead(204).end();
    });
    const part = await fetch(proxy.baseUrl, { headers: { range: 'bytes=1-2' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      'bytes 1-2/4',
      'bc',
    ]);
    const head = await fetch(proxy.baseUrl, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '4']);
    expect((await fetch(proxy.baseUrl)).status).toBe(204);
  });

  it('passes on a malformed request and the response to it', async () => {
    const proxy = await before(() => undefined);
    expect(await exchanged(proxy.baseUrl, 'NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('closes the connection when the target does, even in the middle of a response', async () => {
    const silent = await before((request) => request.socket.destroy());
    await expect(fetch(silent.baseUrl)).rejects.toThrow('fetch failed');
    const broken = await before((_, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('half', () => response.destroy());
    });
    const response = await fetch(broken.baseUrl);
    await expect(response.text()).rejects.toThrow('terminated');
  });

  it('prepends the path of the target to a request', async () => {
    const targetUrl = await listening(createServer(odd));
    const proxy = await proxyBefore(`${targetUrl}/family`);
    expect(proxy.baseUrl).toMatch(/\/family$/);
    const response = await fetch(`${proxy.baseUrl}/x`);
    expect(response.headers.get('x-seen')).toBe('GET /family/x');
  });
});

describe('a defect proxy with a defect', () => {
  const plain: RequestListener = (_, response) => {
    response.writeHead(200, { 'X-Kept': 'as it is', 'content-length': '4' }).end('good');
  };

  it('counts no change when the alterations return what they received', async () => {
    const planted = planting({
      response: (response) => ({ ...response }),
      request: (request) => request,
    });
    const proxy = await before(odd, planted);
    const response = await fetch(`${proxy.baseUrl}/`);
    expect([response.statusText, await response.text()]).toEqual(['Quite Fine', 'a\u0000b']);
    expect(planted.changes).toBe(0);
  });

  it('adjusts the length of a changed body, and counts the change', async () => {
    const planted = planting({ response: (response) => withText(response, 'worse than that') });
    const proxy = await before(plain, planted);
    const response = await fetch(proxy.baseUrl);
    expect(await response.text()).toBe('worse than that');
    expect(response.headers.get('content-length')).toBe('15');
    expect(response.headers.get('x-kept')).toBe('as it is');
    expect(planted.changes).toBe(1);
  });

  it('sends neither length nor type with a response without a body', async () => {
    const proxy = await before(
      plain,
      planting({ response: (response) => withStatus(response, 204) }),
    );
    const response = await fetch(proxy.baseUrl);
    expect([response.status, response.headers.get('content-length')]).toEqual([204, null]);
  });

  it('sends a chunked response with a length when an alteration removes the coding', async () => {
    const unchunked = planting({
      response: (response) => withHeaders(response, { 'transfer-encoding': undefined }),
    });
    const proxy = await before((_, response) => response.end('good'), unchunked);
    const response = await fetch(proxy.baseUrl);
    expect(response.headers.get('content-length')).toBe('4');
    expect(response.headers.get('transfer-encoding')).toBeNull();
  });

  it('answers instead of the target, with a request ID and a date', async () => {
    const requests: string[] = [];
    const proxy = await before(
      (request) => requests.push(request.url ?? ''),
      planting({ request: () => ownResponse(418, { error: 'no' }) }),
    );
    const response = await fetch(proxy.baseUrl);
    expect(response.status).toBe(418);
    expect(await response.json()).toEqual({ error: 'no' });
    expect(response.headers.get('x-svc-requestid')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('date')).not.toBeNull();
    expect(requests).toEqual([]);
  });

  it('sends a changed request with the length of its new body', async () => {
    const proxy = await before(
      async (request: IncomingMessage, response) => response.end(await text(request)),
      planting({ request: (request) => withText(request, 'something longer') }),
    );
    const response = await fetch(proxy.baseUrl, { method: 'POST', body: 'short' });
    expect(await response.text()).toBe('something longer');
  });

  it('does not change the exchanges of other operations', async () => {
    const planted = planting({ response: (response) => withStatus(response, 500) }, [
      'get-configuration',
    ]);
    const proxy = await before(plain, planted);
    expect((await fetch(`${proxy.baseUrl}/elsewhere`)).status).toBe(200);
    expect((await fetch(proxy.baseUrl + configurationPath, { method: 'PUT' })).status).toBe(200);
    expect((await fetch(proxy.baseUrl + configurationPath)).status).toBe(500);
  });

  it('lets an alteration send another request to the target', async () => {
    let count = 0;
    const proxy = await before(
      (_, response) => response.end(String(++count)),
      planting({ response: (_, request, send) => send(request) }),
    );
    expect(await (await fetch(proxy.baseUrl)).text()).toBe('2');
  });
});

describe('a WebSocket through the defect proxy', () => {
  /** Starts a server that echoes messages, behind a proxy; returns its WebSocket URL. */
  async function echo(planted?: ActiveDefect): Promise<string> {
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
    const proxy = await proxyBefore(await listening(server), planted);
    return proxy.baseUrl.replace('http', 'ws') + connectPath;
  }

  async function openSocket(url: string): Promise<WebSocket> {
    const socket = new WebSocket(url);
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    return socket;
  }

  async function echoed(socket: WebSocket, message: string): Promise<string> {
    const response = once(socket, 'message');
    socket.send(message);
    return String((await response)[0]);
  }

  it.each([
    ['without a defect', undefined],
    ['with one that changes no frame', planting({ frame: (frame) => frame })],
  ])('passes on messages of every length %s', async (_, planted) => {
    const socket = await openSocket(await echo(planted));
    for (const length of [0, 1, 125, 126, 65_535, 65_536, 300_000]) {
      const message = 'x'.repeat(length);
      expect(await echoed(socket, message)).toBe(message);
    }
    expect(planted?.changes ?? 0).toBe(0);
  });

  it('passes on the closing handshake with its code', async () => {
    const socket = await openSocket(await echo());
    socket.close(4001, 'enough');
    expect((await once(socket, 'close'))[0]).toBe(4001);
  });

  it('passes on a refusal with its headers and body', async () => {
    const server = createServer();
    server.on('upgrade', (_, socket) => {
      socket.end('HTTP/1.1 403 No\r\nX-Why: so\r\nContent-Length: 4\r\n\r\nbody');
    });
    const proxy = await proxyBefore(await listening(server));
    const socket = new WebSocket(proxy.baseUrl.replace('http', 'ws'));
    const [, response] = await once(socket, 'unexpected-response');
    expect([response.statusCode, response.headers['x-why']]).toEqual([403, 'so']);
    expect(await text(response)).toBe('body');
  });

  it('can have its frames replaced by a defect, which are counted', async () => {
    const planted = planting(
      {
        frame: (frame, from) =>
          from === 'target' && frame.opcode === opcodes.binary
            ? [{ ...frame, payload: Buffer.from('forged') }]
            : frame,
      },
      ['connect'],
    );
    const socket = await openSocket(await echo(planted));
    expect(await echoed(socket, 'real')).toBe('forged');
    expect(planted.changes).toBe(1);
  });

  it('may lose its caller before the response without harm to the proxy', async () => {
    const steps = new EventEmitter();
    const late: Alteration = {
      request: async ({ operation }) => {
        if (operation === 'connect') {
          steps.emit('requested');
          await once(steps, 'left');
        }
        return ownResponse(403, { error: 'x'.repeat(100_000) });
      },
    };
    const { baseUrl } = await proxyBefore('http://127.0.0.1:9', planting(late));
    const caller = connect(Number(new URL(baseUrl).port), '127.0.0.1');
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nHost: host\r\n\r\n';
    caller.write(`GET ${connectPath} HTTP/1.1\r\n${upgrade}`);
    await once(steps, 'requested');
    caller.resetAndDestroy();
    await once(caller, 'close');
    steps.emit('left');
    expect(
      await exchanged(baseUrl, 'GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'),
    ).toContain('403');
  });

  it('can be refused by a defect although the target accepts it', async () => {
    const planted = planting({ response: (response) => withStatus(response, 503) }, ['connect']);
    const socket = new WebSocket(await echo(planted));
    socket.on('error', () => socket.terminate());
    const [, response] = await once(socket, 'unexpected-response');
    expect(response.statusCode).toBe(503);
  });

  it('can have the headers of its handshake changed by a defect', async () => {
    const planted = planting({
      response: (response) => withHeaders(response, { 'sec-websocket-accept': 'wrong' }),
    });
    const socket = new WebSocket(await echo(planted));
    const [error] = await once(socket, 'error');
    expect(String(error)).toContain('Sec-WebSocket-Accept');
  });
});
