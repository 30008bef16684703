import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ headerPrefix: 'X-MEN' });
});

afterAll(() => server.close());

const get = async (path: string) => {
  const response = await fetch(server.controlUrl + path);
  return { status: response.status, document: JSON.parse(await response.text()) };
};

describe('the reference on the control listener', () => {
  it('is OpenAPI with the addresses and header names of the server, without a token', async () => {
    const { status, document } = await get('/openapi.json');
    expect([status, document.openapi]).toEqual([200, '3.1.1']);
    expect(document.servers).toMatchObject([{ url: server.baseUrl }]);
    expect(document.paths['/clock'].servers).toMatchObject([{ url: server.controlUrl }]);
    const authentication = document.paths['/api/devices/v1/authentication/auth_requests'];
    const { parameters } = authentication.post;
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'X-MEN-Signature' }));
  });

  it('is AsyncAPI of the messages on /connect, without a token', async () => {
    const { status, document } = await get('/asyncapi.json');
    expect([status, document.asyncapi]).toEqual([200, '3.0.0']);
    expect(document.servers.api.host).toBe(new URL(server.baseUrl).host);
  });

  it('does not exist on the listener of the API', async () => {
    const responses = ['/openapi.json', '/asyncapi.json'].map((path) =>
      server.request('GET', path),
    );
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([404, 404]);
  });

  it('returns 403 when the Host header names another host, like every other path', async () => {
    const status = await new Promise((resolve) => {
      const url = `${server.controlUrl}/openapi.json`;
      request(url, { headers: { Host: 'evil.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).toBe(403);
  });
});
