/** The keys of a run in Redis: all below one prefix with the run's id, and none is left behind. */
import { QueueKeys } from 'bullmq';
import type { Redis } from 'ioredis';

/** Runs that look for workers; each until a moment that its coordinator keeps pushing on. */
export const RUNS_KEY = 'fleetbed:runs';
/** The queue of a run, below its prefix. */
export const QUEUE_NAME = 'shards';
/** A coordinator that has said nothing for so long is gone, and its run with it. */
export const COORDINATOR_SILENCE_MAX_MS = 10_000;
/** Keys of a run whose coordinator is gone are forgotten after this time. */
export const FORGOTTEN_AFTER_SECONDS = 300;

/** The names of a run's keys. */
export interface RunKeys {
  readonly prefix: string;
  /** Signed text: what a worker has to know before it takes part. */
  readonly info: string;
  /** A hash: the workers that take part. */
  readonly workers: string;
  /** A stream: what workers say to the coordinator. */
  readonly up: string;
  /** A stream: what the coordinator says to all workers. */
  readonly down: string;
}

/** The keys of the run; the braces keep them together in a cluster. */
export function runKeys(run: string): RunKeys {
  const prefix = `fleetbed:{${run}}`;
  const key = (name: string): string => `${prefix}:${name}`;
  return {
    prefix,
    info: key('info'),
    workers: key('workers'),
    up: key('up'),
    down: key('down'),
  };
}

/** Whether it can be the id of a run, of which no other run ever has the same. */
export function isRunId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** The job of a shard. */
export function jobIdOf(shard: number): string {
  return `shard-${shard}`;
}

/** The shard of a job; undefined when the id is none of a shard's job. */
export function shardOf(jobId: string): number | undefined {
  const [, digits] = /^shard-(0|[1-9]\d{0,3})$/.exec(jobId) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Keeps the keys for another while, should the coordinator not be able to take them away. */
export async function keepKeys(client: Redis, keys: RunKeys, shards: number): Promise<void> {
  const pipeline = client.pipeline();
  for (const key of lastingKeys(keys, shards)) pipeline.expire(key, FORGOTTEN_AFTER_SECONDS);
  await pipeline.exec();
}

/** Takes every key of the run away. */
export async function removeKeys(client: Redis, keys: RunKeys, shards: number): Promise<void> {
  await client.unlink(...lastingKeys(keys, shards), ...passingKeys(keys, shards));
}

const jobKeys = (keys: RunKeys, shards: number): readonly string[] =>
  Array.from({ length: shards }, (_, shard) =>
    new QueueKeys(keys.prefix).toKey(QUEUE_NAME, jobIdOf(shard)),
  );

/** BullMQ's keys are told one by one: a search would walk over all that others keep there. */
function lastingKeys(keys: RunKeys, shards: number): readonly string[] {
  const queue = new QueueKeys(keys.prefix);
  const { 'stalled-check': _, ...ofQueue } = queue.getKeys(QUEUE_NAME);
  const own = [keys.info, keys.workers, keys.up, keys.down];
  return [...own, ...Object.values(ofQueue), ...jobKeys(keys, shards)];
}

/** They expire by themselves, and early: a lock that is kept would hide the loss of its worker. */
function passingKeys(keys: RunKeys, shards: number): readonly string[] {
  const check = new QueueKeys(keys.prefix).toKey(QUEUE_NAME, 'stalled-check');
  return [check, ...jobKeys(keys, shards).map((job) => `${job}:lock`)];
}
