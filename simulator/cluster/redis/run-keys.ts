/**
 * The names of a run's Redis keys. They share a prefix with the run's ID, and all are removed after
 * the run.
 */
import { QueueKeys } from 'bullmq';
import type { Redis } from 'ioredis';

/**
 * Key of the set of runs that need workers. The score of a run is its expiry, which its coordinator
 * keeps extending.
 */
export const RUNS_KEY = 'fleetbed:runs';
/** Name of a run's queue, without the prefix. */
export const QUEUE_NAME = 'shards';
/** Time without a message, in milliseconds, after which a coordinator and its run count as lost. */
export const COORDINATOR_SILENCE_MAX_MS = 10_000;
/** Expiry in seconds of the keys of a run whose coordinator is lost. */
export const FORGOTTEN_AFTER_SECONDS = 300;

/** The key names of a run. */
export interface RunKeys {
  readonly prefix: string;
  /** Key of a signed text with the facts that a worker needs before it joins. */
  readonly info: string;
  /** Key of a hash with the names of the workers that take part. */
  readonly workers: string;
  /** Key of the stream of messages from workers to the coordinator. */
  readonly up: string;
  /** Key of the stream of messages from the coordinator to all workers. */
  readonly down: string;
}

/** Returns the keys of a run. The braces assign them all to one slot of a Redis cluster. */
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

/** Returns true when the text has the format of a run ID. Run IDs are never reused. */
export function isRunId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** Returns the job ID of a shard. */
export function jobIdOf(shard: number): string {
  return `shard-${shard}`;
}

/** Returns the shard of a job; undefined when the ID does not belong to a shard's job. */
export function shardOf(jobId: string): number | undefined {
  const [, digits] = /^shard-(0|[1-9]\d{0,3})$/.exec(jobId) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Extends the expiry of the run's keys, which removes them if the coordinator cannot. */
export async function keepKeys(client: Redis, keys: RunKeys, shards: number): Promise<void> {
  const pipeline = client.pipeline();
  for (const key of persistentKeys(keys, shards)) pipeline.expire(key, FORGOTTEN_AFTER_SECONDS);
  await pipeline.exec();
}

/** Removes every key of the run. */
export async function removeKeys(client: Redis, keys: RunKeys, shards: number): Promise<void> {
  await client.unlink(...persistentKeys(keys, shards), ...expiringKeys(keys, shards));
}

const jobKeys = (keys: RunKeys, shards: number): readonly string[] =>
  Array.from({ length: shards }, (_, shard) =>
    new QueueKeys(keys.prefix).toKey(QUEUE_NAME, jobIdOf(shard)),
  );

/**
 * Returns the keys that exist during the whole run. BullMQ's keys are listed by name, because a
 * search would scan all keys of the Redis server.
 */
function persistentKeys(keys: RunKeys, shards: number): readonly string[] {
  const queue = new QueueKeys(keys.prefix);
  const { 'stalled-check': _, ...ofQueue } = queue.getKeys(QUEUE_NAME);
  const runKeys = [keys.info, keys.workers, keys.up, keys.down];
  return [...runKeys, ...Object.values(ofQueue), ...jobKeys(keys, shards)];
}

/**
 * Returns the keys that expire early by themselves. They are not extended, because an extended lock
 * would hide the loss of its worker.
 */
function expiringKeys(keys: RunKeys, shards: number): readonly string[] {
  const check = new QueueKeys(keys.prefix).toKey(QUEUE_NAME, 'stalled-check');
  return [check, ...jobKeys(keys, shards).map((job) => `${job}:lock`)];
}
