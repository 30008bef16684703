/**
 * Rows of the part `estimate` for a fleet on several workers: the traffic through a real Redis, as
 * counted by Redis itself.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { redisTrafficOf } from '../../../../simulator/estimate/redis-traffic.ts';
import { type RedisServer, redisProgram, startRedis } from '../../../testing/redis-server.ts';
import { fleetbed } from '../children.ts';
import type { BenchContext } from '../rounds.ts';
import type { BenchRow } from '../row.ts';
import { wrongRow } from './wrong-row.ts';

interface SharedSize {
  readonly devices: number;
  readonly workers: number;
  readonly pollIntervalMs: number;
  readonly rampMs: number;
  readonly measuredMs: number;
}

const sizes: readonly SharedSize[] = [
  { devices: 500, workers: 2, pollIntervalMs: 1000, rampMs: 2000, measuredMs: 15_000 },
  { devices: 5000, workers: 3, pollIntervalMs: 10_000, rampMs: 20_000, measuredMs: 20_000 },
];
const secrets = { redis: 'redis-of-the-benchmark', worker: 'coordinator-and-workers' };
/** Time limit for starting processes and sending first requests on a busy machine. */
const GATHER_MAX_MS = 120_000;
/** Wait in milliseconds after the last device has made contact. */
const SETTLE_MS = 3000;
const progressLine = /^(?<seconds>[\d.]+) s, .* (?<idle>\d+) idle,/;

/**
 * Measures the rows. A quick run measures only the smallest fleet; without Redis there are no rows.
 */
export async function sharedFleetRows(context: BenchContext): Promise<BenchRow[]> {
  if (redisProgram() === undefined) {
    const sentence = 'the Redis traffic of the estimate is not measured: there is no redis-server';
    context.output.progress(`${sentence} (node bin/dev/setup.mjs --redis)`);
    return [];
  }
  const rows: BenchRow[] = [];
  for (const size of context.quick ? sizes.slice(0, 1) : sizes) {
    rows.push(...(await rowsOf(context, size)));
  }
  return rows;
}

async function rowsOf(context: BenchContext, size: SharedSize): Promise<BenchRow[]> {
  const { devices, workers, pollIntervalMs } = size;
  context.output.progress(`gathering ${devices} devices on ${workers} workers that share a Redis`);
  const server = await context.children.serve('--auto-accept');
  const redis = await startRedis(secrets.redis);
  try {
    const measurement = await measureFleet(context, size, { url: server.ready.baseUrl, redis });
    const requestsPerSecond = devices / (pollIntervalMs / 1000);
    const run = { workers, devices, requestsPerSecond, seconds: measurement.seconds };
    const { commands, bytes } = redisTrafficOf(run);
    return [
      wrongRow({
        title: 'Redis commands/s',
        devices,
        estimated: commands,
        measured: measurement.commands,
      }),
      wrongRow({
        title: 'Redis KB/s',
        devices,
        estimated: bytes / 1000,
        measured: measurement.bytes / 1000,
      }),
    ];
  } finally {
    await redis.kill();
    await server.end();
  }
}

/**
 * Runs the fleet, and reads the counters of Redis once a second after every device has made
 * contact.
 */
async function measureFleet(
  { children }: Pick<BenchContext, 'children'>,
  { devices, workers, pollIntervalMs, rampMs, measuredMs }: SharedSize,
  { url, redis }: { readonly url: string; readonly redis: RedisServer },
) {
  const environment = { FLEETBED_REDIS: redis.url, FLEETBED_WORKER_SECRET: secrets.worker };
  const fleet = ['--devices', `${devices}`, '--keys', 'ed25519=1', '--ramp', `${rampMs}ms`];
  const times = ['--poll', `${pollIntervalMs}ms`, '--duration', '10m', '--shards', `${workers}`];
  const works = fleetbed('worker', '--url', url);
  const coordinates = fleetbed('simulate', '--url', url, '--json', ...fleet, ...times);
  const processes = [...Array.from({ length: workers }, () => works), coordinates].map((args) =>
    children.spawnWithStderr('alone', args, environment),
  );
  const exits = processes.map((child) => once(child, 'exit'));
  for (const { stdout, stderr } of processes) {
    stdout.resume();
    stderr.resume();
  }
  try {
    const gatheredSeconds = await waitForFleet(processes.at(-1)?.stderr, devices);
    const startMs = systemClock.monotonicMs() - gatheredSeconds * 1000;
    await systemClock.sleep(SETTLE_MS);
    const first = await reading(redis);
    await systemClock.sleep(measuredMs);
    const last = await reading(redis);
    const elapsed = (last.atMs - first.atMs) / 1000;
    return {
      /** Seconds from the start of the run to the middle of the measured interval. */
      seconds: ((first.atMs + last.atMs) / 2 - startMs) / 1000,
      commands: (last.commands - first.commands) / elapsed,
      bytes: (last.bytes - first.bytes) / elapsed,
    };
  } finally {
    for (const child of processes) child.kill('SIGKILL');
    await Promise.all(exits);
  }
}

/**
 * Reads progress lines until every device polls.
 * @returns the duration of the run at that time, in seconds
 */
async function waitForFleet(
  stderr: NodeJS.ReadableStream | null | undefined,
  devices: number,
): Promise<number> {
  if (!stderr) throw new Error('the coordinator has no progress');
  const signal = AbortSignal.timeout(GATHER_MAX_MS);
  for await (const line of createInterface({ input: stderr, signal })) {
    const { seconds, idle } = progressLine.exec(line)?.groups ?? {};
    if (Number(idle) === devices) return Number(seconds);
  }
  const within = `within ${GATHER_MAX_MS / 1000} s`;
  throw new Error(`${devices} devices on workers were not ready ${within}`);
}

/** Returns the number of commands and network bytes that Redis has counted since its start. */
async function reading({ client }: RedisServer) {
  const stats = await client.info('stats');
  const total = (line: RegExp): number => Number(line.exec(stats)?.[1]);
  return {
    atMs: systemClock.monotonicMs(),
    commands: total(/^total_commands_processed:(\d+)/m),
    bytes: total(/^total_net_input_bytes:(\d+)/m) + total(/^total_net_output_bytes:(\d+)/m),
  };
}
