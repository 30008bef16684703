/** Estimates the Redis traffic of a fleet on workers: commands, and bytes in both directions. */
import { figuresPeriodSeconds } from '../result/shard-figures.ts';

/** A run on workers with one shard each. */
export interface SharedRun {
  readonly workers: number;
  /** Devices of all workers together. */
  readonly devices: number;
  readonly requestsPerSecond: number;
  /** Duration of the run so far; histograms grow with the number of values in them. */
  readonly seconds: number;
}

/** Redis costs per second. Bytes count both directions. */
export interface RedisCosts {
  /** Commands of a coordinator, which announces its run and keeps its keys from expiring. */
  readonly commandsPerRun: number;
  /** Commands of a worker, which looks for runs, locks its job and exchanges messages. */
  readonly commandsPerWorker: number;
  /** Bytes of a worker without its progress messages. */
  readonly bytesPerWorker: number;
  /** Bytes of a progress message without figures. */
  readonly progressBytes: number;
  /** Bytes of a progress message with figures, without the histograms. */
  readonly figuresBytes: number;
  /**
   * Bytes of a histogram, divided by the cube of log10 of its count: 125 times this value for 10^5
   * durations.
   */
  readonly histogramBytes: number;
}

/** Commands and bytes per second between a run on workers and Redis. */
export interface RedisTraffic {
  readonly commands: number;
  readonly bytes: number;
}

/**
 * Redis costs measured in the same way as `measuredCosts`. Part `estimate` of the benchmark shows
 * their accuracy.
 */
export const measuredRedisCosts: RedisCosts = {
  commandsPerRun: 9,
  commandsPerWorker: 17,
  bytesPerWorker: 3000,
  progressBytes: 1850,
  figuresBytes: 2000,
  histogramBytes: 43,
};

/** Maximum number of shards of one run (`simulate --shards`); more workers need several runs. */
const WORKERS_MAX = 1000;
/** Each message passes twice: it is written to Redis and read from it. */
const WAYS = 2;
/**
 * Number of operations that a device uses on arrival, each with a histogram, and of their requests.
 */
const FIRST_OPERATIONS = 6;
const FIRST_REQUESTS = 8;

/**
 * Returns the Redis traffic of a run. If it has more workers than one run allows, it is divided
 * into as few runs as possible.
 */
export function redisTrafficOf(
  run: SharedRun,
  costs: RedisCosts = measuredRedisCosts,
): RedisTraffic {
  const { workers } = run;
  const runs = Math.ceil(workers / WORKERS_MAX);
  // A worker sends its figures less often the more workers the run has.
  const share = 1 / figuresPeriodSeconds(Math.ceil(workers / runs));
  const figures = costs.figuresBytes + histogramsBytes(run, costs);
  const progress = share * figures + (1 - share) * costs.progressBytes;
  return {
    commands: runs * costs.commandsPerRun + workers * costs.commandsPerWorker,
    bytes: workers * (costs.bytesPerWorker + WAYS * progress),
  };
}

/**
 * Returns the bytes of one worker's histograms: latencies of first requests, latencies of polls,
 * and lateness.
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
