import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import {
  type CommandEnd,
  type RunningCommand,
  runCommand,
  startCommand,
} from '../../testing/built-command.ts';
import { type RedisServer, startRedis } from '../../testing/redis-server.ts';
import { serveRelease } from '../../testing/served-release.ts';

const RUN_MAX_MS = 60_000;
const PASSWORD = 'a-password-of-redis';
const SECRET = 'a-secret-of-coordinator-and-workers';

let server: RunningCommand;
let ready: ServerReady;
let redis: RedisServer;
let lostMidway: Promise<readonly CommandEnd[]>;
let lostMeasuring: Promise<CommandEnd>;
const workers: RunningCommand[] = [];
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  redis = await startRedis(PASSWORD);
  lostMidway = loseRedis();
  ({ running: server, ready } = await serveRelease());
  lostMeasuring = loseRedisMeasuring();
}, RUN_MAX_MS);

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.end('SIGKILL')));
});

afterAll(async () => {
  for (const close of closers.reverse()) await close();
  await server.end();
  await redis.kill();
}, RUN_MAX_MS);

/**
 * A coordinator and a worker that lose Redis, in parallel with the other tests because they are
 * slow.
 */
async function loseRedis(): Promise<readonly CommandEnd[]> {
  const otherRedis = await startRedis(PASSWORD);
  const environment = { FLEETBED_REDIS: otherRedis.url, FLEETBED_WORKER_SECRET: SECRET };
  const worker = startCommand(['worker'], environment);
  const coordinator = startCommand(['simulate', '--devices', '2', '--shards', '2'], environment);
  await Promise.all([
    worker.waitForOutput('stderr', /ready for runs/),
    coordinator.waitForOutput('stderr', /shards wait for workers/),
  ]);
  await otherRedis.kill();
  return Promise.all([worker.ended, coordinator.ended]);
}

/** A coordinator that loses Redis after it has measured something, beside the other tests. */
async function loseRedisMeasuring(): Promise<CommandEnd> {
  const otherRedis = await startRedis(PASSWORD);
  const environment = { FLEETBED_REDIS: otherRedis.url, FLEETBED_WORKER_SECRET: SECRET };
  const worker = startCommand(['worker', '--url', ready.baseUrl], environment);
  closers.push(() => worker.end('SIGKILL'));
  const load = [
    '--devices',
    '2',
    '--keys',
    'ed25519=1',
    '--shards',
    '1',
    '--poll',
    '200ms',
    '--duration',
    '60s',
  ];
  const report = ['--report', `csv=${join(tmpdir(), 'fleetbed-never-written.csv')}`];
  const args = ['simulate', '--url', ready.baseUrl, ...load, ...report];
  const coordinator = startCommand(args, environment);
  await coordinator.waitForOutput('stderr', / [1-9]\d* requests/);
  await otherRedis.kill();
  return coordinator.ended;
}

const shared = () => ({ FLEETBED_REDIS: redis.url, FLEETBED_WORKER_SECRET: SECRET });

async function startWorker(
  environment: Readonly<Record<string, string>> = { FLEETBED_PASSWORD: ready.adminPassword },
  baseUrl = ready.baseUrl,
): Promise<RunningCommand> {
  const worker = startCommand(['worker', '--url', baseUrl], {
    ...shared(),
    ...environment,
  });
  workers.push(worker);
  await worker.waitForOutput('stderr', /worker: ready for runs/);
  return worker;
}

function startTwoWorkers(): Promise<readonly [RunningCommand, RunningCommand]> {
  return Promise.all([startWorker(), startWorker()]);
}

function fleet(...more: string[]): RunningCommand {
  const small = ['--devices', '8', '--keys', 'ed25519=1', '--poll', '200ms', '--ramp', '0'];
  const login = ['--accept', '--password', ready.adminPassword];
  const reach = ['--url', ready.baseUrl, ...login, '--deploy', 'release-2'];
  const args = ['simulate', '--json', ...reach, ...small, '--shards', '2', ...more];
  return startCommand(args, shared());
}

async function resultOf(run: RunningCommand): Promise<FleetResult> {
  const { code, stdout, stderr } = await run.ended;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

const indices = ({ devices }: FleetResult) => devices.map(({ index }) => index);
const successes = ({ devices }: FleetResult) =>
  devices.filter(({ outcome }) => outcome === 'success').length;

describe('a fleet on workers', { timeout: RUN_MAX_MS }, () => {
  it('has one result, sends no secret to Redis, and leaves nothing there', async () => {
    const commands: string[] = [];
    const endMonitor = await redis.monitor((args) => commands.push(args.join(' ')));
    await startTwoWorkers();
    const result = await resultOf(fleet('--until', 'settled', '--duration', '30s'));
    endMonitor();
    expect(indices(result)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(successes(result)).toBe(8);
    expect(result.reconciliation).toMatchObject({ checked: true, ok: true, deploymentsChecked: 1 });
    expect(result.spread).toEqual({ takeovers: [], lost: [] });
    expect(result.shards).toEqual([
      { index: 0, of: 2 },
      { index: 1, of: 2 },
    ]);
    expect(commands.some((args) => args.includes(ready.baseUrl))).toBe(true);
    const sent = commands.join('\n');
    expect(sent).not.toContain(ready.adminPassword);
    expect(sent).not.toContain(SECRET);
    const toHead = commands.filter((args) => /^xadd \S+:up /.test(args));
    expect(toHead.length).toBeGreaterThan(4);
    for (const args of toHead) expect(args).toMatch(/^xadd \S+:up MAXLEN ~ \d+ \*/);
    expect(await redis.client.keys('*')).toEqual([]);
  });

  it('survives a killed worker, and reports which worker took over the shard', async () => {
    const [lost] = await startTwoWorkers();
    const run = fleet('--until', 'settled', '--duration', '30s', '--takeover-after', '1s');
    await lost.waitForOutput('stderr', /runs shard/);
    await lost.end('SIGKILL');
    const result = await resultOf(run);
    expect(indices(result)).toHaveLength(8);
    expect(successes(result)).toBe(8);
    expect(result.reconciliation.ok).toBe(true);
    expect(result.spread?.lost).toEqual([]);
    expect(result.spread?.takeovers).toMatchObject([
      {
        from: expect.stringContaining(`:${lost.child.pid}/`),
        reason: expect.stringContaining('silent for 1 s'),
      },
    ]);
    expect(await redis.client.keys('*')).toEqual([]);
  });

  it('leaves only keys that expire when its coordinator is killed', async () => {
    const run = fleet();
    await run.waitForOutput('stderr', /shards wait for workers/);
    await run.end('SIGKILL');
    const keys = await redis.client.keys('*');
    expect(keys.length).toBeGreaterThan(5);
    for (const key of keys) expect(await redis.client.ttl(key), key).toBeGreaterThan(0);
    await redis.client.flushall();
  });

  it('ends when too few workers join, and reports why others could not', async () => {
    const elsewhere = 'http://127.0.0.1:1';
    const foreignWorkers = await Promise.all([startWorker({}), startWorker(undefined, elsewhere)]);
    const { code, stderr } = await fleet('--worker-wait', '2s').ended;
    expect(code).toBe(3);
    const last = stderr.trimEnd().split('\n').at(-1);
    expect(last).toMatch(/^fleetbed: 0 of 2 shards found a worker within 2 s; start more of them/);
    expect(last).toContain(
      `it cannot log in as ${ready.adminEmail}: start it with FLEETBED_EMAIL and`,
    );
    expect(last).toContain(
      `the run is against ${ready.baseUrl}, but the --url of this worker is ${elsewhere}`,
    );
    const ended = await Promise.all(foreignWorkers.map((each) => each.end()));
    expect(ended.map((each) => each.code)).toEqual([0, 0]);
    expect(await redis.client.keys('*')).toEqual([]);
  });

  it('ends soon after Redis is lost, both coordinator and worker', async () => {
    const sentence =
      /^fleetbed: redis:\/\/127\.0\.0\.1:\d+ has not answered for 10 s; the run cannot/m;
    for (const { code, stderr } of await lostMidway) {
      expect(code, stderr).toBe(3);
      expect(stderr).toMatch(sentence);
    }
  });

  it('shows the measurements and the line that repeats the run when Redis is lost, and writes no report', async () => {
    const { code, stdout, stderr } = await lostMeasuring;
    expect([code, stdout]).toEqual([
      3,
      expect.stringMatching(/^Measured before the run broke off$/m),
    ]);
    expect(stdout).toMatch(/^Latency in ms\n.*\n {2}post-auth-request +\d/ms);
    expect(stdout).toMatch(/^repeat: npx fleetbed simulate .*--seed \S+/m);
    expect(stderr).toContain('no report was written: it needs the result of all devices\n');
  });
});

/** Listens on a free port and answers every Redis command with a given reply. */
async function startStubRedis(answer: (command: string) => string): Promise<string> {
  const stubServer: Server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (data) => {
      const commands = String(data).match(/\*\d+\r\n\$\d+\r\n\w+/g) ?? [];
      for (const command of commands) socket.write(answer(command));
    });
  });
  stubServer.listen(0, '127.0.0.1');
  await once(stubServer, 'listening');
  closers.push(() => stubServer.close());
  return `redis://127.0.0.1:${(stubServer.address() as AddressInfo).port}`;
}

/** The reply of Redis 6.0. */
function oldRedis(command: string): string {
  const info = 'redis_version:6.0.16\r\nloading:0\r\n';
  if (/info$/i.test(command)) return `$${info.length}\r\n${info}\r\n`;
  return /time$/i.test(command) ? '*2\r\n$1\r\n1\r\n$1\r\n1\r\n' : '+OK\r\n';
}

/** The reply of a Redis that does not know the first command of current clients. */
function veryOldRedis(): string {
  return '-ERR unknown command `hello`, with args beginning with: `3`, \r\n';
}

describe('a Redis that the fleet cannot use', { timeout: RUN_MAX_MS }, () => {
  const cases: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
    ['is not there', async () => 'redis://127.0.0.1:1', /nothing listens there/],
    [
      'requires another password',
      async () => redis.url.replace(PASSWORD, 'wrong'),
      /refused the password; give it in/,
    ],
    ['requires a password', async () => `redis://127.0.0.1:${redis.port}`, /requires a password/],
    [
      'does not speak TLS',
      async () => redis.url.replace('redis:', 'rediss:'),
      /does not answer over TLS; try redis:\/\//,
    ],
    ['says nothing', () => startStubRedis(() => ''), /does not answer; check --redis/],
    [
      'is too old',
      () => startStubRedis(oldRedis),
      /has version 6\.0\.16; version 6\.2 or newer is needed/,
    ],
    [
      'is very old',
      () => startStubRedis(veryOldRedis),
      /is older than version 6; version 6\.2 or newer is needed/,
    ],
  ];

  it.concurrent.each(cases)(
    'is reported in one sentence when it %s',
    async (_what, address, sentence) => {
      const url = await address();
      const { code, stdout, stderr } = await runCommand(['worker', '--redis', url], {
        FLEETBED_WORKER_SECRET: SECRET,
      });
      expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(sentence);
      expect(stderr).toMatch(/^fleetbed: rediss?:\/\/127\.0\.0\.1:\d+ .*\n$/);
      expect(stderr).not.toContain('wrong@');
      expect(stderr).not.toContain(PASSWORD);
    },
  );

  it.each([
    ['worker', /required option '--redis <url>'/],
    ['worker --redis redis://h', /--worker-secret .* generate one with: openssl rand -hex 32/],
    ['worker --redis redis://h --worker-secret short', /must be at least 16 characters/],
    ['simulate --redis redis://h --shards 2', /--worker-secret .* generate one with: openssl rand/],
    ['worker --redis http://host', /Accepted: a redis:\/\/ URL, or rediss:\/\//],
    ['simulate --shards 2', /'--shards <count>' needs --redis URL/],
    ['simulate --redis redis://h', /'--redis <url>' needs --shards COUNT/],
    ['simulate --takeover-after 10ms', /Accepted: a duration from 1s to 10m/],
  ])('cannot be specified in a form such as `fleetbed %s`', async (args, sentence) => {
    const { code, stderr } = await runCommand(args.split(' '));
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(sentence);
  });
});
