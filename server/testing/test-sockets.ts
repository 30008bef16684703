/** Performs WebSocket handshakes and opens sockets in tests, over real connections. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import type * as v from 'valibot';
import { type ClientOptions, WebSocket } from 'ws';
import type { connectionShape } from '../../fixtures/contract/management/connect.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { AcceptedDevice } from './test-device.ts';
import type { TestServer } from './test-server.ts';

type ShownConnection = v.InferOutput<typeof connectionShape>;

/** The response to an upgrade request. */
export interface HandshakeResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Changes of a test to an upgrade request. */
export interface Handshake {
  readonly method?: string;
  readonly path?: string;
  /** The headers that replace those of a valid handshake; null omits one. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** The example key of RFC 6455, section 1.3. */
export const sampleKey = 'dGhlIHNhbXBsZSBub25jZQ==';

const validHeaders = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Key': sampleKey,
  'Sec-WebSocket-Version': '13',
};

/** Requests an upgrade; an upgraded connection is cut at once. */
export function sendUpgrade(
  server: TestServer,
  handshake: Handshake = {},
): Promise<HandshakeResponse> {
  const { method = 'GET', path = operations.connect.path } = handshake;
  const headers = Object.fromEntries(
    Object.entries({ ...validHeaders, ...handshake.headers }).filter(([, value]) => value !== null),
  ) as Record<string, string>;
  return new Promise((resolve, reject) => {
    const clientRequest = request(server.baseUrl + path, { method, headers, agent: false });
    clientRequest.on('upgrade', ({ statusCode = 0, headers: responseHeaders }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, headers: responseHeaders, body: '' });
    });
    clientRequest.on('response', async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    clientRequest.on('error', reject);
    clientRequest.end();
  });
}

/** Opens a socket of the device. */
export async function openSocket(
  server: TestServer,
  device: Pick<AcceptedDevice, 'token'>,
  options: ClientOptions & { readonly protocols?: readonly string[] } = {},
): Promise<WebSocket> {
  const { protocols = [], ...rest } = options;
  const url = server.baseUrl.replace('http', 'ws') + operations.connect.path;
  const headers = { Authorization: `Bearer ${device.token}` };
  const socket = new WebSocket(url, [...protocols], { headers, ...rest });
  await once(socket, 'open');
  return socket;
}

/** Returns how the socket ended: its close code and reason. */
export async function endOf(socket: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
  return { code, reason: reason.toString() };
}

/** Returns the presence of the device, as users see it. */
export async function presenceOf(
  server: TestServer,
  device: Pick<AcceptedDevice, 'id'>,
): Promise<ShownConnection> {
  const call = { token: server.adminToken, parameters: { id: device.id } };
  return (await server.call('get-connection', call)).json<ShownConnection>();
}

const ROUND_TRIPS_MAX = 1000;

/** Reads the presence repeatedly, a bounded number of times, until it has this status. */
export async function presenceAs(
  server: TestServer,
  device: Pick<AcceptedDevice, 'id'>,
  status: ShownConnection['status'],
): Promise<ShownConnection> {
  for (let trip = 0; trip < ROUND_TRIPS_MAX; trip += 1) {
    const presence = await presenceOf(server, device);
    if (presence.status === status) return presence;
  }
  throw new Error(`the presence never became ${status}`);
}
