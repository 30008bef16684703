import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { type RunningCommand, runCommand, startCommand } from '../../testing/built-command.ts';
import { type RedisServer, startRedis } from '../../testing/redis-server.ts';
import { selfSigned } from '../../testing/tls-front.ts';

const RUN_MAX_MS = 60_000;
const PASSWORD = 'a-password-of-redis';
const TENANT_TOKEN = 'a-token-of-the-tenant';
const SECRET = 'a-secret-of-coordinator-and-workers';

let folder: string;
let server: Server;
let baseUrl: string;
/**
 * The credentials of each request to the server: whether its certificate is known, and the token.
 */
const seen: { readonly isKnown: boolean; readonly tenantToken: unknown }[] = [];
let redis: RedisServer;

const filePath = (name: string): string => join(folder, name);

/** A Redis that accepts only TLS, and a server that records its callers. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-worker-secrets-'));
  for (const name of ['redis', 'fleet', 'unknown']) {
    const { key, certificatePem } = selfSigned(systemClock.now());
    writeFileSync(filePath(`${name}.crt`), certificatePem);
    writeFileSync(filePath(`${name}.key`), key);
  }
  redis = await startRedis(PASSWORD, {
    certificate: filePath('redis.crt'),
    key: filePath('redis.key'),
  });
  server = createServer({ ...pairOf('redis'), ca: pairOf('fleet').cert, requestCert: true });
  server.on('request', note);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, RUN_MAX_MS);

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await redis.kill();
  rmSync(folder, { recursive: true });
}, RUN_MAX_MS);

function pairOf(name: string) {
  return {
    key: readFileSync(filePath(`${name}.key`)),
    cert: readFileSync(filePath(`${name}.crt`)),
  };
}

/** Refuses every request, and records its credentials. */
async function note(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { tenant_token: tenantToken } = (await json(request).catch(() => ({}))) as {
    readonly tenant_token?: unknown;
  };
  const isKnown = request.socket instanceof TLSSocket && request.socket.authorized;
  if (request.method === 'POST') seen.push({ isKnown, tenantToken });
  response.writeHead(401, { 'content-length': 0 }).end();
}

const reach = () => ['--redis', redis.url, '--redis-ca', filePath('redis.crt')];
const shared = { FLEETBED_WORKER_SECRET: SECRET };
const secrets = () => ({
  FLEETBED_TENANT_TOKEN: TENANT_TOKEN,
});
const trusted = () => ['--url', baseUrl, '--ca', filePath('redis.crt')];
const certificate = () => ['--cert', filePath('fleet.crt'), '--key', filePath('fleet.key')];

async function startWorker(
  own: readonly string[],
  environment: Readonly<Record<string, string>> = secrets(),
) {
  const args = ['worker', ...reach(), ...trusted(), ...own];
  const worker = startCommand(args, { ...shared, ...environment });
  await worker.waitForOutput('stderr', /worker: ready for runs against \S+ at rediss:/);
  return worker;
}

function fleet(...more: readonly string[]): RunningCommand {
  const small = ['--devices', '4', '--keys', 'ed25519=1', '--poll', '200ms', '--ramp', '0'];
  const secret = ['--tenant-token', TENANT_TOKEN];
  const spread = ['--shards', '2', ...reach()];
  const args = ['simulate', '--json', ...trusted(), ...certificate(), ...small, ...secret];
  return startCommand([...args, ...spread, ...more], shared);
}

describe('a fleet with secrets on workers', { timeout: RUN_MAX_MS }, () => {
  it("takes each worker's own secrets, none of which reaches Redis", async () => {
    const commands: string[] = [];
    const endMonitor = await redis.monitor((args) => commands.push(args.join(' ')));
    const workers = await Promise.all([startWorker(certificate()), startWorker(certificate())]);
    const { code, stdout, stderr } = await fleet('--duration', '2s').ended;
    endMonitor();
    await Promise.all(workers.map((worker) => worker.end()));
    // The server accepts no device, which has an exit code of its own.
    expect(code, stderr).toBe(6);
    const { funnel } = JSON.parse(stdout) as FleetResult;
    expect(funnel).toMatchObject({ devices: 4, pending: 4, noContact: 0 });
    expect(seen.length).toBeGreaterThanOrEqual(4);
    expect(seen).toEqual(seen.map(() => ({ isKnown: true, tenantToken: TENANT_TOKEN })));
    const sent = commands.join('\n');
    expect(sent).toContain(baseUrl);
    expect(sent).not.toContain('BEGIN CERTIFICATE');
    expect(sent).not.toContain(folder);
    expect(sent).not.toContain(SECRET);
    expect(sent).not.toContain(TENANT_TOKEN);
    expect(sent).not.toContain('PRIVATE KEY');
    expect(await redis.client.keys('*')).toEqual([]);
  });

  it('is not run by workers without a secret, and each names the missing one', async () => {
    const lacking = [
      [certificate(), {}, /has no tenant token: start it with FLEETBED_TENANT_TOKEN/],
      [[], secrets(), /has no client certificate: start it with --cert FILE and --key FILE/],
    ] as const;
    const workers = await Promise.all(
      lacking.map(([own, environment]) => startWorker(own, environment)),
    );
    const { code, stderr } = await fleet('--worker-wait', '1500ms').ended;
    await Promise.all(workers.map((worker) => worker.end()));
    expect(code).toBe(3);
    const last = stderr.trimEnd().split('\n').at(-1);
    expect(last).toMatch(/^fleetbed: 0 of 2 shards found a worker within 1\.5 s/);
    for (const [, , sentence] of lacking) expect(last).toMatch(sentence);
    expect(stderr).not.toContain(TENANT_TOKEN);
  });
});

describe('a Redis with TLS', { timeout: RUN_MAX_MS }, () => {
  const args = () => ['worker', '--redis', redis.url];
  it.concurrent.each([
    [
      'whose authority is not named by --redis-ca',
      () => args(),
      /its certificate is not trusted; give the CA certificate with --redis-ca FILE$/,
    ],
    [
      'of another authority',
      () => [...args(), '--redis-ca', filePath('unknown.crt')],
      /its certificate is not trusted; give the CA certificate with --redis-ca FILE$/,
    ],
    [
      'reached without TLS',
      () => ['worker', '--redis', redis.url.replace('rediss:', 'redis:')],
      /try rediss:\/\/ if it requires TLS$/,
    ],
    [
      'whose authority is not a certificate',
      () => [...args(), '--redis-ca', filePath('redis.key')],
      /--redis-ca \S+redis\.key contains no PEM certificate; use another file\.$/,
    ],
  ])('is refused in one sentence if it is one %s', async (_what, asked, sentence) => {
    const { code, stdout, stderr } = await runCommand(asked(), shared);
    expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: '' });
    expect(stderr.trimEnd()).toMatch(sentence);
    expect(stderr).toMatch(/^fleetbed: .*\n$/);
    expect(stderr).not.toContain(PASSWORD);
  });

  it.concurrent('refuses a worker whose --key file contains no private key', async () => {
    const own = ['--cert', filePath('fleet.crt'), '--key', filePath('fleet.crt')];
    const { code, stderr } = await runCommand(['worker', ...reach(), ...own], shared);
    expect(code, stderr).toBe(3);
    expect(stderr).toMatch(
      /^fleetbed: --key \S+fleet\.crt contains no unencrypted PEM private key/,
    );
  });
});
