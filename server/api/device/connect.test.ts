import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../../fixtures/contract/operations.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { openSocket, presenceOf, sampleKey, sendUpgrade } from '../../testing/test-sockets.ts';

let server: TestServer;
let device: AcceptedDevice;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

beforeEach(async () => {
  deviceCount += 1;
  device = await acceptedDevice(server, `connect-${deviceCount}`);
});

/** Sends a handshake of the device with replaced headers; null omits one. */
function shake(headers: Readonly<Record<string, string | null>> = {}) {
  return sendUpgrade(server, { headers: { Authorization: `Bearer ${device.token}`, ...headers } });
}

/** Asserts that a refusal is an HTTP response with the Error body and leaves no presence. */
async function expectRefused(response: Awaited<ReturnType<typeof shake>>, status: number) {
  expect([response.status, response.headers['content-type'], JSON.parse(response.body)]).toEqual([
    status,
    'application/json; charset=utf-8',
    { error: expect.stringMatching(/./), request_id: response.headers['x-svc-requestid'] },
  ]);
  expect((await presenceOf(server, device)).status).toBe('disconnected');
}

describe('a valid WebSocket handshake of a device', () => {
  it('returns 101 and the accept value of the example in RFC 6455', async () => {
    const { status, headers } = await shake();
    expect(status).toBe(101);
    expect(headers).toMatchObject({
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
      'x-svc-requestid': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('returns the accept value that belongs to another key', async () => {
    const key = Buffer.from('0123456789abcdef').toString('base64');
    const { headers } = await shake({ 'Sec-WebSocket-Key': key });
    const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
    const accept = createHash('sha1').update(`${key}${magic}`).digest('base64');
    expect(headers['sec-websocket-accept']).toBe(accept);
  });

  it('returns the request ID that the caller sent', async () => {
    const { headers } = await shake({ 'X-SVC-RequestID': 'mine-7' });
    expect(headers['x-svc-requestid']).toBe('mine-7');
  });

  it.each([
    ['the token as a cookie', (token: string) => ({ Authorization: null, Cookie: `JWT=${token}` })],
    [
      'the cookie among others',
      (token: string) => ({ Authorization: null, Cookie: `a=b; JWT=${token}; JWT2=x` }),
    ],
    ['the scheme in small letters', (token: string) => ({ Authorization: `bearer ${token}` })],
    [
      'the headers in other letters',
      () => ({ Connection: 'keep-alive, upgrade', Upgrade: 'WebSocket' }),
    ],
    ['an Origin', () => ({ Origin: 'https://elsewhere.example' })],
    ['an extension', () => ({ 'Sec-WebSocket-Extensions': 'permessage-deflate' })],
  ])('is accepted with %s', async (_, headersOf) => {
    const { status, headers } = await shake(headersOf(device.token));
    expect([status, headers['sec-websocket-extensions']]).toEqual([101, undefined]);
  });

  it.each([
    [undefined, undefined],
    ['protomsg/msgpack', 'protomsg/msgpack'],
    ['other, protomsg/msgpack', 'protomsg/msgpack'],
    ['other', undefined],
    ['other, other', undefined],
    ['protomsg/msgpack2', undefined],
    ['', undefined],
    [' , ', undefined],
  ])('selects from the subprotocols %j the subprotocol %j', async (offered, taken) => {
    const { status, headers } = await shake({ 'Sec-WebSocket-Protocol': offered ?? null });
    expect([status, headers['sec-websocket-protocol']]).toEqual([101, taken]);
  });

  it('opens a connection for a client that offers no subprotocol', async () => {
    const socket = await openSocket(server, device);
    expect(socket.protocol).toBe('');
    socket.terminate();
  });
});

describe('the token cookie of a device in a handshake', () => {
  const shakeFrom = (origin: string) =>
    shake({ Authorization: null, Cookie: `JWT=${device.token}`, Origin: origin });

  it('is accepted if the Origin is this server', async () => {
    expect((await shakeFrom(server.baseUrl)).status).toBe(101);
  });

  it('returns 403 if the Origin is another server', async () => {
    await expectRefused(await shakeFrom('https://elsewhere.example'), 403);
  });
});

describe('a handshake of a device without a valid token', () => {
  it.each<[string, (token: string) => Record<string, string | null>]>([
    ['no token', () => ({ Authorization: null })],
    ['an empty header', () => ({ Authorization: '' })],
    ['another scheme', (token) => ({ Authorization: `Basic ${token}` })],
    ['no scheme', (token) => ({ Authorization: token })],
    ['an invalid token', () => ({ Authorization: 'Bearer x' })],
    ['an altered token', (token) => ({ Authorization: `Bearer ${token.slice(0, -4)}AAAA` })],
    ['an empty cookie', () => ({ Authorization: null, Cookie: 'JWT=' })],
    ['a cookie of another name', (token) => ({ Authorization: null, Cookie: `jwt=${token}` })],
    ['an altered token as cookie', (token) => ({ Authorization: null, Cookie: `JWT=x${token}` })],
    [
      'a valid cookie beside a bad header',
      (token) => ({ Authorization: 'Bearer x', Cookie: `JWT=${token}` }),
    ],
    [
      'a valid cookie beside another scheme',
      (token) => ({ Authorization: 'API_KEY', Cookie: `JWT=${token}` }),
    ],
  ])('returns 401 for %s', async (_, headersOf) => {
    const response = await shake(headersOf(device.token));
    await expectRefused(response, 401);
    expect(response.headers['www-authenticate']).toBe('Bearer');
  });

  it('returns 401 for a user token, as header and as cookie', async () => {
    for (const headers of [
      { Authorization: `Bearer ${server.adminToken}` },
      { Authorization: null, Cookie: `JWT=${server.adminToken}` },
    ]) {
      await expectRefused(await shake(headers), 401);
    }
  });

  it('returns 401 for the token of a rejected device', async () => {
    const parameters = { id: device.id, aid: device.authSetId };
    const call = { token: server.adminToken, parameters, json: { status: 'rejected' } };
    await server.call('set-auth-set-status', call);
    await expectRefused(await shake(), 401);
  });

  it('returns 401 for a device token from its expiry on', async () => {
    const own = await startTestServer({ tokenLifetimeSeconds: 60 });
    const { token } = await acceptedDevice(own, 'expiring');
    const headers = { Authorization: `Bearer ${token}` };
    own.clock.advance(59_999);
    expect((await sendUpgrade(own, { headers })).status).toBe(101);
    own.clock.advance(1);
    expect((await sendUpgrade(own, { headers })).status).toBe(401);
    await own.close();
  });

  it('returns 401, not 400, if the handshake is malformed too', async () => {
    const headers = { Authorization: null, 'Sec-WebSocket-Version': '8' };
    expect((await sendUpgrade(server, { headers })).status).toBe(401);
  });
});

describe('a malformed handshake of a device', () => {
  it.each<[string, Record<string, string | null>]>([
    ['no Connection', { Connection: 'close' }],
    ['no Upgrade', { Upgrade: null }],
    ['neither', { Connection: 'keep-alive', Upgrade: null }],
    ['Connection: close', { Connection: 'close' }],
    ['an upgrade to something else', { Upgrade: 'h2c' }],
    ['WebSocket among other things', { Upgrade: 'websocket, h2c' }],
    ['version 8', { 'Sec-WebSocket-Version': '8' }],
    ['version 12', { 'Sec-WebSocket-Version': '12' }],
    ['version 14', { 'Sec-WebSocket-Version': '14' }],
    ['version 13.0', { 'Sec-WebSocket-Version': '13.0' }],
    ['versions 13 and 8', { 'Sec-WebSocket-Version': '13, 8' }],
    ['an empty version', { 'Sec-WebSocket-Version': '' }],
    ['no version', { 'Sec-WebSocket-Version': null }],
    ['no key', { 'Sec-WebSocket-Key': null }],
    ['an empty key', { 'Sec-WebSocket-Key': '' }],
    ['a key of 15 bytes', { 'Sec-WebSocket-Key': Buffer.alloc(15).toString('base64') }],
    ['a key of 17 bytes', { 'Sec-WebSocket-Key': Buffer.alloc(17).toString('base64') }],
    ['a key without its padding', { 'Sec-WebSocket-Key': sampleKey.slice(0, 22) }],
    ['a key that is not base64', { 'Sec-WebSocket-Key': '!!!!!!!!!!!!!!!!!!!!!!==' }],
  ])('returns 400 for %s', async (_, headers) => {
    await expectRefused(await shake(headers), 400);
  });

  it('returns 400 for a plain GET with the error text that clients expect', async () => {
    const response = await server.call('connect', { token: device.token });
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringContaining('the client is not using the websocket protocol'),
    ]);
  });
});

describe("a device's upgrade request to another endpoint", () => {
  it('returns 405 if its method is POST', async () => {
    const headers = { Authorization: `Bearer ${device.token}`, 'Content-Length': '0' };
    const response = await sendUpgrade(server, { method: 'POST', headers });
    await expectRefused(response, 405);
  });

  it('returns 404 if its path is unknown', async () => {
    const response = await sendUpgrade(server, { path: '/api/devices/v1/deviceconnect/nowhere' });
    await expectRefused(response, 404);
  });

  it('returns the response to a plain request if the endpoint is another operation', async () => {
    const { path } = operations['get-configuration'];
    const headers = { Authorization: `Bearer ${device.token}` };
    const response = await sendUpgrade(server, { path, headers });
    expect([response.status, response.body]).toEqual([200, '{}']);
    expect((await sendUpgrade(server, { path })).status).toBe(401);
  });
});
