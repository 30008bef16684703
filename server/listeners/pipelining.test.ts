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
  const answers = await untilClosed(socket).catch(() => '');
  return answers.split('HTTP/1.1 404 ').length - 1;
}

describe('requests that do not wait for their answers', () => {
  it('are all answered as long as they are not too many at once', async () => {
    expect(await answersTo(request.repeat(400) + rawRequest('GET /nothing'))).toBe(401);
  });

  it('end their connection when thousands of them come at once', async () => {
    expect(await answersTo(request.repeat(20_000))).toBeLessThan(20_000);
  });
});
