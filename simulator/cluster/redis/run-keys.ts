/** The Redis keys of a run: all share a prefix with the run's ID, and none is left behind. */
import { QueueKeys } from 'bullmq';
import type { Redis } from 'ioredis';

/** Runs that need workers, each with an expiry that its coordinator keeps extending. */
export const RUNS_KEY = 'fleetbed:runs';
/** The queue of a run, below its prefix. */
export const QUEUE_NAME = 'shards';
/** A coordinator that is silent this long is gone, and so is its run. */
export const COORDINATOR_SILENCE_MAX_MS = 10_000;
/** Keys of a run without a coordinator expire after this time. */
export const FORGOTTEN_AFTER_SECONDS = 300;

/** The key names of a run. */
export interface RunKeys {
  readonly prefix: string;
  /** Signed text: what a worker has to know before it joins. */
  readonly info: string;
  /** A hash of the workers that take part. */
  readonly workers: string;
  /** A stream of messages from workers to the coordinator. */
  readonly up: string;
  /** A stream of messages from the coordinator to all workers. */
  readonly down: string;
}

/** Returns the keys of the run; the braces place them in one slot of a cluster. */
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

/** Returns true for a valid run ID; run IDs are never reused. */
export function isRunId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** Returns the job ID of a shard. */
export function jobIdOf(shard: number): string {
  return `shard-${shard}`;
}

/** Returns the shard of a job; undefined when the ID is not that of a shard's job. */
export function shardOf(jobId: string): number | undefined {
  const [, digits] = /^shard-(0|[1-9]\d{0,3})$/.exec(jobId) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Extends the expiry of the keys, in case the coordinator cannot remove them. */
export async function keepKeys(client: Redis, keys: RunKeys, shards: number): Promise<void> {
  const pipeline = client.pipeline();
  for (const key of lastingKeys(keys, shards)) pipeline.expire(key, FORGOTTEN_AFTER_SECONDS);
  await pipeline.exec();
}

/** Removes every key of the run. */
export async function removeKeys(client: Redis, keys: RunKeys, shards: number): Promise<void> {
  await client.unlink(...lastingKeys(keys, shards), ...passingKeys(keys, shards));
}

const jobKeys = (keys: RunKeys, shards: number): readonly string[] =>
  Array.from({ length: shards }, (_, shard) =>
    new QueueKeys(keys.prefix).toKey(QUEUE_NAME, jobIdOf(shard)),
  );

/** BullMQ's keys are listed by name: a search would scan every other key in that Redis. */
function lastingKeys(keys: RunKeys, shards: number): readonly string[] {
  const queue = new QueueKeys(keys.prefix);
  const { 'stalled-check': _, ...ofQueue } = queue.getKeys(QUEUE_NAME);
  const own = [keys.info, keys.workers, keys.up, keys.down];
  return [...own, ...Object.values(ofQueue), ...jobKeys(keys, shards)];
}

/** These expire on their own, and early: a lock that is kept would hide the loss of its worker. */
function passingKeys(keys: RunKeys, shards: number): readonly string[] {
  const check = new QueueKeys(keys.prefix).toKey(QUEUE_NAME, 'stalled-check');
  return [check, ...jobKeys(keys, shards).map((job) => `${job}:lock`)];
}
