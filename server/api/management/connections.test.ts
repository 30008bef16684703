import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { connectProtocols } from '../../../fixtures/formats/connect-message.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  newDevice,
} from '../../testing/test-device.ts';
import { connectPeer, connectUser, userSocketPath } from '../../testing/test-peer.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { endOf, presenceAs, sendUpgrade } from '../../testing/test-sockets.ts';
import { secondTenant, type TestTenant } from '../../testing/test-tenants.ts';

type OperationId = keyof typeof managementOperations;

const unknownId = '00000000-0000-4000-8000-000000000000';

let server: TestServer;
let otherTenant: TestTenant;
let device: AcceptedDevice;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
  otherTenant = await secondTenant(server);
});

afterAll(() => server.close());

beforeEach(async () => {
  deviceCount += 1;
  device = await acceptedDevice(server, `connections-${deviceCount}`);
});

/** Calls an operation as the administrator on the device, or with another token or device. */
function ask(id: OperationId, { token = server.adminToken, deviceId = device.id } = {}) {
  const query = id.endsWith('device-file') ? { path: '/etc/motd' } : {};
  const body = id === 'upload-device-file' ? { body: validUpload() } : {};
  return server.call(id, { token, parameters: { id: deviceId }, query, ...body });
}

const operationIds = [
  'get-connection',
  'connect-device',
  'check-device-update',
  'send-device-inventory',
  'download-device-file',
  'describe-device-file',
  'upload-device-file',
] as const;

describe.each(operationIds)('the connection operation %s', (id) => {
  it('returns 404 for an unknown device', async () => {
    expect((await ask(id, { deviceId: unknownId })).status).toBe(404);
  });

  it('returns 404 for the device of another tenant, connected or not', async () => {
    const { token } = otherTenant;
    expect((await ask(id, { token })).status).toBe(404);
    const { socket } = await connectPeer(server, device);
    expect((await ask(id, { token })).status).toBe(404);
    socket.terminate();
  });

  it('returns 401 without a token and with the token of the device', async () => {
    const parameters = { id: device.id };
    expect((await server.call(id, { parameters })).status).toBe(401);
    expect((await ask(id, { token: device.token })).status).toBe(401);
  });
});

describe('a request to a device that is not connected', () => {
  it.each([
    ['connect-device', 404, 'failed to connect to device: device disconnected'],
    ['check-device-update', 404, /^device not connected/],
    ['send-device-inventory', 404, /^device not connected/],
    ['download-device-file', 409, 'device disconnected'],
  ] as const)('returns by %s the status %i', async (id, status, error) => {
    const response = await ask(id);
    expect([response.status, response.json().error]).toEqual([
      status,
      expect.stringMatching(error),
    ]);
  });

  it('returns 409 for an upload, whatever the form contains', async () => {
    const call = { token: server.adminToken, parameters: { id: device.id } };
    for (const body of [new FormData(), validUpload()]) {
      const response = await server.call('upload-device-file', { ...call, body });
      expect([response.status, response.json().error]).toEqual([409, 'device disconnected']);
    }
  });

  it('returns 409 without a body for HEAD of a file', async () => {
    const response = await ask('describe-device-file');
    expect([response.status, response.text]).toEqual([409, '']);
  });

  it('returns the same statuses after the device has disconnected', async () => {
    const { socket } = await connectPeer(server, device);
    socket.close();
    await endOf(socket);
    await presenceAs(server, device, 'disconnected');
    expect((await ask('connect-device')).status).toBe(404);
    expect((await ask('check-device-update')).status).toBe(404);
    expect((await ask('download-device-file')).status).toBe(409);
  });
});

function validUpload(): FormData {
  const form = new FormData();
  form.append('path', '/etc/motd');
  form.append('file', new Blob(['hello']), 'motd');
  return form;
}

describe('a device that is not accepted', () => {
  it('is shown as disconnected and cannot be reached', async () => {
    const pending = newDevice('waiting');
    await authenticate(server, pending);
    const listed = await server.call('list-devices', {
      token: server.adminToken,
      query: { status: 'pending' },
    });
    const [found] = listed.json<{ id: string }[]>();
    const presence = await ask('get-connection', { deviceId: found?.id ?? '' });
    expect(presence.json()).toMatchObject({ device_id: found?.id, status: 'disconnected' });
    expect((await ask('connect-device', { deviceId: found?.id ?? '' })).status).toBe(404);
  });
});

describe('a handshake of a user for a device', () => {
  /** Sends a handshake of the administrator with replaced headers; null omits one. */
  function shake(headers: Readonly<Record<string, string | null>> = {}) {
    const path = userSocketPath(device);
    const authorization = { Authorization: `Bearer ${server.adminToken}` };
    return sendUpgrade(server, { path, headers: { ...authorization, ...headers } });
  }

  function cookieOf(token: string, origin: string | null) {
    return { Authorization: null, Cookie: `JWT=${token}`, Origin: origin };
  }

  it.each<[string, (token: string) => Record<string, string | null>]>([
    ['a Bearer token', () => ({})],
    ['a cookie of a page of our own', (token) => cookieOf(token, server.baseUrl)],
    [
      'a quoted cookie',
      (token) => ({ ...cookieOf(token, server.baseUrl), Cookie: `a=b; JWT="${token}"` }),
    ],
    ['an Origin', () => ({ Origin: 'https://console.example' })],
  ])('returns 101 with %s while the device is connected', async (_, headersOf) => {
    await connectPeer(server, device);
    const { status, headers } = await shake(headersOf(server.adminToken));
    expect([status, headers['sec-websocket-accept'], headers['x-svc-requestid']]).toEqual([
      101,
      's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ]);
  });

  it('selects the subprotocol protomsg/msgpack if it is offered', async () => {
    await connectPeer(server, device);
    const offered = await shake({ 'Sec-WebSocket-Protocol': 'protomsg/msgpack' });
    expect(offered.headers['sec-websocket-protocol']).toBe('protomsg/msgpack');
    expect((await shake()).headers['sec-websocket-protocol']).toBeUndefined();
  });

  it.each<[string, Record<string, string | null>]>([
    ['no Connection', { Connection: 'close' }],
    ['no Upgrade', { Upgrade: null, Connection: 'keep-alive' }],
    ['another upgrade', { Upgrade: 'h2c' }],
    ['version 8', { 'Sec-WebSocket-Version': '8' }],
    ['no version', { 'Sec-WebSocket-Version': null }],
    ['no key', { 'Sec-WebSocket-Key': null }],
    ['a key of 15 bytes', { 'Sec-WebSocket-Key': Buffer.alloc(15).toString('base64') }],
  ])('returns 400 with %s', async (_, headers) => {
    const peer = await connectPeer(server, device);
    expect((await shake(headers)).status).toBe(400);
    await peer.waitUntilReceived();
    expect(peer.waiting).toEqual([]);
  });

  it('returns 404, not 400, if the device is not connected', async () => {
    const response = await shake({ 'Sec-WebSocket-Version': '8' });
    expect([response.status, JSON.parse(response.body).error]).toEqual([
      404,
      'failed to connect to device: device disconnected',
    ]);
  });

  it.each<[string, (token: string) => Record<string, string | null>]>([
    ['no token', () => ({ Authorization: null })],
    ['a cookie beside a bad header', (token) => ({ Authorization: 'x', Cookie: `JWT=${token}` })],
    ['an altered cookie', (token) => ({ Authorization: null, Cookie: `JWT=x${token}` })],
    ['a cookie of another name', (token) => ({ Authorization: null, Cookie: `jwt=${token}` })],
  ])('returns 401 with %s', async (_, headersOf) => {
    await connectPeer(server, device);
    expect((await shake(headersOf(server.adminToken))).status).toBe(401);
  });

  it.each<[string, string | null]>([
    ['no Origin', null],
    ['a foreign Origin', 'https://elsewhere.example'],
    ['the Origin of another port', 'http://127.0.0.1:1'],
    ['an Origin that begins as ours', 'http://127.0.0.1.elsewhere.example'],
    ['an Origin that hides ours', 'http://127.0.0.1@elsewhere.example'],
    ['an Origin that a browser does not tell', 'null'],
    ['an empty Origin', ''],
  ])('returns 403 and opens no session with a valid cookie and %s', async (_, origin) => {
    const peer = await connectPeer(server, device);
    const response = await shake(cookieOf(server.adminToken, origin));
    expect([response.status, JSON.parse(response.body)]).toEqual([
      403,
      { error: expect.stringContaining('Origin'), request_id: response.headers['x-svc-requestid'] },
    ]);
    await peer.waitUntilReceived();
    expect(peer.waiting).toEqual([]);
  });

  it('returns 401 with the token of the device as cookie', async () => {
    await connectPeer(server, device);
    const headers = { Authorization: null, Cookie: `JWT=${device.token}` };
    expect((await shake(headers)).status).toBe(401);
  });
});

describe('a command to a connected device', () => {
  it.each([
    ['check-device-update', 'check-update'],
    ['send-device-inventory', 'send-inventory'],
  ] as const)('reaches the device by %s and returns 202 with null', async (id, typ) => {
    const peer = await connectPeer(server, device);
    const response = await ask(id);
    expect([response.status, response.text]).toEqual([202, 'null']);
    expect(await peer.next()).toEqual({
      proto: connectProtocols.menderClient,
      typ,
      sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      props: { user_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
  });

  it('has its own session each time, and replies to it reach no user', async () => {
    const peer = await connectPeer(server, device);
    const user = await connectUser(server, device);
    await ask('check-device-update');
    await ask('check-device-update');
    const [first, second] = [await peer.next(), await peer.next()];
    expect(first.sid).not.toBe(second.sid);
    peer.reply(first, { proto: connectProtocols.menderClient, typ: 'check-update' });
    await peer.waitUntilReceived();
    await user.waitUntilReceived();
    expect(user.waiting).toEqual([]);
  });
});
