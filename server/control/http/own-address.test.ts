import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

/** Sends headers to the control listener that fetch does not allow. */
function ask(headers: Record<string, string>, path = '/overview'): Promise<number> {
  const Authorization = `Bearer ${server.controlToken}`;
  return new Promise((resolve, reject) => {
    const clientRequest = request(server.controlUrl + path, {
      headers: { Authorization, ...headers },
    });
    clientRequest.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    clientRequest.on('error', reject).end();
  });
}

describe("the control listener's check of Host and Origin", () => {
  it.each(['127.0.0.1', `127.0.0.1:8081`, 'localhost', `LOCALHOST:8081`, '[::1]:8081'])(
    'accepts the address %s',
    async (Host) => {
      expect(await ask({ Host })).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'evil.example:8081',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example@127.0.0.1',
    '127.0.0.1:80:80',
    '[::1',
    'localhost/..',
  ])('returns 403 for the Host %j at all paths despite a valid token', async (Host) => {
    expect(await ask({ Host })).toBe(403);
    expect(await ask({ Host }, '/')).toBe(403);
  });

  it.each(['http://evil.example', 'null', 'https://127.0.0.1', 'file://', 'http://localhost:1'])(
    'returns 403 for the Origin %s',
    async (Origin) => {
      expect(await ask({ Origin })).toBe(403);
    },
  );

  it('accepts requests of its own page', async () => {
    expect(await ask({ Origin: server.controlUrl })).toBe(200);
  });
});
