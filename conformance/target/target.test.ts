import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../fixtures/clock.ts';
import { serve } from '../testing/tiny-server.ts';
import { Target } from './target.ts';
import { TransportFailure } from './transport-failure.ts';

const clock = new ManualClock(Date.UTC(2026, 0, 1));
function sessionOn(baseUrl: string, signal?: AbortSignal) {
  const target = new Target({ baseUrl, clock, requestTimeLimitMs: 1000 });
  onTestFinished(() => target.close());
  return target.session({ signal });
}

/** Opens a port that accepts connections and answers each with these bytes. */
async function speaking(words: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(words);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${address && typeof address === 'object' ? address.port : 0}`;
}

describe('a request', () => {
  it('is recorded with its answer', async () => {
    const baseUrl = await serve((_, answer) => answer.writeHead(404).end('{"error":"no"}'));
    const session = sessionOn(baseUrl);
    const answer = await session.send({ method: 'PUT', url: '/x?y=1', body: '{}' });
    expect(answer).toMatchObject({ status: 404, text: '{"error":"no"}' });
    expect(session.record.exchanges).toMatchObject([
      {
        request: { line: `PUT ${baseUrl}/x?y=1`, body: '{}' },
        answer: { status: 404, body: '{"error":"no"}' },
      },
    ]);
  });

  it.each([
    ['220 mail.example ESMTP\r\n', 'not-http'],
    ['', 'connection-closed'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'connection-closed'],
  ])('that is answered by %j fails as %s', async (words, code) => {
    const session = sessionOn(await speaking(words));
    await expect(session.send({ method: 'GET', url: '/' })).rejects.toMatchObject({ code });
    expect(session.record.exchanges[0]?.failure).toBeDefined();
  });

  it('that is interrupted says so', async () => {
    const ender = new AbortController();
    const baseUrl = await serve(() => ender.abort());
    const sent = sessionOn(baseUrl, ender.signal).send({ method: 'GET', url: '/' });
    await expect(sent).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('that no header can carry is no failure of the target', async () => {
    const headers = { 'x-bad': 'line\nbreak' };
    const sent = sessionOn(await speaking('')).send({ method: 'GET', url: '/', headers });
    await expect(sent).rejects.not.toBeInstanceOf(TransportFailure);
  });
});

describe('an upgrade', () => {
  it('that is refused is an answer like any other', async () => {
    const baseUrl = await serve((_, answer) => answer.writeHead(401).end('no'));
    const headers = { connection: 'Upgrade', upgrade: 'websocket' };
    const answer = await sessionOn(baseUrl).upgrade({ method: 'GET', url: '/', headers });
    expect(answer).toMatchObject({ status: 401, text: 'no' });
    expect(answer.socket).toBeUndefined();
  });

  it('that is cut off fails', async () => {
    const asked = sessionOn(await speaking('')).upgrade({ method: 'GET', url: '/' });
    await expect(asked).rejects.toMatchObject({ code: 'connection-closed' });
  });
});
