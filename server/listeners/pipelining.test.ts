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

async function responsesTo(text: string): Promise<number> {
  const socket = await openConnection(server);
  socket.on('error', () => undefined);
  socket.write(text);
  return count(await untilClosed(socket).catch(() => ''));
}

function count(responses: string): number {
  return responses.split('HTTP/1.1 404 ').length - 1;
}

describe('pipelined requests on one connection', () => {
  it('are all answered if there are not too many', async () => {
    expect(await responsesTo(request.repeat(400) + rawRequest('GET /nothing'))).toBe(401);
  });

  it('are answered in full across several data chunks', async () => {
    const parts = [request.repeat(300), request.repeat(300), rawRequest('GET /nothing')];
    const socket = await openConnection(server);
    const responses = untilClosed(socket);
    for (const part of parts) {
      socket.write(part);
      await once(socket, 'data');
    }
    expect(count(await responses)).toBe(601);
  });

  it('do not delay a request of another connection', async () => {
    const [many, single] = [await openConnection(server), await openConnection(server)];
    let responses = '';
    many.on('data', (read) => {
      responses += read;
    });
    many.write(request.repeat(300) + rawRequest('GET /nothing'));
    await once(many, 'data');
    single.write(rawRequest('GET /nothing'));
    await once(single, 'data');
    expect(count(responses)).toBeLessThan(150);
    await once(many, 'close');
    expect(count(responses)).toBe(301);
  });

  it('close their connection when thousands arrive at once', async () => {
    expect(await responsesTo(request.repeat(20_000))).toBeLessThan(20_000);
  });
});
