import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import {
  openConnection,
  rawRequest,
  readResponse,
  sendRaw,
  untilClosed,
} from '../testing/raw-http.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'listener');
});

afterAll(() => server.close());

const { path } = operations['get-configuration'];

function authorization(): string {
  return `Authorization: Bearer ${device.token}`;
}

describe('bytes that cannot be parsed as HTTP', () => {
  it('return 400 in place of a chunk, even in mid-body', async () => {
    const head = `PUT ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${authorization()}\r\n\r\n`;
    expect((await sendRaw(server, `${head}zz\r\n{}\r\n0\r\n\r\n`)).status).toBe(400);
  });

  it('do not affect the next connection', async () => {
    await sendRaw(server, 'nonsense\r\n\r\n');
    expect((await server.call('get-configuration', { token: device.token })).status).toBe(200);
  });
});

describe('a readable but unusual request', () => {
  it('returns 400 in HTTP/1.1 without a Host header or with two, whatever its path', async () => {
    for (const target of [path, '/api/management/v1/deployments/artifacts/x', '/nothing']) {
      const bare = await sendRaw(server, `GET ${target} HTTP/1.1\r\nConnection: close\r\n\r\n`);
      expect([bare.status, JSON.parse(bare.body)]).toEqual([
        400,
        {
          error: 'the Host header is missing; HTTP/1.1 requires it',
          request_id: bare.headers['x-svc-requestid'],
        },
      ]);
    }
    const two = rawRequest(`GET ${path}`, ['Host: test', 'host: other.example', authorization()]);
    const twice = await sendRaw(server, two);
    expect([twice.status, JSON.parse(twice.body).error]).toEqual([
      400,
      'the Host header was sent more than once; send one',
    ]);
    const older = `GET ${path} HTTP/1.0\r\n${authorization()}\r\n\r\n`;
    expect((await sendRaw(server, older)).status).toBe(200);
  });

  it.each(['http://fleet.example', 'HTTPS://fleet.example:8443', 'http://[::1]:80'])(
    'may have a target in absolute form: %s',
    async (origin) => {
      const known = rawRequest(`GET ${origin}${path}?page=1`, [authorization()]);
      expect((await sendRaw(server, known)).status).toBe(200);
      expect((await sendRaw(server, rawRequest(`GET ${origin}${path}/x`))).status).toBe(404);
      expect((await sendRaw(server, rawRequest(`GET ${origin}`))).status).toBe(404);
    },
  );

  it.each(['CONNECT fleet.example:443', 'OPTIONS *', 'GET *', 'TRACE /'])(
    'returns 404 with an Error body for a target outside the API: %s',
    async (line) => {
      const response = await sendRaw(server, rawRequest(line));
      expect(response.status).toBe(404);
      expect(JSON.parse(response.body).request_id).toBe(response.headers['x-svc-requestid']);
    },
  );

  it('may have an unknown Expect header', async () => {
    const response = await sendRaw(server, rawRequest(`GET ${path}`, ['Expect: tea']));
    expect(response.status).toBe(401);
    expect(response.headers).toHaveProperty('x-svc-requestid');
  });

  it('may share a packet with others, and the responses keep their order', async () => {
    const socket = await openConnection(server);
    const get = `GET ${path} HTTP/1.1\r\nHost: a\r\n`;
    socket.write(`${get}${authorization()}\r\n\r\n${get}\r\n${rawRequest('GET /nowhere')}`);
    const responses = (await untilClosed(socket)).split(/(?=HTTP\/1\.1 \d)/);
    expect(responses.map((response) => readResponse(response).status)).toEqual([200, 401, 404]);
  });

  it('may arrive in several pieces', async () => {
    const socket = await openConnection(server);
    const text = rawRequest(`GET ${path}`, [authorization()]);
    for (const chunk of [text.slice(0, 3), text.slice(3, 40), text.slice(40)]) {
      if (!socket.write(chunk)) await once(socket, 'drain');
    }
    expect(readResponse(await untilClosed(socket)).status).toBe(200);
  });

  it('is authorized by its first Authorization header alone', async () => {
    const second = 'Authorization: Bearer other';
    const text = rawRequest(`GET ${path}`, [authorization(), second]);
    expect((await sendRaw(server, text)).status).toBe(200);
    const turned = rawRequest(`GET ${path}`, [second, authorization()]);
    expect((await sendRaw(server, turned)).status).toBe(401);
  });
});

describe('an Upgrade header on a path without upgrades', () => {
  const upgrade = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAA'];
  const closing = ['Connection: Upgrade, HTTP2-Settings, close', ...upgrade.slice(1)];

  it('is ignored in a request without a body', async () => {
    const text = rawRequest(`GET ${path}`, [...closing, authorization()]);
    const response = await sendRaw(server, text);
    expect([response.status, response.body]).toEqual([200, '{}']);
  });

  it.each<[string, string, boolean, number]>([
    ['an unknown path', `PUT ${path}/x`, true, 404],
    ['a wrong method', `PATCH ${path}`, true, 405],
    ['no token', `PUT ${path}`, false, 401],
    ['a wrong body', `PUT ${path}`, true, 400],
  ])('does not change the order of rules: %s', async (_, line, hasToken, status) => {
    const headers = [...closing, 'Content-Type: application/json', 'Content-Length: 11'];
    if (hasToken) headers.push(authorization());
    const response = await sendRaw(server, rawRequest(line, headers, '{"wrong":1}'));
    expect(response.status).toBe(status);
    expect(JSON.parse(response.body).request_id).toBe(response.headers['x-svc-requestid']);
  });

  it('keeps the body of an authentication request', async () => {
    const line = `POST ${operations['post-auth-request'].path}`;
    const response = await sendRaw(
      server,
      rawRequest(line, [...closing, 'Content-Length: 2'], '{}'),
    );
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body).error).toContain('Content-Type');
  });
});

describe('a request with many headers', () => {
  const headers = (count: number) => Array.from({ length: count }, (_, at) => `A${at}: b`);

  it('is accepted with up to 100 of them', async () => {
    // The other three headers are Host, Authorization and Connection.
    const request = rawRequest(`GET ${path}`, [authorization(), ...headers(97)]);
    expect((await sendRaw(server, request)).status).toBe(200);
  });

  it.each([
    ['', []],
    ['that asks for another protocol', ['Upgrade: h2c']],
    ['that is a handshake', ['Upgrade: websocket']],
  ])('returns 431 beyond 100, and the connection ends: one %s', async (_, more) => {
    const allHeaders = [
      'Connection: keep-alive, Upgrade',
      authorization(),
      ...more,
      ...headers(2000),
    ];
    const response = await sendRaw(server, rawRequest(`GET ${path}`, allHeaders));
    expect([response.status, response.headers.connection]).toEqual([431, 'close']);
    expect(JSON.parse(response.body)).toEqual({
      error: 'the request has more than 100 headers; send fewer',
      request_id: expect.any(String),
    });
  });
});

describe('a path outside the API', () => {
  it.each([
    ['of thousands of segments', `${path}${'/a'.repeat(7000)}`],
    ['of thousands of escaped segments', `${path}${'/%41'.repeat(3500)}`],
    ['of one long escaped segment', `${path}/${'%41'.repeat(5000)}`],
  ])('returns 404: %s', async (_, target) => {
    const response = await sendRaw(server, rawRequest(`GET ${target}`, [authorization()]));
    expect(response.status).toBe(404);
  });
});
