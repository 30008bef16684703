/** What Redis carries while workers share a fleet: commands, and bytes in both directions. */
import { figuresPeriodSeconds } from '../result/shard-figures.ts';

/** A run as its coordinator and workers see it, one shard each. */
export interface SharedRun {
  readonly workers: number;
  /** Of all workers together. */
  readonly devices: number;
  readonly requestsPerSecond: number;
  /** How long the run has lasted: its histograms grow with what they have counted. */
  readonly seconds: number;
}

/** Costs of Redis for each second; bytes are those in and those out together. */
export interface RedisCosts {
  /** Of a coordinator: it announces its run and keeps its keys. */
  readonly commandsPerRun: number;
  /** Of a worker: looks for runs, locks of its job, two messages and what reads them. */
  readonly commandsPerWorker: number;
  /** Of a worker besides its progress. */
  readonly bytesPerWorker: number;
  /** Of a progress message in which there are no figures. */
  readonly progressBytes: number;
  /** Of one with figures, besides their histograms. */
  readonly figuresBytes: number;
  /** Of a histogram, for the cube of the decimal logarithm of what it has counted: 10^5 take 125 of it. */
  readonly histogramBytes: number;
}

/** Traffic of Redis for each second. */
export interface RedisTraffic {
  readonly commands: number;
  readonly bytes: number;
}

/** Measured as those of machines are; the part `estimate` of the benchmark tells how near they are. */
export const measuredRedisCosts: RedisCosts = {
  commandsPerRun: 9,
  commandsPerWorker: 17,
  bytesPerWorker: 3000,
  progressBytes: 1850,
  figuresBytes: 2000,
  histogramBytes: 43,
};

/** What `simulate --shards` takes at most; more processes are several runs. */
const WORKERS_MAX = 1000;
/** A message goes into Redis and out of it. */
const WAYS = 2;
/** Operations of a device that are sent when it arrives, each with a histogram, and their requests. */
const FIRST_OPERATIONS = 6;
const FIRST_REQUESTS = 8;

/** Returns what Redis carries for this run, or for as few runs as so many workers take. */
export function redisTrafficOf(
  run: SharedRun,
  costs: RedisCosts = measuredRedisCosts,
): RedisTraffic {
  const { workers } = run;
  const runs = Math.ceil(workers / WORKERS_MAX);
  // Workers take turns with their figures, and the more of them there are the seldomer each.
  const share = 1 / figuresPeriodSeconds(Math.ceil(workers / runs));
  const figures = costs.figuresBytes + histogramsBytes(run, costs);
  const progress = share * figures + (1 - share) * costs.progressBytes;
  return {
    commands: runs * costs.commandsPerRun + workers * costs.commandsPerWorker,
    bytes: workers * (costs.bytesPerWorker + WAYS * progress),
  };
}

/** Of one worker: latencies of the first requests and of polls, and how late all of them were. */
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
