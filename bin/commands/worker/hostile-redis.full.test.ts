import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, QueueEvents } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUEUE_NAME, RUNS_KEY, runKeys } from '../../../simulator/cluster/redis/run-keys.ts';
import { RunSigner } from '../../../simulator/cluster/redis/run-signer.ts';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { type RunningCommand, startCommand } from '../../testing/built-command.ts';
import { type RedisServer, startRedis } from '../../testing/redis-server.ts';

const RUN_MAX_MS = 60_000;
const SECRET = 'a-secret-of-coordinator-and-workers';
const RESPONSE_MAX_MS = 15_000;
const unsigned = /is not signed with the --worker-secret of this worker/;

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type JsonPath = readonly (string | number)[];

let folder: string;
const closers: (() => unknown)[] = [];
let redis: RedisServer;
/** The server of the fleet, and a server that no worker may call. */
let target: Server;
let foreign: Server;
const callers = { target: 0, foreign: 0 };
let worker: RunningCommand;
let coordinator: RunningCommand;
let run: string;
let queue: Queue;
let queueEvents: QueueEvents;
let eventsClient: RedisServer['client'];
/** The job and the run information as the coordinator signed them. */
let signedJob: string;
let signedInfo: string;

const filePath = (name: string): string => join(folder, name);
const urlOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function listening(who: keyof typeof callers): Promise<Server> {
  const server = createServer((_, response) => response.writeHead(401).end());
  server.on('connection', () => callers[who]++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close().closeAllConnections());
  return server;
}

/** Starts a real coordinator with one real job, which is removed before a worker starts. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-hostile-redis-'));
  writeFileSync(filePath('private.csv'), 'secret\nprivate-words\n');
  writeFileSync(
    filePath('behaviour.mjs'),
    `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(filePath('ran'))}, '');`,
  );
  [redis, target, foreign] = await Promise.all([
    startRedis('a-password-of-redis'),
    listening('target'),
    listening('foreign'),
  ]);
  closers.push(() => redis.kill());
  const environment = {
    FLEETBED_REDIS: redis.url,
    FLEETBED_WORKER_SECRET: SECRET,
    FLEETBED_PASSWORD: 'a-password-of-the-user',
  };
  const small = ['--devices', '2', '--keys', 'ed25519=1', '--poll', '200ms', '--ramp', '0'];
  const rich = [
    '--cohort',
    'night, weight: 1',
    '--incident',
    'power-cut, at: 60s, within: 5s',
    '--threshold',
    'p99(auth) < 9s',
  ];
  const spread = [
    '--shards',
    '1',
    '--takeover-after',
    '1s',
    '--duration',
    '2s',
    '--events',
    filePath('events.ndjson'),
  ];
  const args = ['simulate', '--json', '--url', urlOf(target), ...small, ...rich, ...spread];
  // Only the worker may log in as the user.
  coordinator = startCommand(args, { ...environment, FLEETBED_PASSWORD: '' });
  closers.push(() => coordinator.end('SIGKILL'));
  [, run = ''] =
    /run (\w+): /.exec(await coordinator.waitForOutput('stderr', /run \w+: 1 shards wait/)) ?? [];
  const { prefix, info } = runKeys(run);
  const options = { connection: redis.client, prefix, skipVersionCheck: true };
  queue = new Queue(QUEUE_NAME, options);
  eventsClient = redis.client.duplicate();
  eventsClient.on('error', () => undefined);
  queueEvents = new QueueEvents(QUEUE_NAME, { ...options, connection: eventsClient });
  closers.push(async () => {
    await Promise.all([queue.close(), queueEvents.close()]);
    eventsClient.disconnect();
  });
  const job = await queue.getJob('shard-0');
  signedJob = job?.data;
  signedInfo = (await redis.client.get(info)) ?? '';
  await job?.remove();
  worker = startCommand(['worker', '--url', urlOf(target)], environment);
  closers.push(() => worker.end('SIGKILL'));
  await worker.waitForOutput('stderr', /worker: ready for runs/);
}, RUN_MAX_MS);

afterAll(async () => {
  for (const close of closers.reverse()) await close();
  rmSync(folder, { recursive: true });
}, RUN_MAX_MS);

/** Gives the worker a job; resolves with the reason for its refusal. */
async function refusal(data: unknown, jobId = 'shard-0', more: object = {}): Promise<string> {
  const job = await queue.add('shard', data, { ...more, jobId });
  const reason = await job.waitUntilFinished(queueEvents, RESPONSE_MAX_MS).then(
    () => 'it was run',
    (error: Error) => error.message,
  );
  await job.remove();
  return reason;
}

const signer = () => new RunSigner(SECRET, run);
const signature = () => signedJob.slice(0, 64);
const realJob = () => JSON.parse(signedJob.slice(64));

/** Returns the place of every value in the job that is not an object or list. */
function leaves(value: Json, path: JsonPath = []): readonly JsonPath[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, part]) => leaves(part, [...path, name]));
}

function changeAt(value: Json, [name, ...path]: JsonPath): Json {
  if (name === undefined) {
    if (typeof value === 'string') return urlOf(foreign);
    return typeof value === 'number' ? value + 1 : !value;
  }
  const copy = structuredClone(value) as Record<string, Json>;
  copy[name] = changeAt(copy[name] ?? null, path);
  return copy;
}

/** Fields that only a worker may set, so it refuses them in a job whoever has signed the job. */
const own = (): Readonly<Record<string, Json>> => ({
  url: urlOf(foreign),
  behaviourFile: [filePath('behaviour.mjs')],
  acceptWith: { email: 'admin@example.com', password: 'another' },
  tenantToken: 'another',
  tls: { caPem: 'another' },
  sourceAddresses: ['127.0.0.2'],
  idDataCsv: filePath('private.csv'),
  keyFolder: folder,
  rsaPoolFolder: folder,
  state: filePath('state'),
  ledger: filePath('ledger'),
  'a\u001b[2Jb\nc': 1,
});

describe('a writer to Redis without the secret', { timeout: RUN_MAX_MS }, () => {
  it('cannot change or add a field of a job', async () => {
    const job = realJob();
    const paths = leaves(job);
    expect(paths.length).toBeGreaterThan(10);
    const tampered = paths.map((path) => changeAt(job, path));
    const grown = Object.entries(own()).map(([name, value]) => ({
      ...job,
      plan: { ...job.plan, [name]: value },
    }));
    for (const text of [...tampered, ...grown, { ...job, more: 1 }]) {
      expect(await refusal(signature() + JSON.stringify(text))).toMatch(unsigned);
    }
  });

  it('cannot place a job without a signature for exactly that job', async () => {
    const text = signedJob.slice(64);
    const wrong = [
      text,
      '',
      `${signature().toUpperCase()}${text}`,
      `${signature().slice(1)}${text}`,
      `${'0'.repeat(64)}${text}`,
      `${signedJob} `,
      signedInfo,
      new RunSigner('another-secret-of-others', run).sign(['job', 0], text),
      new RunSigner(SECRET, '0'.repeat(32)).sign(['job', 0], text),
      signer().sign(['job', 1], text),
      signer().sign(['info'], text),
      signer().sign(['job', 0], text.padEnd(2 ** 20 + 1)),
    ];
    for (const data of wrong) expect(await refusal(data)).toMatch(unsigned);
    for (const data of [realJob(), null, 7, [signedJob]]) {
      expect(await refusal(data)).toMatch(/does not come from the coordinator of its run/);
    }
    for (const id of ['shard-01', 'shard--1', 'shard', '\u001b]0;owned\u0007\nshard-0']) {
      expect(await refusal(signedJob, id)).toMatch(/does not come from the coordinator of its run/);
    }
    expect(await refusal(signedJob, 'shard-3')).toMatch(unsigned);
  });

  it('cannot end a worker through the fields that BullMQ reads', async () => {
    const { client } = redis;
    const keyOf = (name: string): string => `${runKeys(run).prefix}:${QUEUE_NAME}:${name}`;
    const hashes = [
      { data: '{', opts: '{}' },
      { data: '"x"', opts: '[[[' },
      { data: '"x"', opts: '{}', stacktrace: '{', returnvalue: '{', ats: 'x', atm: 'x' },
      { data: '"x"', opts: '{}', parent: '{' },
      { data: '['.repeat(100_000), opts: '{}' },
      {},
    ];
    for (const [index, hash] of hashes.entries()) {
      const id = `broken-${index}`;
      await client.hset(keyOf(id), { name: 'shard', timestamp: 0, ...hash });
      await client.lpush(keyOf('wait'), id);
      await client.zadd(keyOf('marker'), 0, '0');
    }
    const more = { backoff: { type: 'none', delay: 1 }, attempts: 3, telemetry: { metadata: 'x' } };
    expect(await refusal('x', 'shard-0', more)).toMatch(unsigned);
    expect(worker.child.exitCode).toBe(null);
  });

  it('cannot set a server, a file or a password, even with the secret', async () => {
    const job = realJob();
    for (const [name, value] of Object.entries(own())) {
      const text = JSON.stringify({ ...job, plan: { ...job.plan, [name]: value } });
      const reason = await refusal(signer().sign(['job', 0], text));
      expect(reason).toMatch(/is not known in a job$/);
    }
    const otherTexts = [JSON.stringify({ ...job, more: 1 }), '{', '[]', 'null'];
    for (const text of otherTexts) {
      expect(await refusal(signer().sign(['job', 0], text))).not.toMatch(/run/);
    }
  });

  it('causes only one line of output for each refused job', async () => {
    const stderr = await worker.waitForOutput('stderr', /refuses/);
    expect(callers).toEqual({ target: 0, foreign: 0 });
    expect(existsSync(filePath('ran'))).toBe(false);
    const [, ...lines] = stderr.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(40);
    for (const line of lines) expect(line).toMatch(/^\S+:\d+ refuses the job \S+: /);
    expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(stderr).not.toContain('private-words');
  });

  it('cannot change a figure of the run, stop the run or prolong it', async () => {
    const { client } = redis;
    const forger = new Forger((key, text) => client.xadd(key, '*', 'message', text));
    const endMonitor = await redis.monitor((args) => forger.record(args));
    await forger.add('down', JSON.stringify({ sequence: 0, message: { type: 'stop' } }));
    await queue.add('shard', signedJob, { jobId: 'shard-0', attempts: 4 });
    const { code, stdout, stderr } = await coordinator.ended;
    endMonitor();
    expect(code, stderr).toBe(0);
    // The result message is long, so it is compressed.
    expect(forger.types).toEqual(expect.arrayContaining(['request', 'owner', 'start', 'H4sI']));
    expect(forger.count).toBeGreaterThan(50);
    const result = JSON.parse(stdout) as FleetResult;
    expect(result.spread).toEqual({ takeovers: [], lost: [] });
    expect(result).toMatchObject({ ended: 'duration', funnel: { devices: 2, pending: 2 } });
    const events = readFileSync(filePath('events.ndjson'), 'utf8').trimEnd().split('\n');
    const withoutNumbers = events.map((line) => line.replace(/"sequence":\d+/, ''));
    expect(new Set(withoutNumbers).size).toBe(events.length);
    expect(events.filter((line) => line.includes('"exchange"'))).toHaveLength(exchangesIn(result));
    for (const output of [
      stderr,
      await worker.waitForOutput('stderr', /has completed the shard/),
    ]) {
      expect(output.match(/not signed with --worker-secret; they are ignored/g)).toHaveLength(1);
    }
  });

  it('cannot repeat any message of an ended run', async () => {
    const targetBefore = callers.target;
    const { info } = runKeys(run);
    await redis.client.set(info, signedInfo);
    await redis.client.zadd(RUNS_KEY, '+inf', run);
    for (const text of downs) await redis.client.xadd(runKeys(run).down, '*', 'message', text);
    expect(await refusal(signedJob)).toMatch(/^the coordinator did not give shard 0 to \S+$/);
    expect(callers).toEqual({ target: targetBefore, foreign: 0 });
    expect((await worker.end('SIGTERM')).code).toBe(0);
  });
});

/** The signed messages of the coordinator to its worker. */
const downs: string[] = [];

function exchangesIn({ operations }: FleetResult): number {
  return operations.reduce(
    (sum, { responses, unanswered }) =>
      sum + Object.values(responses).reduce((all, count) => all + count, unanswered),
    0,
  );
}

/** Creates forgeries and copies of every message of the run, in both directions. */
class Forger {
  readonly #put: (key: string, text: string) => Promise<unknown>;
  readonly #seen = new Set<string>();
  readonly types: string[] = [];
  count = 0;

  constructor(put: (key: string, text: string) => Promise<unknown>) {
    this.#put = put;
  }

  async add(direction: 'up' | 'down', text: string): Promise<void> {
    this.#seen.add(text);
    this.count++;
    await this.#put(runKeys(run)[direction], text);
  }

  record([command, key, ...args]: readonly string[]): void {
    const signed = args.at(-1) ?? '';
    const direction = key?.endsWith(':up') ? 'up' : 'down';
    if (command !== 'xadd' || this.#seen.has(signed)) return;
    const text = signed.slice(64);
    if (direction === 'down') downs.push(signed);
    this.types.push(/"type":"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 4));
    const next = text.replace(
      /"sequence":(\d+)/,
      (_, digits) => `"sequence":${Number(digits) + 1}`,
    );
    const reason = { type: direction === 'up' ? 'lost' : 'stop', reason: 'forged' };
    const forged = next.replace(/"message":.*/s, `"message":${JSON.stringify(reason)}}`);
    const otherSigner = new RunSigner('another-secret-of-others', run);
    const forgeries = [forged, next].flatMap((each) => [
      each,
      signed.slice(0, 64) + each,
      otherSigner.sign([direction], each),
      new RunSigner(SECRET, '0'.repeat(32)).sign([direction], each),
      signer().sign([direction === 'up' ? 'down' : 'up'], each),
    ]);
    for (const each of forgeries) void this.add(direction, each);
    void this.add(direction, signed);
    void this.add(direction === 'up' ? 'down' : 'up', signed);
  }
}
