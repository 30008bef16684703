import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConnection, rawRequest, untilClosed } from '../testing/raw-http.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

const request = rawRequest('GET /nothing', ['Connection: keep-alive']);

async function answersTo(text: string): Promise<number> {
  const socket = await openConnection(server);
  socket.on('error', () => undefined);
  socket.write(text);
  return count(await untilClosed(socket).catch(() => ''));
}

function count(answers: string): number {
  return answers.split('HTTP/1.1 404 ').length - 1;
}

describe('pipelined requests on one connection', () => {
  it('are all answered if there are not too many', async () => {
    expect(await answersTo(request.repeat(400) + rawRequest('GET /nothing'))).toBe(401);
  });

  it('are answered in full across several data chunks', async () => {
    const parts = [request.repeat(300), request.repeat(300), rawRequest('GET /nothing')];
    const socket = await openConnection(server);
    const answers = untilClosed(socket);
    for (const part of parts) {
      socket.write(part);
      await once(socket, 'data');
    }
    expect(count(await answers)).toBe(601);
  });

  it('do not delay a request of another connection', async () => {
    const [many, single] = [await openConnection(server), await openConnection(server)];
    let answers = '';
    many.on('data', (read) => {
      answers += read;
    });
    many.write(request.repeat(300) + rawRequest('GET /nothing'));
    await once(many, 'data');
    single.write(rawRequest('GET /nothing'));
    await once(single, 'data');
    expect(count(answers)).toBeLessThan(150);
    await once(many, 'close');
    expect(count(answers)).toBe(301);
  });

  it('close their connection when thousands arrive at once', async () => {
    expect(await answersTo(request.repeat(20_000))).toBeLessThan(20_000);
  });
});
