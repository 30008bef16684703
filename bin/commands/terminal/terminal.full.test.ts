import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import {
  type CommandEnd,
  type RunningCommand,
  runCommand,
  startCommand,
  startServe,
} from '../../testing/built-command.ts';

const RUN_MAX_MS = 60_000;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const builtCommand = fileURLToPath(new URL('../../../dist/bin/fleetbed.js', import.meta.url));

let server: RunningCommand | undefined;
let fleet: RunningCommand | undefined;
let ready: ServerReady;
/** Three devices: two of them connected, in the order of their serial numbers. */
let ids: string[];

beforeAll(async () => {
  ({ running: server, ready } = await startServe(['--auto-accept']));
  const pace = ['--poll', '200ms', '--ramp', '0', '--inventory', '7d'];
  fleet = startCommand([
    ...['simulate', '--url', ready.baseUrl, '--devices', '2', '--seed', 'terminal'],
    ...['--connect', ...pace],
  ]);
  const devices = await untilConnected(2);
  ids = devices.sort(compareSerials).map(({ id }) => id);
}, RUN_MAX_MS);

afterAll(async () => {
  await fleet?.end();
  await server?.end();
});

function compareSerials(one: Device, other: Device): number {
  return String(one.identity_data.serial) < String(other.identity_data.serial) ? -1 : 1;
}

async function read<HttpResponse>(path: string): Promise<HttpResponse> {
  const headers = { Authorization: `Bearer ${ready.adminToken}` };
  const response = await fetch(ready.baseUrl + path, { headers });
  return (await response.json()) as HttpResponse;
}

/** Polls until this many devices are connected; the time limit of the test ends it. */
async function untilConnected(count: number): Promise<Device[]> {
  for (;;) {
    const devices = await read<Device[]>(pathOf(managementOperations['list-devices']));
    const states = await Promise.all(
      devices.map(({ id }) =>
        read<{ status: string }>(pathOf(managementOperations['get-connection'], { id })),
      ),
    );
    if (states.filter(({ status }) => status === 'connected').length === count) return devices;
  }
}

/** Opens a terminal, types this text, and waits for the end of the terminal. */
function typeText(input: string, args: readonly string[]): Promise<CommandEnd> {
  const child = spawn(process.execPath, [builtCommand, 'terminal', ...args]);
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      written[stream] += text;
    });
  }
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, ...written }));
  });
}

const reach = (id = ids[0] ?? '') => [id, '--url', ready.baseUrl];
const tokenOption = () => ['--token', ready.adminToken];

describe('a terminal on a simulated device', { timeout: RUN_MAX_MS }, () => {
  it("shows the device's output, and ends cleanly with the input", async () => {
    const script = 'hostname\necho one > /tmp/a\ncat /tmp/a /etc/hostname\nfoo\n';
    const { code, stdout, stderr } = await typeText(script, [...reach(), ...tokenOption()]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const name = /^root@(\S+):~# /.exec(stdout)?.[1];
    expect(name).toMatch(/^fb-[0-9a-f]+$/);
    const prompt = `root@${name}:~# `;
    expect(stdout).toBe(
      `${prompt}hostname\r\n${name}\r\n${prompt}echo one > /tmp/a\r\n` +
        `${prompt}cat /tmp/a /etc/hostname\r\none\r\n${name}\r\n` +
        `${prompt}foo\r\nsh: foo: not found\r\n${prompt}exit\r\n`,
    );
  });

  it("finds the device's files of the last session, and no others", async () => {
    await typeText('echo kept > /data/a', [...reach(ids[0]), ...tokenOption()]);
    const again = await typeText('ls /data', [...reach(ids[0]), ...tokenOption()]);
    expect(again.stdout).toContain('\r\na\r\n');
    const otherRun = await typeText('ls /data\n', [...reach(ids[1]), ...tokenOption()]);
    expect(otherRun.stdout).not.toContain('\r\na\r\n');
    expect(otherRun.code).toBe(0);
  });

  it('passes large output', async () => {
    const text = 'x'.repeat(3000);
    const doubled = 'cat a a > b\ncat b b > a\n'.repeat(2);
    const { stdout } = await typeText(`echo ${text} > a\n${doubled}cat a\nrm a b\n`, [
      ...reach(),
      ...tokenOption(),
    ]);
    expect(stdout.split(`${text}\r\n`).length - 1).toBe(16);
  });

  it('opens with a login', async () => {
    const login = ['--email', ready.adminEmail, '--password', ready.adminPassword];
    const { code, stdout } = await typeText('whoami\n', [...reach(), ...login]);
    expect(code).toBe(0);
    expect(stdout).toContain('\r\nroot\r\n');
  });

  it('opens for a device that is named by an identity value', async () => {
    const headers = { Authorization: `Bearer ${ready.adminToken}` };
    const path = pathOf(managementOperations['get-device'], { id: ids[0] ?? '' });
    const device = (await (await fetch(ready.baseUrl + path, { headers })).json()) as Device;
    const mac = String(device.identity_data.mac);
    const { code, stdout } = await typeText('whoami\n', [...reach(mac), ...tokenOption()]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('root') });
    const unknown = await typeText('', [...reach('02:ff'), ...tokenOption()]);
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toMatch(/no device has the ID or identity value 02:ff; nearest: /);
  });

  it('is limited to one per user and device at a time', async () => {
    const first = spawn(process.execPath, [builtCommand, 'terminal', ...reach(), ...tokenOption()]);
    const prompt = new Promise((resolve) => first.stdout.once('data', resolve));
    const ended = new Promise((resolve) => first.once('close', resolve));
    await prompt;
    const second = await typeText('', [...reach(), ...tokenOption()]);
    expect(second.code).toBe(3);
    expect(second.stderr).toContain('refuses a shell: user has too many open sessions');
    first.kill('SIGTERM');
    expect(await ended).toBe(130);
    expect((await typeText('pwd\n', [...reach(), ...tokenOption()])).code).toBe(0);
  });
});

describe('a terminal that does not open', { timeout: RUN_MAX_MS }, () => {
  it.each([
    ['an unknown device', () => [...reach(UNKNOWN_ID), ...tokenOption()], 'answered with 404', 3],
    ['another token', () => [...reach(), '--token', 'x.y.z'], 'get a valid token', 3],
    ['a wrong password', () => [...reach(), '--password', 'not-this'], 'check --email', 3],
    ['no user', () => ['x', '--url', 'http://127.0.0.1:1'], '--token (env: FLEETBED_TOKEN).', 2],
    ['no device', () => tokenOption(), "missing required argument 'device'", 2],
    [
      'no server',
      () => [UNKNOWN_ID, '--url', 'http://127.0.0.1:1', '--token', 't'],
      'nothing listens',
      3,
    ],
    ['half a URL', () => ['x', '--url', 'localhost', '--token', 't'], 'Accepted: an http://', 2],
  ])('reports the reason: %s', async (_what, args, sentence, exitCode) => {
    const { code, stdout, stderr } = await runCommand(['terminal', ...args()]);
    expect(stderr).toContain(sentence);
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
  });
});

describe('a terminal whose device disconnects', { timeout: RUN_MAX_MS }, () => {
  it('ends with exit code 1 and reports the disconnection', async () => {
    const only = startCommand([
      ...['simulate', '--url', ready.baseUrl, '--devices', '1', '--seed', 'going'],
      ...['--connect', '--poll', '200ms', '--ramp', '0'],
    ]);
    const devices = await untilConnected(3);
    const id = devices.find((device) => !ids.includes(device.id))?.id ?? '';
    const child = spawn(process.execPath, [
      builtCommand,
      'terminal',
      ...reach(id),
      ...tokenOption(),
    ]);
    const firstOutput = new Promise((resolve) => child.stdout.once('data', resolve));
    let printed = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    await firstOutput;
    await only.end('SIGINT');
    expect(await ended).toBe(1);
    expect(printed).toMatch(/the shell on \S+ ended: .*1001.*device disconnected/);
  });
});
