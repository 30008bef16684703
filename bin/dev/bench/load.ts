/** Generates load with autocannon in this process, and measures the CPU time on both sides. */
import autocannon, { type Request } from 'autocannon';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { spentMs } from './cpu-time.ts';

/** Default for the number of connections. */
export const CONNECTIONS = 50;
/**
 * Interval at which autocannon checks whether it was stopped, and this module whether the server
 * has done enough work.
 */
const SAMPLE_MS = 20;
/** Limit on the duration of a load, as a multiple of its CPU time; a busy machine takes longer. */
const WAIT_MAX = 30;

/** A load on one server; each connection sends its next request after a response. */
export interface BenchLoad {
  readonly baseUrl: string;
  /** Process ID of the server, whose CPU time is measured. */
  readonly pid: number;
  /**
   * Requests of each device, in order. A connection sends for its own share of the devices, one
   * device after the other.
   */
  readonly requests: readonly (readonly Request[])[];
  /** The only status that does not count as an error. */
  readonly status: number;
  readonly connections?: number;
  /**
   * CPU time of the server, in seconds, after which the load ends: a round then has the same amount
   * of work on a busy machine. With `once`, the load ends after each request was sent once.
   */
  readonly cpuSeconds: number | 'once';
}

/** The result of a load. */
export interface LoadFigures {
  /** Responses per second of CPU time of the server. */
  readonly perServerCpuSecond: number;
  /** Responses per second of CPU time of this process. */
  readonly perGeneratorCpuSecond: number;
  readonly perSecond: number;
  /** Share of a CPU core that the server used, and that this process used. */
  readonly serverBusy: number;
  readonly generatorBusy: number;
}

/** Sends the requests of a load. @throws Error when a response has another status */
export async function load({ pid, status, ...options }: BenchLoad): Promise<LoadFigures> {
  const [startedMs, spentBefore] = [systemClock.monotonicMs(), spentMs(pid)];
  const cpuBefore = process.cpuUsage();
  const endMs = options.cpuSeconds === 'once' ? Infinity : spentBefore + options.cpuSeconds * 1000;
  const result = await runAutocannon(optionsOf(options), () => spentMs(pid) >= endMs);
  const serverMs = spentMs(pid) - spentBefore;
  const { user, system } = process.cpuUsage(cpuBefore);
  const generatorMs = (user + system) / 1000;
  const responses = requireStatus(result, status);
  const elapsedMs = systemClock.monotonicMs() - startedMs;
  return {
    perServerCpuSecond: (responses / serverMs) * 1000,
    perGeneratorCpuSecond: (responses / generatorMs) * 1000,
    perSecond: responses / result.duration,
    serverBusy: serverMs / elapsedMs,
    generatorBusy: generatorMs / elapsedMs,
  };
}

/** Runs autocannon until it ends by itself or `isEnough` returns true. */
function runAutocannon(
  options: autocannon.Options,
  isEnough: () => boolean,
): Promise<autocannon.Result> {
  return new Promise((resolve, reject) => {
    const watch = systemClock.every(SAMPLE_MS, () => {
      if (isEnough()) loadRun.stop();
    });
    const loadRun = autocannon(options, (error, result) => {
      watch.cancel();
      if (error) reject(error);
      else resolve(result);
    });
  });
}

function optionsOf({
  baseUrl,
  requests,
  cpuSeconds,
  connections = CONNECTIONS,
}: Omit<BenchLoad, 'pid' | 'status'>): autocannon.Options {
  let connection = 0;
  return {
    url: baseUrl,
    connections: Math.min(connections, requests.length),
    sampleInt: SAMPLE_MS,
    ...(cpuSeconds === 'once'
      ? { amount: requests.flat().length }
      : { duration: cpuSeconds * WAIT_MAX }),
    setupClient: (client) => {
      const own = connection;
      connection += 1;
      client.setRequests(requests.filter((_, at) => at % connections === own).flat());
    },
  };
}

/** Returns the number of responses. @throws Error for a response with another status */
function requireStatus(result: autocannon.Result, status: number): number {
  const { errors, timeouts, statusCodeStats = {} } = result;
  const counts = Object.entries(statusCodeStats).map(([code, { count = 0 }]) => [code, count]);
  const wrong = counts.filter(([code]) => code !== String(status));
  const responses = Number(counts.find(([code]) => code === String(status))?.[1] ?? 0);
  if (wrong.length === 0 && errors + timeouts === 0 && responses > 0) return responses;
  const statusCounts = counts.map(([code, count]) => `${count} times ${code}`).join(', ');
  throw new Error(
    `${result.url} did not always answer ${status}: ${statusCounts}, ${errors} errors, ${timeouts} timeouts`,
  );
}
