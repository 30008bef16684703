/** How a fleet is spread: over processes of this machine, over machines, or as one shard of many. */
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { systemRandom } from '../../fixtures/random.ts';
import { type ClusterOutcome, mergedResult } from '../../simulator/cluster/coordinator.ts';
import { runInProcesses } from '../../simulator/cluster/local-workers.ts';
import {
  type FleetHooks,
  type FleetPlan,
  type FleetResult,
  simulateFleet,
} from '../../simulator/engine/simulate-fleet.ts';
import { count, durationMs, filled, positiveDurationMs } from '../option-values.ts';
import { packageVersion } from '../version.ts';
import { authorityIn } from './certificates.ts';
import { judgeFor } from './checks.ts';
import { redisOptions } from './redis-options.ts';
import { workerSecret, workerSecretOption } from './worker-secret.ts';

/** More processes than this help on no machine. */
const PROCESSES_MAX = 256;
const SHARDS_MAX = 10_000;
/** Parts of one run on workers: each of them is a process somewhere. */
const WORKER_SHARDS_MAX = 1000;
const TAKEOVER_LEAST_MS = 1000;
const TAKEOVER_MOST_MS = 600_000;

/** The options that say how a fleet is spread, as commander gives them. */
export interface SpreadOptions {
  readonly processes?: number;
  readonly shard?: { readonly index: number; readonly of: number };
  readonly deploymentId?: string;
  readonly redis?: string;
  readonly redisCa?: string;
  readonly workerSecret?: string;
  readonly shards?: number;
  /** Milliseconds. */
  readonly workerWait: number;
  readonly takeoverAfter: number;
}

/** Adds the options that say how a fleet is spread. */
export function addSpreadOptions(command: Command): Command {
  command
    .optionsGroup('Processes and machines:')
    .addOption(
      new Option('--processes <count>', 'number of processes (auto: one per core)').argParser(
        processCount,
      ),
    )
    .addOption(
      new Option('--shard <index/count>', 'run only this part of the fleet; the first is 0')
        .argParser(shard)
        .conflicts('processes'),
    )
    .option('--deployment-id <id>', 'join this deployment instead of creating one', filled);
  for (const option of redisOptions('Redis of the workers')) command.addOption(option);
  return command
    .addOption(workerSecretOption())
    .addOption(
      new Option('--shards <count>', 'number of parts to divide the fleet into, for workers')
        .argParser(count(1, WORKER_SHARDS_MAX))
        .conflicts(['processes', 'shard']),
    )
    .addOption(
      new Option('--worker-wait <duration>', 'time that a part may wait for a worker')
        .argParser(positiveDurationMs)
        .default(120_000, '2m'),
    )
    .addOption(
      new Option('--takeover-after <duration>', 'silence after which a worker counts as failed')
        .argParser(takeoverMs)
        .default(10_000, '10s'),
    );
}

/**
 * What is wrong with the options together, in words, or nothing.
 * @param isRedisAsked whether Redis was asked for on the command line, not by the environment alone
 */
export function spreadFault(
  { shards, redis }: SpreadOptions,
  isRedisAsked: boolean,
): string | undefined {
  if (shards !== undefined && redis === undefined) {
    return "option '--shards <count>' needs --redis URL (env: FLEETBED_REDIS)";
  }
  const isUseless = isRedisAsked && shards === undefined;
  return isUseless ? "option '--redis <url>' needs --shards COUNT" : undefined;
}

/** The plan with what the options say of its part and its deployment. */
export function spreadPlan(plan: FleetPlan, { shard, deploymentId }: SpreadOptions): FleetPlan {
  return {
    ...plan,
    ...(shard !== undefined && { shard }),
    ...(deploymentId !== undefined && { deploymentId }),
  };
}

/** Where a run on workers says what goes on. */
export interface SpreadTeller {
  readonly say: (text: string) => void;
}

/** Runs the plan the way the options say. @throws what simulateFleet throws; CommandFault */
export async function simulateSpread(
  plan: FleetPlan,
  hooks: FleetHooks & SpreadTeller,
  options: SpreadOptions,
): Promise<FleetResult> {
  if (options.shards !== undefined) {
    return mergedResult(await playSpread(plan, hooks, { ...options, shards: options.shards }));
  }
  const processes = Math.min(options.processes ?? 1, plan.devices);
  if (processes === 1) return simulateFleet(plan, { ...hooks, judge: await judgeFor(plan) });
  return mergedResult(await runInProcesses(plan, hooks, processes));
}

async function playSpread(
  plan: FleetPlan,
  hooks: FleetHooks & SpreadTeller,
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
  // The coordinator is loaded with its engine only where there is one.
  const [{ openRedis }, { runOnWorkers: playOnWorkers }] = await Promise.all([
    import('../../simulator/cluster/redis/connection.ts'),
    import('../../simulator/cluster/redis/run-on-workers.ts'),
  ]);
  const link = await openRedis({ url: redis ?? '', caPem }, hooks.clock);
  return playOnWorkers(plan, hooks, {
    link,
    secret,
    shards: Math.min(shards, plan.devices),
    takeoverAfterMs: takeoverAfter,
    workerWaitMs: workerWait,
    random: systemRandom,
    version: packageVersion(),
    say: hooks.say,
  });
}

/** A number of processes, or all the cores that this process may use. */
function processCount(text: string): number {
  if (text === 'auto') return Math.min(availableParallelism(), PROCESSES_MAX);
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= PROCESSES_MAX) return value;
  throw new InvalidArgumentError(`Accepted: auto, or a whole number from 1 to ${PROCESSES_MAX}.`);
}

/** Long enough for a worker to say in between that it lives. */
function takeoverMs(text: string): number {
  const milliseconds = durationMs(text);
  if (milliseconds >= TAKEOVER_LEAST_MS && milliseconds <= TAKEOVER_MOST_MS) return milliseconds;
  throw new InvalidArgumentError('Accepted: a length of time from 1s to 10m.');
}

function shard(text: string): { readonly index: number; readonly of: number } {
  const [, first = '', second = ''] = /^(\d{1,5})\/(\d{1,5})$/.exec(text) ?? [];
  const [index, of] = [Number(first), Number(second)];
  if (first !== '' && index < of && of <= SHARDS_MAX) return { index, of };
  throw new InvalidArgumentError(
    `Accepted: INDEX/COUNT, such as 0/4 for the first of four, at most ${SHARDS_MAX} of them.`,
  );
}
