import { createServer } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { serve } from '../testing/stub-server.ts';
import { Target } from './target.ts';
import { TransportFailure } from './transport-failure.ts';

const clock = new ManualClock(Date.UTC(2026, 0, 1));
function sessionOn(baseUrl: string, signal?: AbortSignal) {
  const target = new Target({ baseUrl, clock, requestTimeLimitMs: 1000 });
  onTestFinished(() => target.close());
  return target.newClient({ signal });
}

/** Opens a port that sends these bytes on each connection and closes it. */
async function speaking(received: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(received);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${address && typeof address === 'object' ? address.port : 0}`;
}

describe('a request to the target', () => {
  it('is recorded with its response', async () => {
    const baseUrl = await serve((_, response) => response.writeHead(404).end('{"error":"no"}'));
    const client = sessionOn(baseUrl);
    const response = await client.send({ method: 'PUT', url: '/x?y=1', body: '{}' });
    expect(response).toMatchObject({ status: 404, text: '{"error":"no"}' });
    expect(client.exchangeList.exchanges).toMatchObject([
      {
        request: { line: `PUT ${baseUrl}/x?y=1`, body: '{}' },
        response: { status: 404, body: '{"error":"no"}' },
      },
    ]);
  });

  it.each([
    ['220 mail.example ESMTP\r\n', 'not-http'],
    ['', 'connection-closed'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'connection-closed'],
  ])('fails on receipt of %j with the code %s', async (received, code) => {
    const client = sessionOn(await speaking(received));
    await expect(client.send({ method: 'GET', url: '/' })).rejects.toMatchObject({ code });
    expect(client.exchangeList.exchanges[0]?.failure).toBeDefined();
  });

  it.each(['gzip', 'deflate', 'br'] as const)('decodes the content coding %s', async (coding) => {
    const code = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }[coding];
    const baseUrl = await serve((_, response) =>
      response
        .writeHead(200, { 'content-encoding': coding, 'content-type': 'application/json' })
        .end(code('{"a":"ü"}')),
    );
    const response = await sessionOn(baseUrl).send({ method: 'GET', url: '/' });
    expect(response.text).toBe('{"a":"ü"}');
    expect(response.headers).not.toHaveProperty('content-encoding');
  });

  it('fails when the response is not coded as its header says', async () => {
    const baseUrl = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('plain'),
    );
    const sent = sessionOn(baseUrl).send({ method: 'GET', url: '/' });
    await expect(sent).rejects.toMatchObject({
      code: 'not-http',
      message: 'the body is not gzip, as its header says',
    });
  });

  it('fails when the decoded response exceeds the size limit', async () => {
    const bomb = gzipSync(Buffer.alloc(17 * 1_048_576));
    const baseUrl = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const sent = sessionOn(baseUrl).send({ method: 'GET', url: '/' });
    await expect(sent).rejects.toMatchObject({ code: 'response-too-large' });
  });

  it('accepts a response without a body, even if it names a coding', async () => {
    const baseUrl = await serve((_, response) =>
      response.writeHead(204, { 'content-encoding': 'gzip' }).end(),
    );
    const response = await sessionOn(baseUrl).send({ method: 'GET', url: '/' });
    expect(response).toMatchObject({ status: 204, text: '' });
  });

  it('follows redirects of a link, and sends no token to another origin', async () => {
    const storage = await serve((request, response) => {
      response.end(`${request.headers.range} ${request.headers.authorization}`);
    });
    const baseUrl = await serve((_, response) =>
      response.writeHead(307, { location: `${storage}/file` }).end(),
    );
    const headers = { authorization: 'Bearer x', range: 'bytes=0-' };
    const client = sessionOn(baseUrl);
    const response = await client.send({ method: 'GET', url: `${baseUrl}/link`, headers });
    expect(response).toMatchObject({ status: 200, text: 'bytes=0- undefined' });
    expect(client.exchangeList.exchanges.map(({ request }) => request.line)).toEqual([
      `GET ${baseUrl}/link`,
      `GET ${storage}/file`,
    ]);
  });

  it('returns a redirect if a link redirects endlessly', async () => {
    const baseUrl = await serve((_, response) => response.writeHead(302, { location: '/' }).end());
    const response = await sessionOn(baseUrl).send({ method: 'GET', url: `${baseUrl}/link` });
    expect(response.status).toBe(302);
  });

  it('follows no redirect of an operation', async () => {
    const baseUrl = await serve((_, response) => response.writeHead(302, { location: '/' }).end());
    const client = sessionOn(baseUrl);
    await client.send({ method: 'GET', url: '/api' });
    expect(client.exchangeList.exchanges).toHaveLength(1);
  });

  it('fails with the code "interrupted" when it is interrupted', async () => {
    const ender = new AbortController();
    const baseUrl = await serve(() => ender.abort());
    const sent = sessionOn(baseUrl, ender.signal).send({ method: 'GET', url: '/' });
    await expect(sent).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('does not fail as a transport failure when a header is invalid', async () => {
    const headers = { 'x-bad': 'line\nbreak' };
    const sent = sessionOn(await speaking('')).send({ method: 'GET', url: '/', headers });
    await expect(sent).rejects.not.toBeInstanceOf(TransportFailure);
  });
});

describe('a WebSocket upgrade', () => {
  it('returns an ordinary response when it is refused', async () => {
    const baseUrl = await serve((_, response) => response.writeHead(401).end('no'));
    const headers = { connection: 'Upgrade', upgrade: 'websocket' };
    const response = await sessionOn(baseUrl).upgrade({ method: 'GET', url: '/', headers });
    expect(response).toMatchObject({ status: 401, text: 'no' });
    expect(response.socket).toBeUndefined();
  });

  it('fails with "connection-closed" when it is cut off', async () => {
    const upgrading = sessionOn(await speaking('')).upgrade({ method: 'GET', url: '/' });
    await expect(upgrading).rejects.toMatchObject({ code: 'connection-closed' });
  });
});
