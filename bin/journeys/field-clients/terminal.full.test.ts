import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import { acceptShape, decodeBody, encodeBody } from '../../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import { connectUser } from '../../../server/testing/test-peer.ts';
import {
  startTestServer,
  type TestResponse,
  type TestServer,
} from '../../../server/testing/test-server.ts';
import { endOf, presenceAs } from '../../../server/testing/test-sockets.ts';
import {
  type ConnectClient,
  type FieldDevice,
  letIn,
  startFieldDevice,
} from './testing/field-device.ts';
import { unprivileged } from './testing/running-program.ts';
import { Terminal, textOf } from './testing/terminal.ts';

const { shell, portForward, control } = connectProtocols;
const ROUND_TRIPS_MAX = 500;
/** The client of this device polls only when it is woken. */
const rarely = { UpdatePollIntervalSeconds: 86_400, InventoryPollIntervalSeconds: 86_400 };

let server: TestServer;
let device: FieldDevice;
let connect: ConnectClient;
let storedDevice: Device;

beforeAll(async () => {
  server = await startTestServer({ clock: systemClock, headerPrefix: 'X-MEN' });
  device = await startFieldDevice(server, 'terminal', { settings: rarely });
  storedDevice = await letIn(server, device);
  connect = await device.startConnect();
  await presenceAs(server, storedDevice, 'connected');
}, 60_000);

afterAll(async () => {
  await device.end();
  await server.close();
});

describe("Debian's mender-connect, by a user's socket,", { timeout: 60_000 }, () => {
  let user: Terminal;

  beforeEach(async () => {
    user = await openTerminal();
  });

  afterEach(() => user.close());

  it('completes the handshake', async () => {
    const open = encodeBody({ versions: [1] });
    const accept = await user.ask({ proto: control, typ: 'open', body: open });
    expect(accept.typ).toBe('accept');
    const { version, protocols } = decodeBody(acceptShape, accept.body);
    expect({ version, protocols: protocols.toSorted() }).toEqual({
      version: 1,
      protocols: [1, 2, 3, 4],
    });
    expect((await user.ask({ proto: control, typ: 'ping' })).typ).toBe('pong');
  });

  it('refuses unknown messages', async () => {
    const versions = encodeBody({ versions: [2] });
    const none = await user.ask({ proto: control, typ: 'open', body: versions });
    expect(none.typ).toBe('error');
    const protocol = await user.ask({ proto: 9, typ: 'new' });
    expect(protocol).toMatchObject({ proto: control, typ: 'error' });
    const unknown = await user.ask({ proto: shell, typ: 'dance' });
    expect(unknown).toMatchObject({ proto: shell, props: { status: 2 } });
  });

  it('runs an unprivileged shell in an empty folder, and stops it', async () => {
    await user.openShell();
    expect(await user.type('echo $((6 * 7)) in $(pwd)')).toContain(`\n42 in ${connect.folder}\r\n`);
    expect(await user.type('ls -A | wc -l; id -u')).toContain(`\n0\r\n${ownId()}\r\n`);
    user.say({ proto: shell, typ: 'resize', props: { terminal_width: 100, terminal_height: 30 } });
    expect(await user.type('stty size')).toContain('\n30 100\r\n');
    const again = await user.ask({ proto: shell, typ: 'new' });
    expect(again.props).toMatchObject({ status: 2 });
    expect(textOf(again)).toContain('already running');
    const stopped = await user.ask({ proto: shell, typ: 'stop' });
    expect(stopped).toMatchObject({ typ: 'stop', props: { status: 1 } });
    const late = await user.ask({ proto: shell, typ: 'shell', body: Buffer.from('ls\n') });
    expect(late.props).toMatchObject({ status: 2 });
  });

  it.each([
    ['left it running', async () => undefined],
    ['ended it', async () => expect(await endOfShell()).toMatchObject({ props: { status: 2 } })],
  ])('starts another shell after a user who %s has disconnected', async (_, endShell) => {
    await user.openShell();
    await endShell();
    await user.close();
    user = await openTerminal();
    await user.openShell();
  });

  /** The message of the device when the shell ends by itself. */
  function endOfShell(): Promise<ConnectMessage> {
    return user.ask({ proto: shell, typ: 'shell', body: Buffer.from('exit\n') });
  }

  it('forwards a TCP connection', async () => {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const { port } = echo.address() as AddressInfo;
    const props = { connection_id: 'one' };
    const body = encodeBody({ remote_host: '127.0.0.1', remote_port: port, protocol: 'tcp' });
    const opened = await user.ask({ proto: portForward, typ: 'new', props, body });
    expect(opened).toMatchObject({ typ: 'new', props });
    user.say({ proto: portForward, typ: 'forward', props, body: Buffer.from('there and back') });
    const responses = [await user.answer(), await user.answer()];
    const back = responses.find(({ typ }) => typ === 'forward');
    expect(responses.some(({ typ }) => typ === 'ack')).toBe(true);
    expect(back && textOf(back)).toBe('there and back');
    user.say({ proto: portForward, typ: 'ack', props });
    expect((await user.ask({ proto: portForward, typ: 'stop', props })).typ).toBe('stop');
    echo.close();
    await once(echo, 'close');
    const refused = await user.ask({ proto: portForward, typ: 'new', props, body });
    expect(refused.typ).toBe('error');
  });
});

describe("Debian's mender-connect, by HTTP,", { timeout: 40_000 }, () => {
  const call = () => ({ token: server.adminToken, parameters: { id: storedDevice.id } });
  const filePath = (name: string) => join(connect.folder, name);
  const download = (path: string): Promise<TestResponse> =>
    server.call('download-device-file', { ...call(), query: { path } });

  function upload(path: string, content: string): Promise<TestResponse> {
    const form = new FormData();
    for (const [name, value] of Object.entries({ path, mode: '640' })) form.append(name, value);
    form.append('file', new Blob([content]), 'sent.txt');
    return server.call('upload-device-file', { ...call(), body: form });
  }

  it('serves a file for download', async () => {
    const content = 'a line of text, many times\n'.repeat(9000);
    writeFileSync(filePath('long.txt'), content, { mode: 0o644 });
    const response = await download(filePath('long.txt'));
    expect(response.status, response.text.slice(0, 200)).toBe(200);
    expect(response.text === content).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringContaining('long.txt'),
      'x-men-file-path': filePath('long.txt'),
      'x-men-file-size': String(content.length),
      'x-men-file-mode': '644',
      'x-men-file-uid': String(statSync(filePath('long.txt')).uid),
    });
  });

  it('accepts an uploaded file', async () => {
    const content = 'another line of text\n'.repeat(9000);
    const response = await upload(filePath('sent.txt'), content);
    expect(response.status, response.text).toBe(201);
    await waitForFile(filePath('sent.txt'));
    expect(readFileSync(filePath('sent.txt'), 'utf8') === content).toBe(true);
    expect(statSync(filePath('sent.txt')).mode & 0o777).toBe(0o640);
  });

  it.each([
    ['is not there', () => filePath('absent')],
    ['is a folder', () => connect.folder],
    ['may not be read', () => '/etc/shadow'],
  ])('does not serve a file that %s', async (_, path) => {
    const response = await download(path());
    expect(response.status, response.text).toBe(400);
    expect(response.json().error).toEqual(expect.any(String));
  });

  it.each(['/absent/sent.txt', '/etc/sent.txt'])('does not write %s', async (path) => {
    const response = await upload(path, 'text');
    expect(response.status, response.text).toBe(400);
    expect(readdirSync('/etc')).not.toContain('sent.txt');
  });

  it('makes its client poll for an update and send the inventory', async () => {
    expect((await server.call('check-device-update', call())).status).toBe(202);
    await device.client.waitForOutput(/Forcing state machine to: update-check/);
    expect((await server.call('send-device-inventory', call())).status).toBe(202);
    await device.client.waitForOutput(/Forcing state machine to: inventory-update/);
  });
});

describe("Debian's mender-connect", { timeout: 60_000 }, () => {
  it('is shown as disconnected once it ends, and as connected after a restart', async () => {
    const { socket: user } = await connectUser(server, storedDevice);
    const cutOff = endOf(user);
    await connect.program.end();
    expect(await cutOff).toMatchObject({ code: 1001 });
    await presenceAs(server, storedDevice, 'disconnected');
    await expect(connectUser(server, storedDevice)).rejects.toThrow('404');
    connect = await device.startConnect();
    await presenceAs(server, storedDevice, 'connected');
  });
});

/** Waits for a file, since the device confirms an upload before the file is in place. */
async function waitForFile(path: string): Promise<void> {
  const call = { token: server.adminToken, parameters: { id: storedDevice.id }, query: { path } };
  for (let trip = 0; trip < ROUND_TRIPS_MAX; trip += 1) {
    if ((await server.call('describe-device-file', call)).status === 200) return;
  }
  throw new Error(`${path} never came`);
}

async function openTerminal(): Promise<Terminal> {
  return new Terminal((await connectUser(server, storedDevice)).socket);
}

function ownId(): number {
  return unprivileged?.uid ?? process.getuid?.() ?? 0;
}
