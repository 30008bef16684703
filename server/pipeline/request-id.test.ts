import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { type RawResponse, rawRequest, sendRaw } from '../testing/raw-http.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../testing/test-server.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const configuration = operations['get-configuration'].path;

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'request-id');
});

afterAll(() => server.close());

function idOf(response: TestResponse): string | null {
  return response.headers.get('X-SVC-RequestID');
}

function askWith(id: string): Promise<TestResponse> {
  return server.request('GET', configuration, { headers: { 'X-SVC-RequestID': id } });
}

describe('the request ID of the caller', () => {
  it.each([
    ['one character', 'x'],
    ['256 characters', 'i'.repeat(256)],
    ['every kind of printable character', 'a B-9!"#$%&\'()*+,/:;<=>?@[\\]^_`{|}~'],
    ['what looks like markup', '<script>alert(1)</script>'],
  ])('is accepted unchanged: %s', async (_, id) => {
    const response = await askWith(id);
    expect(idOf(response)).toBe(id);
    expect(response.json()).toEqual({ error: expect.any(String), request_id: id });
  });

  it.each([
    ['an empty one', ''],
    ['nothing but spaces', '   '],
    ['257 characters', 'i'.repeat(257)],
    ['a tab inside', 'a\tb'],
    ['a character beyond ASCII', 'caf\u00e9'],
  ])('is replaced by a new UUID: %s', async (_, id) => {
    const response = await askWith(id);
    expect(idOf(response)).toMatch(uuid);
    expect(response.json().request_id).toBe(idOf(response));
  });

  it('is a new UUID for each request without one', async () => {
    const ids = new Set<string | null>();
    for (let count = 0; count < 5; count += 1) {
      ids.add(idOf(await server.request('GET', configuration)));
    }
    expect(ids.size).toBe(5);
    for (const id of ids) expect(id).toMatch(uuid);
  });
});

describe('the request ID of a response', () => {
  it.each<[string, () => Promise<TestResponse>, number]>([
    [
      'success with a body',
      () => server.call('get-configuration', { token: device.token, headers }),
      200,
    ],
    [
      'success without a body',
      () => server.call('put-configuration', { token: device.token, headers }),
      204,
    ],
    ['preflight', () => server.request('OPTIONS', configuration, { headers }), 204],
    ['unknown path', () => server.request('GET', '/nowhere', { headers }), 404],
    ['unknown path in parts', () => server.request('GET', '/a/b/c', { headers }), 404],
    ['wrong method', () => server.request('DELETE', configuration, { headers }), 405],
    ['HEAD', () => server.request('HEAD', configuration, { headers }), 405],
    ['missing token', () => server.call('get-configuration', { headers }), 401],
    [
      'unreadable body',
      () => server.call('put-configuration', { token: device.token, json: [], headers }),
      400,
    ],
    [
      'artifact that is not there',
      () =>
        server.call('get-artifact', { token: device.token, parameters: { id: 'none' }, headers }),
      404,
    ],
  ])('appears in the header: %s', async (_, ask, status) => {
    const response = await ask();
    expect(response.status).toBe(status);
    expect(idOf(response)).toBe('call-7');
  });

  it.each<[string, string, number]>([
    ['without a token', '', 401],
    ['with an unknown path', '/more', 404],
  ])('appears in header and body of a refused WebSocket %s', async (_, suffix, status) => {
    const path = operations.connect.path + suffix;
    const upgrade = ['Connection: Upgrade, close', 'Upgrade: websocket', 'X-SVC-RequestID: call-7'];
    const response = await sendRaw(server, rawRequest(`GET ${path}`, upgrade));
    expect(response.status).toBe(status);
    expectErrorBody(response, 'call-7');
  });

  it.each<[string, string, number]>([
    ['no HTTP at all', 'HELLO\r\n\r\n', 400],
    ['an unknown version', 'GET / HTTP/7.3\r\n\r\n', 400],
    ['a header line without a colon', 'GET / HTTP/1.1\r\nHost localhost\r\n\r\n', 400],
    ['headers beyond the limit', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a path beyond the limit', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 431],
  ])('appears in header and body for an unparsable request: %s', async (_, text, status) => {
    const response = await sendRaw(server, text);
    expect(response.status).toBe(status);
    expect(response.headers['x-svc-requestid']).toMatch(uuid);
    expectErrorBody(response, response.headers['x-svc-requestid'] ?? '');
  });
});

const headers = { 'X-SVC-RequestID': 'call-7' };

function expectErrorBody(response: RawResponse, id: string): void {
  expect(response.headers['x-svc-requestid']).toBe(id);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(JSON.parse(response.body)).toEqual({ error: expect.any(String), request_id: id });
}
