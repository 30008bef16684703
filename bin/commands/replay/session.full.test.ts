/** Records the session of an example client, and plays it against other servers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verdictsOfRecording } from '../../../conformance/client-judge/recorded-clients.ts';
import { openRecording } from '../../../conformance/recordings/open-recording.ts';
import { writeArtifact } from '../../../fixtures/formats/mender-artifact-writer.ts';
import { runCommand, startCommand, startServe } from '../../testing/built-command.ts';
import { exampleSource } from '../../testing/example-client.ts';

type Served = Awaited<ReturnType<typeof startServe>>;

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-session-'));
const file = join(folder, 'session.ndjson');
const tenantToken = 'a-secret-tenant-token';
const opened: Served[] = [];
let client: ChildProcess | undefined;
let recording: ReturnType<typeof startCommand> | undefined;
let ended: Awaited<ReturnType<typeof runCommand>>;

beforeAll(async () => {
  const served = await serve('release-2');
  const { baseUrl } = served.ready;
  recording = startCommand(['record', '--upstream', baseUrl, '--out', file]);
  const printed = await recording.waitForOutput('stdout', /Recording http:\S+/);
  const url = /http:\S+/.exec(printed)?.[0] ?? '';
  const options = ['--dir', join(folder, 'device'), '--interval', '1', '--server', url];
  const args = [exampleSource('client.py'), ...options, '--tenant-token', tenantToken];
  client = spawn('python3', args, { stdio: 'ignore' });
  await acceptAndDeploy(served);
  const isUpdated = () => readFileSync(file, 'utf8').includes('"success\\"');
  await vi.waitUntil(isUpdated, { timeout: 30_000, interval: 100 });
  client.kill('SIGKILL');
  ended = await recording.end('SIGINT');
}, 60_000);

afterAll(async () => {
  client?.kill('SIGKILL');
  recording?.child.kill('SIGKILL');
  for (const { running } of opened) await running.end();
  rmSync(folder, { recursive: true });
});

async function serve(artifactName: string): Promise<Served> {
  const served = await startServe();
  opened.push(served);
  const artifact = await writeArtifact({
    name: artifactName,
    deviceTypes: ['example-board'],
    payloadType: 'single-file',
    files: [{ name: 'app.bin', content: Buffer.alloc(40_000, 7) }],
    modifiedMs: 0,
  });
  const body = new FormData();
  body.append('artifact', new Blob([Uint8Array.from(artifact)]), 'artifact.mender');
  await manage(served, 'v1/deployments/artifacts', { method: 'POST', body });
  return served;
}

async function manage({ ready }: Served, path: string, request: RequestInit = {}) {
  const headers = { Authorization: `Bearer ${ready.adminToken}`, ...request.headers };
  const response = await fetch(`${ready.baseUrl}/api/management/${path}`, { ...request, headers });
  if (!response.ok)
    throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
  return response;
}

const json = (method: string, value: object): RequestInit => ({
  method,
  body: JSON.stringify(value),
  headers: { 'Content-Type': 'application/json' },
});

/** Waits for the device, accepts it, and deploys at once, before its next poll. */
async function acceptAndDeploy(served: Served, artifactName = 'release-2'): Promise<void> {
  const pending = async () =>
    (await (await manage(served, 'v2/devauth/devices?status=pending')).json()) as readonly {
      readonly id: string;
      readonly auth_sets: readonly { readonly id: string }[];
    }[];
  const isThere = async () => (await pending()).length === 1;
  await vi.waitUntil(isThere, { timeout: 20_000, interval: 50 });
  const [device] = await pending();
  // The deployment comes first, so that it is there when the accepted device asks at once.
  const deployment = { name: 'test', artifact_name: artifactName, devices: [device?.id] };
  await manage(served, 'v1/deployments/deployments', json('POST', deployment));
  const path = `v2/devauth/devices/${device?.id}/auth/${device?.auth_sets[0]?.id}/status`;
  await manage(served, path, json('PUT', { status: 'accepted' }));
}

const replay = ({ ready }: Served, ...args: readonly string[]) =>
  runCommand(['replay', file, '--url', ready.baseUrl, ...args]);

describe('fleetbed record', () => {
  it('passes a whole update on, and writes its exchanges in order', async () => {
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { exchanges } = await openRecording(file);
    const seen: string[] = [];
    for await (const { method, pathname, status } of exchanges) {
      seen.push(`${method} ${pathname.split('/').at(-1)} ${status}`);
    }
    expect(seen).toEqual(
      expect.arrayContaining(['POST auth_requests 401', 'POST auth_requests 200']),
    );
    expect(seen.filter((each) => /^PUT status/.test(each))).toHaveLength(3);
    expect(seen.filter((each) => /^GET [-\w]+ 200/.test(each))).toHaveLength(1);
  });

  it('is judged as one client that violates no duty', async () => {
    const { exchanges } = await openRecording(file);
    const verdicts = await verdictsOfRecording(exchanges);
    expect(verdicts).toHaveLength(1);
    const broken = verdicts.flatMap(({ duties: all }) =>
      all.filter(({ violations }) => violations.length > 0).map(({ duty }) => duty),
    );
    expect(broken).toEqual([]);
  });

  it('is read by journal --lint, which has no finding', async () => {
    const { code, stdout, stderr } = await runCommand(['journal', '--lint', '--from', file]);
    expect(stdout).toMatch(/^No finding in \d+ requests of devices\.\n$/);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it.each([
    [
      '3',
      'its file is not a session',
      () => ['--lint', '--from', writeSession('[]')],
      /line 1: is not/,
    ],
    ['2', '--lint is missing', () => ['--from', file], /needs --lint, and no filter/],
    ['2', 'a filter is given', () => ['--lint', '--from', file, '--device', 'x'], /no filter/],
  ])('is refused by journal with %s when %s', async (code, _, argsOf, sentence) => {
    const end = await runCommand(['journal', ...argsOf()]);
    expect({ code: String(end.code) }).toEqual({ code });
    expect(end.stderr).toMatch(sentence);
  });

  it('closes the connection of a device when the upstream server is not there', async () => {
    const path = join(folder, 'alone.ndjson');
    const proxy = startCommand(['record', '--upstream', 'http://127.0.0.1:9', '--out', path]);
    const printed = await proxy.waitForOutput('stdout', /Recording http:\S+/);
    const url = `${/http:\S+/.exec(printed)?.[0]}/api/devices/v1/inventory/device/attributes`;
    for (const body of ['[]', '[{}]']) {
      await expect(fetch(url, { method: 'PUT', body })).rejects.toThrow('fetch failed');
    }
    const { code, stderr } = await proxy.end();
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^http:\/\/127\.0\.0\.1:9: nothing listens there[^\n]*\n$/),
    });
    expect(readFileSync(path, 'utf8').match(/"status":0,/g)).toHaveLength(2);
  });

  it('is inconclusive when no exchange passed through the proxy', async () => {
    const path = join(folder, 'nothing.ndjson');
    const proxy = startCommand(['record', '--upstream', 'http://127.0.0.1:9', '--out', path]);
    await proxy.waitForOutput('stdout', /Recording/);
    expect((await proxy.end()).code).toBe(4);
  });

  it('writes no token, signature or tenant token, to a file of its owner only', () => {
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(tenantToken);
    expect(text).not.toMatch(/eyJ[\w-]{8}/);
    expect(text).not.toMatch(/signature=(?!\[masked\])/i);
    expect(text).toContain('["X-Svc-Signature","[masked]"]');
    expect(text).toContain('"Bearer token-1"');
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it.each([
    ['2', 'no --out', ['--upstream', 'http://127.0.0.1:9'], /--out/],
    ['2', 'no URL', ['--upstream', 'here', '--out', 'x'], /Accepted: an http/],
    ['3', 'no folder', ['--upstream', 'http://127.0.0.1:9', '--out', '/no/x'], /cannot write/],
  ])('exits with %s when there is %s', async (code, _, args, sentence) => {
    const end = await runCommand(['record', ...args]);
    expect({ code: String(end.code) }).toEqual({ code });
    expect(end.stderr).toMatch(sentence);
  });
});

describe('fleetbed replay', { timeout: 60_000 }, () => {
  it('finds no difference on a server that behaves as recorded', async () => {
    const served = await serve('release-2');
    const [played] = await Promise.all([
      replay(served, '--tenant-token', tenantToken),
      acceptAndDeploy(served),
    ]);
    expect(played.stdout).toMatch(/^\d+ requests played, 0 responses differ\.\n$/);
    expect(played.code).toBe(0);
  });

  it('says where the responses differ: another status, another artifact', async () => {
    const served = await serve('release-3');
    const [played] = await Promise.all([
      replay(served, '--json'),
      acceptAndDeploy(served, 'release-3'),
    ]);
    expect(played.code).toBe(1);
    const requests = played.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const differing = requests.filter(({ differences }) => differences.length > 0);
    expect(differing).toMatchObject([
      {
        method: 'POST',
        path: '/api/devices/v2/deployments/device/deployments/next',
        differences: ['artifact.artifact_name is "release-3", recorded "release-2"'],
      },
    ]);
  });

  it.each([
    ['3', 'its server is not there', () => file, /nothing listens there/],
    ['3', 'its file is not there', () => join(folder, 'none'), /no such file/],
    ['3', 'its file is not a session', () => writeSession('text'), /not a JSON object/],
    ['4', 'its file has no request of a device', () => writeSession(''), /^$/],
  ])('exits with %s when %s', async (code, _, fileOf, sentence) => {
    const end = await runCommand(['replay', fileOf(), '--url', 'http://127.0.0.1:9']);
    expect({ code: String(end.code) }).toEqual({ code });
    expect(end.stderr).toMatch(sentence);
  });
});

describe('a recorded session with a WebSocket and another header prefix', {
  timeout: 60_000,
}, () => {
  const prefix = ['--header-prefix', 'X-MEN'];
  const sockets = join(folder, 'sockets.ndjson');

  async function serveAccepting(): Promise<string> {
    const served = await startServe(['--auto-accept', ...prefix]);
    opened.push(served);
    return served.ready.baseUrl;
  }

  it('has the handshake and the frames without payload, and is played without difference', async () => {
    const upstream = await serveAccepting();
    const proxy = startCommand(['record', '--upstream', upstream, '--out', sockets]);
    const printed = await proxy.waitForOutput('stdout', /Recording http:\S+/);
    const url = /http:\S+/.exec(printed)?.[0] ?? '';
    const fleet = ['simulate', '--devices', '1', '--connect', '--duration', '3s', ...prefix];
    expect(await runCommand([...fleet, '--url', url])).toMatchObject({ code: 0 });
    expect(await proxy.end()).toMatchObject({ code: 0, stderr: '' });
    const text = readFileSync(sockets, 'utf8');
    expect(text).toMatch(/"url":"[^"]*\/connect","status":101/);
    expect(text).toMatch(
      /"kind":"frame"[^\n]*"from":"client","opcode":"(binary|ping|close)","bytes":/,
    );
    expect(text).toMatch(/\["X-MEN-Signature","\[masked\]"\]/i);
    const args = ['replay', sockets, '--url', await serveAccepting(), ...prefix];
    expect((await runCommand(args)).stdout).toMatch(
      /^\d+ requests played, 0 responses differ\.\n$/,
    );
  });
});

function writeSession(text: string): string {
  const path = join(folder, 'written');
  writeFileSync(path, text);
  return path;
}
