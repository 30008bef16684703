/**
 * Estimates the Redis traffic while workers share a fleet: commands, and bytes in both directions.
 */
import { figuresPeriodSeconds } from '../result/shard-figures.ts';

/** A run on workers, one shard each. */
export interface SharedRun {
  readonly workers: number;
  /** Devices of all workers together. */
  readonly devices: number;
  readonly requestsPerSecond: number;
  /** How long the run has lasted: its histograms grow with what they have counted. */
  readonly seconds: number;
}

/** Redis costs per second; bytes in and out are added. */
export interface RedisCosts {
  /** Commands of a coordinator, which announces its run and keeps its keys. */
  readonly commandsPerRun: number;
  /** Commands of a worker: it looks for runs, locks its job, and exchanges messages. */
  readonly commandsPerWorker: number;
  /** Bytes of a worker, in addition to its progress messages. */
  readonly bytesPerWorker: number;
  /** Bytes of a progress message without figures. */
  readonly progressBytes: number;
  /** Bytes of a progress message with figures, in addition to their histograms. */
  readonly figuresBytes: number;
  /** Bytes of a histogram, times the cube of log10 of its count: 125 times for 10^5. */
  readonly histogramBytes: number;
}

/** Redis traffic per second. */
export interface RedisTraffic {
  readonly commands: number;
  readonly bytes: number;
}

/** Measured like the costs of machines; part `estimate` of the benchmark shows their accuracy. */
export const measuredRedisCosts: RedisCosts = {
  commandsPerRun: 9,
  commandsPerWorker: 17,
  bytesPerWorker: 3000,
  progressBytes: 1850,
  figuresBytes: 2000,
  histogramBytes: 43,
};

/** Limit of `simulate --shards`; more processes are several runs. */
const WORKERS_MAX = 1000;
/** A message is written to Redis and read from it. */
const WAYS = 2;
/** Operations of a device that are sent when it arrives, each with a histogram, and their requests. */
const FIRST_OPERATIONS = 6;
const FIRST_REQUESTS = 8;

/**
 * Returns the Redis traffic of this run, or of the fewest runs that this number of workers needs.
 */
export function redisTrafficOf(
  run: SharedRun,
  costs: RedisCosts = measuredRedisCosts,
): RedisTraffic {
  const { workers } = run;
  const runs = Math.ceil(workers / WORKERS_MAX);
  // Workers take turns with their figures: the more workers, the less often each sends them.
  const share = 1 / figuresPeriodSeconds(Math.ceil(workers / runs));
  const figures = costs.figuresBytes + histogramsBytes(run, costs);
  const progress = share * figures + (1 - share) * costs.progressBytes;
  return {
    commands: runs * costs.commandsPerRun + workers * costs.commandsPerWorker,
    bytes: workers * (costs.bytesPerWorker + WAYS * progress),
  };
}

/**
 * Returns the bytes of one worker's histograms: latencies of first requests and polls, and
 * lateness.
 */
function histogramsBytes(
  { workers, devices, requestsPerSecond, seconds }: SharedRun,
  { histogramBytes }: RedisCosts,
): number {
  const bytesOf = (count: number): number => histogramBytes * Math.log10(Math.max(1, count)) ** 3;
  const each = devices / workers;
  const polls = (requestsPerSecond * seconds) / workers;
  const lateness = polls + FIRST_REQUESTS * each;
  return FIRST_OPERATIONS * bytesOf(each) + bytesOf(polls) + bytesOf(lateness);
}
