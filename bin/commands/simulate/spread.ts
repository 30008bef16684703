/**
 * The options that run a fleet in several processes, on several machines, or as one shard of many.
 */
import { availableParallelism } from 'node:os';
import type { OptionRows, ValuesOf } from '../../../fixtures/base/option-row.ts';
import { systemRandom } from '../../../fixtures/base/random.ts';
import { type ClusterOutcome, mergedResult } from '../../../simulator/cluster/coordinator.ts';
import { runInProcesses } from '../../../simulator/cluster/local-workers.ts';
import {
  type FleetEnvironment,
  type FleetResult,
  simulateFleet,
} from '../../../simulator/engine/simulate-fleet.ts';
import { durationMs } from '../../options/option-values.ts';
import { packageVersion } from '../../output/version.ts';
import { authorityIn } from './certificates.ts';
import { judgeFor } from './checks.ts';
import type { PlanWithSources } from './plan.ts';
import { redisRows, workerSecret } from './redis-options.ts';

/** Limit on processes; more do not increase the load. */
const PROCESSES_MAX = 256;
const SHARDS_MAX = 10_000;
/** Limit on the shards of one run on workers; each shard is a process. */
const WORKER_SHARDS_MAX = 1000;
const TAKEOVER_MIN_MS = 1000;
const TAKEOVER_MAX_MS = 600_000;

const group = 'Processes and machines';

/** The options that decide how a fleet is spread. */
export const spreadRows = {
  processes: {
    flag: '--processes <count>',
    group,
    help: 'number of processes (auto: one per core)',
    cli: {
      kind: 'read',
      read: processCount,
      accepted: `auto, or a whole number from 1 to ${PROCESSES_MAX}`,
    },
  },
  shard: {
    flag: '--shard <index/count>',
    group,
    help: 'run only this shard of the fleet; the first is 0',
    cli: {
      kind: 'read',
      read: shard,
      accepted: `INDEX/COUNT, such as 0/4 for the first of four shards (at most ${SHARDS_MAX})`,
    },
    conflicts: ['processes'],
  },
  deploymentId: {
    flag: '--deployment-id <id>',
    group,
    help: 'join this deployment instead of creating one',
    cli: { kind: 'text' },
  },
  ...redisRows(group, 'Redis of the workers'),
  shards: {
    flag: '--shards <count>',
    group,
    help: 'number of shards of the fleet, which workers run',
    cli: { kind: 'count', min: 1, max: WORKER_SHARDS_MAX },
    conflicts: ['processes', 'shard'],
  },
  workerWait: {
    flag: '--worker-wait <duration>',
    group,
    help: 'longest time that a shard may wait for a worker',
    cli: { kind: 'positive-duration' },
    default: { value: 120_000, text: '2m' },
  },
  takeoverAfter: {
    flag: '--takeover-after <duration>',
    group,
    help: 'time without a message after which a worker counts as failed',
    cli: { kind: 'read', read: takeoverMs, accepted: 'a duration from 1s to 10m' },
    default: { value: 10_000, text: '10s' },
  },
} as const satisfies OptionRows;

/**
 * The options that decide how a fleet is spread, as commander parses them; times in milliseconds.
 */
export type SpreadOptions = ValuesOf<typeof spreadRows>;

/**
 * Returns a sentence about options that contradict each other, if any.
 * @param isRedisGiven true when the command line names Redis, not only the environment
 */
export function spreadProblem(
  { shards, redis }: SpreadOptions,
  isRedisGiven: boolean,
): string | undefined {
  if (shards !== undefined && redis === undefined) {
    return "option '--shards <count>' needs --redis URL (env: FLEETBED_REDIS)";
  }
  const isUseless = isRedisGiven && shards === undefined;
  return isUseless ? "option '--redis <url>' needs --shards COUNT" : undefined;
}

/** Prints messages about a run on workers. */
export interface SpreadOutput {
  readonly print: (text: string) => void;
}

/**
 * Runs the plan in one process, in several processes, or on workers.
 * @throws CommandError, and the errors of `simulateFleet`
 */
export async function simulateSpread(
  written: PlanWithSources,
  environment: FleetEnvironment & SpreadOutput,
  options: SpreadOptions,
): Promise<FleetResult> {
  if (options.shards !== undefined) {
    return mergedResult(
      await runSpread(written, environment, { ...options, shards: options.shards }),
    );
  }
  const { plan } = written;
  const processes = Math.min(options.processes ?? 1, plan.devices);
  if (processes === 1) return simulateFleet(plan, { ...environment, judge: await judgeFor(plan) });
  return mergedResult(await runInProcesses(plan, environment, processes));
}

async function runSpread(
  { plan, input }: PlanWithSources,
  environment: FleetEnvironment & SpreadOutput,
  {
    shards,
    redis,
    redisCa,
    workerWait,
    takeoverAfter,
    ...more
  }: SpreadOptions & { shards: number },
): Promise<ClusterOutcome> {
  const secret = workerSecret(more.workerSecret);
  const caPem = redisCa === undefined ? undefined : await authorityIn('--redis-ca', redisCa);
  // The coordinator and the engine are loaded only when they are needed.
  const [{ openRedis }, { runOnWorkers: onWorkers }] = await Promise.all([
    import('../../../simulator/cluster/redis/connection.ts'),
    import('../../../simulator/cluster/redis/run-on-workers.ts'),
  ]);
  const connection = await openRedis({ url: redis ?? '', caPem }, environment.clock);
  return onWorkers(plan, environment, {
    redis: connection,
    input,
    secret,
    shards: Math.min(shards, plan.devices),
    takeoverAfterMs: takeoverAfter,
    workerWaitMs: workerWait,
    random: systemRandom,
    version: packageVersion(),
    print: environment.print,
  });
}

/** Parses a number of processes; `auto` is one process for each core that this process may use. */
function processCount(text: string): number | undefined {
  if (text === 'auto') return Math.min(availableParallelism(), PROCESSES_MAX);
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= PROCESSES_MAX ? value : undefined;
}

/**
 * Parses the takeover time in milliseconds; it must be long enough for a worker to send a sign of
 * life in between.
 */
function takeoverMs(text: string): number | undefined {
  const milliseconds = durationMs(text);
  const isWithin = milliseconds >= TAKEOVER_MIN_MS && milliseconds <= TAKEOVER_MAX_MS;
  return isWithin ? milliseconds : undefined;
}

function shard(text: string): { readonly index: number; readonly of: number } | undefined {
  const [, first = '', second = ''] = /^(\d{1,5})\/(\d{1,5})$/.exec(text) ?? [];
  const [index, count] = [Number(first), Number(second)];
  return first !== '' && index < count && count <= SHARDS_MAX ? { index, of: count } : undefined;
}
