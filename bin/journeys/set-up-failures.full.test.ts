import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import type { ServerReady } from '../server-access/ready.ts';
import {
  type RunningCommand,
  runCommand,
  startCommand,
  startServe,
} from '../testing/built-command.ts';
import { openTlsFront, type TlsFront } from '../testing/tls-front.ts';

let server: RunningCommand;
let ready: ServerReady;
let tls: TlsFront;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-failures-'));
  ({ running: server, ready } = await startServe());
  tls = await openTlsFront(ready.baseUrl, systemClock.now());
});

afterAll(async () => {
  tls.close();
  await server.end();
  rmSync(folder, { recursive: true });
});

/** Listens on a free port, and handles every connection with this function. */
async function listener(onSocket: (socket: Socket) => void): Promise<Server & { port: number }> {
  const server = createServer((socket) => onSocket(socket.on('error', () => socket.destroy())));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

/** Runs a command that must end with exit code 3 and one line; returns that line. */
async function failsToSetUp(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args, environment);
  expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: '' });
  const lines = stderr.trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  expect(last).toMatch(/^fleetbed: /);
  expect(stderr).not.toMatch(/\n\s+at |Error:/);
  return last;
}

const simulate = (baseUrl: string, ...more: string[]) => [
  'simulate',
  ...[
    '--url',
    baseUrl,
    '--devices',
    '1',
    '--keys',
    'ed25519=1',
    '--poll',
    '200ms',
    '--duration',
    '2s',
  ],
  ...more,
];
const conform = (baseUrl: string, ...more: string[]) => [
  'conform',
  ...['--url', baseUrl, '--password', ready.adminPassword],
  ...more,
];

describe('set-up fails with exit code 3 and one sentence', () => {
  it.each(['--port', '--control-port'])('when the port of serve %s is busy', async (option) => {
    const url = option === '--port' ? ready.baseUrl : ready.controlUrl;
    const { port } = new URL(url);
    const otherOption = option === '--port' ? '--control-port' : '--port';
    const line = await failsToSetUp(['serve', option, port, otherOption, '0']);
    expect(line).toBe(
      `fleetbed: port ${port} is in use; choose another port, or 0 for any free one`,
    );
  });

  it('when the host is not an address of this machine', async () => {
    const line = await failsToSetUp(['serve', '--host', '192.0.2.1', '--port', '0']);
    expect(line).toContain('check --host');
  });

  it.each(['simulate', 'conform'])(
    'when nothing listens at the base URL of %s',
    async (command) => {
      const closed = await listener(() => undefined);
      await new Promise((resolve) => closed.close(resolve));
      const baseUrl = `http://127.0.0.1:${closed.port}`;
      const line = await failsToSetUp((command === 'simulate' ? simulate : conform)(baseUrl));
      expect(line).toContain(baseUrl);
      expect(line).toContain('check --url');
    },
  );

  it('when the server there is not an HTTP server', async () => {
    const babbler = await listener((socket) => socket.end('220 mail ready\r\n'));
    const line = await failsToSetUp(simulate(`http://127.0.0.1:${babbler.port}`));
    expect(line).toContain('not an HTTP server');
    babbler.close();
  });

  it('when the server there does not speak TLS', async () => {
    const line = await failsToSetUp(simulate(ready.baseUrl.replace('http:', 'https:')));
    expect(line).toContain('does not speak TLS');
  });

  it('when the login is answered with a page in place of a token', async () => {
    const site = createHttpServer(({ url = '' }, response) => {
      if (url.endsWith('/login')) response.end('<title>Log in</title>');
      else response.writeHead(401).end('{"error":"no token"}');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const user = ['--password', 'any'];
    for (const args of [
      simulate(baseUrl, '--accept', ...user),
      ['devices', '--url', baseUrl, ...user],
      conform(baseUrl),
    ]) {
      const line = await failsToSetUp(args);
      expect(line).toMatch(/answered with 200 (OK with the HTML page|without a plain token)/);
      expect(line).toContain(baseUrl);
      expect(line).toContain('check --url');
    }
    site.close();
  });

  it('when a server answers every request with success', async () => {
    const site = createHttpServer((_, response) => response.end('{}'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    for (const args of [simulate(baseUrl), conform(baseUrl)]) {
      expect(await failsToSetUp(args)).toContain('this is not the device API');
    }
    site.close();
  });

  it('when the password of simulate is wrong', async () => {
    const line = await failsToSetUp(
      simulate(ready.baseUrl, '--accept', '--password', 'wrong-password'),
    );
    expect(line).toContain(`refused the login of ${ready.adminEmail}`);
    expect(line).not.toContain('wrong-password');
  });

  it('when the password or the token of conform is wrong', async () => {
    const wrong = ['conform', '--url', ready.baseUrl];
    expect(await failsToSetUp([...wrong, '--password', 'wrong-password'])).toMatch(
      /refuses admin@/,
    );
    expect(await failsToSetUp([...wrong, '--token', 'wrong-token'])).toMatch(/refuses the token/);
  });

  it.each(['simulate', 'conform'])(
    "when the server's certificate is not trusted, and %s names --ca",
    async (command) => {
      const line = await failsToSetUp((command === 'simulate' ? simulate : conform)(tls.baseUrl));
      expect(line).toContain('certificate is self-signed');
      expect(line).toContain('--ca FILE');
    },
  );

  it('when the artifact to deploy is missing or fits no device', async () => {
    const headers = { Authorization: `Bearer ${ready.adminToken}` };
    const accept = ['--accept', '--token', ready.adminToken, '--deploy'];
    const deploy = (...args: string[]) => failsToSetUp(simulate(ready.baseUrl, ...accept, ...args));
    const devices = async () => {
      const path = pathOf(managementOperations['list-devices']);
      return (await fetch(ready.baseUrl + path, { headers })).json();
    };
    const devicesBefore = await devices();
    expect(await deploy('release-3')).toContain(
      'no artifact named "release-3"; the server has no artifacts',
    );
    const body = new FormData();
    for (const [name, value] of [
      ['name', 'release-2'],
      ['device_types_compatible', 'boards'],
      ['type', 'script'],
    ] as const) {
      body.append(name, value);
    }
    body.append('file', new Blob(['x']), 'x');
    const path = pathOf(managementOperations['generate-artifact']);
    await fetch(ready.baseUrl + path, { method: 'POST', headers, body });
    expect(await deploy('release-3')).toContain('nearest names: "release-2"');
    expect(await deploy('release-2', '--device-type', 'board')).toContain(
      'no artifact named "release-2" is compatible with device type "board"; it is compatible with "boards"',
    );
    expect(await devices()).toEqual(devicesBefore);
  });

  it('when the token of the user is not valid', async () => {
    const args = ['--accept', '--token', 'x.y.z', '--duration', '1s'];
    expect(await failsToSetUp(simulate(ready.baseUrl, ...args))).toContain(
      'refused the token of --token; get a valid token',
    );
  });

  it.each([
    ['--ca', 'absent.pem', /--ca cannot read .*absent\.pem: there is no such file/],
    ['--report', 'json=absent/report.json', /--report json=FILE cannot write .*no such file/],
    ['--report', 'junit=/', /--report junit=FILE cannot write \/: it is a folder/],
  ])('when conform %s %s cannot be used', async (option, value, sentence) => {
    expect(await failsToSetUp(conform('http://127.0.0.1:1', option, value))).toMatch(sentence);
  });

  it('when the ready file cannot be written, before anything starts', async () => {
    const file = join(folder, 'absent', 'ready.json');
    const line = await failsToSetUp(['serve', '--port', '0', '--ready-file', file]);
    expect(line).toContain(`--ready-file cannot write ${file}`);
  });
});

describe('a server with its own certificate', () => {
  it('is accepted with --ca by simulate and conform', async () => {
    const ca = join(folder, 'ca.pem');
    writeFileSync(ca, tls.certificatePem);
    const login = ['--accept', '--password', ready.adminPassword];
    const fleet = await runCommand(
      simulate(tls.baseUrl, '--ca', ca, ...login, '--json', '--connect'),
    );
    expect(fleet.code, fleet.stderr).toBe(0);
    expect(JSON.parse(fleet.stdout).funnel).toMatchObject({ devices: 1, idle: 1 });
    const suite = await runCommand(conform(tls.baseUrl, '--ca', ca, 'service/options'));
    expect(suite.code, suite.stderr).toBe(0);
  });
});

describe('a run that decides nothing', () => {
  it('ends with exit code 4 when every selected case is skipped', async () => {
    const args = conform(ready.baseUrl, '--read-only', 'deployment-log/');
    expect((await runCommand(args)).code).toBe(4);
  });
});

describe('Ctrl-C', () => {
  it('ends a running fleet with its summary', async () => {
    const args = ['--url', ready.baseUrl, '--devices', '1', '--keys', 'ed25519=1', '--json'];
    const file = join(folder, 'fleet.json');
    const fleet = startCommand(['simulate', ...args, '--seed', 'one', '--ready-file', file]);
    await fleet.waitForOutput('stderr', /seed "one"/);
    const { code, stdout } = await fleet.end('SIGINT');
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ ended: 'interrupted', seed: 'one' });
  });

  it('ends a fleet with its summary and 130 when pressed twice before the start', async () => {
    const sockets = new Set<Socket>();
    const mute = await listener((socket) => sockets.add(socket));
    const fleet = startCommand(simulate(`http://127.0.0.1:${mute.port}`));
    await once(mute, 'connection');
    fleet.child.kill('SIGINT');
    const { code, stdout } = await fleet.end('SIGTERM');
    expect(code).toBe(130);
    expect(stdout).toMatch(/^\d+ devices?: INTERRUPTED, no device got a response\n/);
    for (const socket of sockets) socket.destroy();
    mute.close();
  });
});

describe('a proxy in the environment', () => {
  it.each([
    ['http://fleetbed.invalid', ' (HTTPS_PROXY is set, but fleetbed connects without a proxy)'],
    ['http://127.0.0.1:1', ''],
  ])(
    'is mentioned when %s cannot be reached, unless the host is this machine',
    async (url, hint) => {
      const environment = { HTTPS_PROXY: 'http://proxy.invalid:3128' };
      const sentence = await failsToSetUp(['conform', '--url', url, '--anonymous'], environment);
      expect(sentence.endsWith(`the server is running${hint}`), sentence).toBe(true);
    },
  );
});
