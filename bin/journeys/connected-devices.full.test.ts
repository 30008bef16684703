import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { Device } from '../../fixtures/contract/management/devices.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { acceptShape, decodeBody, encodeBody } from '../../fixtures/formats/connect-bodies.ts';
import type { ConnectMessage } from '../../fixtures/formats/connect-message.ts';
import type { FleetResult } from '../../simulator/engine/simulate-fleet.ts';
import { UserSocket } from '../commands/terminal/user-socket.ts';
import type { ServerReady } from '../server-access/ready.ts';
import { type RunningCommand, startCommand, startServe } from '../testing/built-command.ts';

interface Inventory {
  readonly attributes: readonly { readonly name: string; readonly scope: string }[];
}

const RUN_MAX_MS = 60_000;
const MEBIBYTE = 2 ** 20;

/** A server with one connected device. */
class Connected {
  readonly #server: RunningCommand;
  readonly fleet: RunningCommand;
  readonly ready: ServerReady;
  id = '';

  private constructor(server: RunningCommand, ready: ServerReady) {
    this.#server = server;
    this.ready = ready;
    this.fleet = startCommand([
      ...['simulate', '--url', ready.baseUrl, '--devices', '1', '--seed', 'connected'],
      ...['--connect', '--poll', '1s', '--ramp', '0', '--inventory', '7d', '--json'],
    ]);
  }

  static async start(): Promise<Connected> {
    const { running, ready } = await startServe(['--auto-accept']);
    const connected = new Connected(running, ready);
    connected.id = await connected.#untilConnected();
    return connected;
  }

  manage(path: string, request: RequestInit = {}): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.ready.adminToken}` };
    return fetch(this.ready.baseUrl + path, { ...request, headers });
  }

  /** Polls until the device has reported this attribute to the inventory. */
  async untilKnown(attribute: string): Promise<void> {
    const path = pathOf(managementOperations['get-inventory'], { id: this.id });
    for (;;) {
      const { attributes = [] } = (await (await this.manage(path)).json()) as Partial<Inventory>;
      const isSent = attributes.some(
        ({ name, scope }) => name === attribute && scope === 'inventory',
      );
      if (isSent) return;
    }
  }

  /**
   * Waits until the server has answered an operation of the device this many times since its start.
   */
  async untilAnswered(operation: string, count: number): Promise<void> {
    const query = new URLSearchParams({ operation, status: '2xx', count: `${count}`, after: '0' });
    const response = await fetch(`${this.ready.controlUrl}/await?${query}`, {
      headers: { Authorization: `Bearer ${this.ready.controlToken}` },
    });
    if (response.status !== 200) throw new Error(await response.text());
  }

  async end(): Promise<void> {
    await this.fleet.end();
    await this.#server.end();
  }

  /** Polls until the device is connected; the time limit of the test ends it. */
  async #untilConnected(): Promise<string> {
    for (;;) {
      const list = await this.manage(pathOf(managementOperations['list-devices']));
      const [device] = (await list.json()) as Device[];
      if (device === undefined) continue;
      const path = pathOf(managementOperations['get-connection'], { id: device.id });
      const { status } = (await (await this.manage(path)).json()) as { status: string };
      if (status === 'connected') return device.id;
    }
  }
}

let connected: Connected;

beforeAll(async () => {
  connected = await Connected.start();
}, RUN_MAX_MS);

afterAll(() => connected.end());

function fileUrl(path: string): string {
  const query = new URLSearchParams({ path });
  return `${pathOf(managementOperations['download-device-file'], { id: connected.id })}?${query}`;
}

async function upload(path: string, content: Buffer, mode = '0644'): Promise<Response> {
  const form = new FormData();
  form.append('path', path);
  form.append('mode', mode);
  form.append('file', new Blob([Uint8Array.from(content)]), 'file');
  const target = pathOf(managementOperations['upload-device-file'], { id: connected.id });
  return connected.manage(target, { method: 'PUT', body: form });
}

/** A user's socket to the device, with the received messages in order. */
async function socket({ ready, id: deviceId } = connected) {
  const received: ConnectMessage[] = [];
  let wake: () => void = () => undefined;
  const options = { baseUrl: ready.baseUrl, token: ready.adminToken, deviceId };
  const reach = { ...options, clock: systemClock, requestTimeLimitMs: RUN_MAX_MS };
  const open = await UserSocket.open(reach, {
    message: (message) => {
      received.push(message);
      wake();
    },
    onClose: () => wake(),
  });
  const next = async (): Promise<ConnectMessage> => {
    for (;;) {
      const first = received.shift();
      if (first) return first;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { open, next };
}

describe('the files of a simulated device', { timeout: RUN_MAX_MS }, () => {
  it('are uploaded and downloaded unchanged through the server', async () => {
    const content = Buffer.alloc(MEBIBYTE + 5);
    for (let at = 0; at < content.length; at++) content[at] = (at * 31 + (at >> 12)) & 0xff;
    expect((await upload('/data/firmware.bin', content, '0600')).status).toBe(201);
    const response = await connected.manage(fileUrl('/data/firmware.bin'));
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
    expect(response.headers.get('x-svc-file-path')).toBe('/data/firmware.bin');
    expect(response.headers.get('x-svc-file-size')).toBe(String(content.length));
    expect(response.headers.get('x-svc-file-mode')).toMatch(/600$/);
  });

  it('may be empty', async () => {
    expect((await upload('/tmp/empty', Buffer.alloc(0))).status).toBe(201);
    const response = await connected.manage(fileUrl('/tmp/empty'));
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  it.each([
    ['that is not there', '/none'],
    ['that is a folder', '/etc'],
    ['by a path that is not absolute', 'etc/hostname'],
  ])('are refused with 400 in the case of a file %s', async (_what, path) => {
    expect((await connected.manage(fileUrl(path))).status).toBe(400);
  });

  it('are refused when their folder is missing, and when they are too large', async () => {
    expect((await upload('/none/a', Buffer.from('x'))).status).toBe(400);
    expect((await upload('/tmp/big', Buffer.alloc(8 * MEBIBYTE + 1))).status).toBe(400);
    expect((await connected.manage(fileUrl('/tmp/big'))).status).toBe(400);
  });
});

describe('a simulated device', { timeout: RUN_MAX_MS }, () => {
  it('agrees with a user on version and protocols', async () => {
    const { open, next } = await socket();
    const body = encodeBody({ versions: [1] });
    await open.send({ proto: 0xffff, typ: 'open', body });
    const accept = await next();
    expect(accept.typ).toBe('accept');
    expect(decodeBody(acceptShape, accept.body)).toEqual({ version: 1, protocols: [1, 2, 3, 4] });
    open.close();
  });

  it('serves a web page through a forwarded port', async () => {
    const { open, next } = await socket();
    const props = { connection_id: 'c-1' };
    const remote = { remote_host: 'localhost', remote_port: 80, protocol: 'tcp' };
    await open.send({ proto: 3, typ: 'new', props, body: encodeBody(remote) });
    expect(await next()).toMatchObject({ typ: 'new', props });
    const body = Buffer.from('GET / HTTP/1.1\r\n\r\n');
    await open.send({ proto: 3, typ: 'forward', props, body });
    expect((await next()).typ).toBe('ack');
    expect(String((await next()).body)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nfb-\w+\n$/s);
    await open.send({ proto: 3, typ: 'ack', props });
    expect((await next()).typ).toBe('stop');
    open.close();
  });

  it('answers unknown requests with an error', async () => {
    const { open, next } = await socket();
    await open.send({ proto: 77, typ: 'x' });
    expect(await next()).toMatchObject({ proto: 0xffff, typ: 'error' });
    open.close();
  });

  it('performs all requests of the server without a failure', async () => {
    const connected = await Connected.start();
    try {
      await connected.untilKnown('serial');
      for (const operation of ['check-device-update', 'send-device-inventory'] as const) {
        const path = pathOf(managementOperations[operation], { id: connected.id });
        expect((await connected.manage(path, { method: 'POST' })).status).toBe(202);
      }
      const { open, next } = await socket(connected);
      // The reply proves that the device has read all earlier messages.
      await open.send({ proto: 0xffff, typ: 'ping' });
      expect((await next()).typ).toBe('pong');
      // The device has sent one inventory unprompted and one at the server's request.
      await connected.untilAnswered('put-attributes', 2);
      const { code, stdout } = await connected.fleet.end('SIGINT');
      const { errors }: FleetResult = JSON.parse(stdout);
      expect({ code, errors }).toEqual({ code: 130, errors: [] });
    } finally {
      await connected.end();
    }
  });
});
