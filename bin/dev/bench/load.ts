/** Load by autocannon from this process, with what it cost on both sides. */
import autocannon, { type Request } from 'autocannon';
import { systemClock } from '../../../fixtures/clock.ts';
import { spentMs } from './cpu-time.ts';

/** Number of connections of a load without `connections`. */
export const CONNECTIONS = 50;
/** How often autocannon looks whether it was stopped, and we whether the server has done enough. */
const SAMPLE_MS = 20;
/** Where the machine is busy with other things, a load lasts this many times longer at most. */
const WAIT_MAX = 30;

/** A load on one server, sent as fast as the server answers. */
export interface Load {
  readonly baseUrl: string;
  /** Process ID of the server, whose CPU time is measured. */
  readonly pid: number;
  /** Requests of each device, in order; a connection sends for devices of its own, in turn. */
  readonly requests: readonly (readonly Request[])[];
  /** The only status that is no error. */
  readonly status: number;
  readonly connections?: number;
  /**
   * CPU time of the server after which it ends, so that a round is the same work on a busy machine;
   * or, in its place, every request once.
   */
  readonly cpuSeconds: number | 'once';
}

/** The result of a load. */
export interface LoadFigures {
  /** Answers per second of CPU time of the server. */
  readonly perServerCpuSecond: number;
  /** Answers per second of CPU time of this process. */
  readonly perGeneratorCpuSecond: number;
  readonly perSecond: number;
  /** Share of a core that the server used, and this process. */
  readonly serverBusy: number;
  readonly generatorBusy: number;
}

/** Sends requests as fast as they are answered. @throws Error when an answer has another status */
export async function load({ pid, status, ...asked }: Load): Promise<LoadFigures> {
  const [startedMs, spentBefore] = [systemClock.monotonicMs(), spentMs(pid)];
  const own = process.cpuUsage();
  const endMs = asked.cpuSeconds === 'once' ? Infinity : spentBefore + asked.cpuSeconds * 1000;
  const result = await cannonade(optionsOf(asked), () => spentMs(pid) >= endMs);
  const serverMs = spentMs(pid) - spentBefore;
  const { user, system } = process.cpuUsage(own);
  const generatorMs = (user + system) / 1000;
  const answers = requireStatus(result, status);
  const elapsedMs = systemClock.monotonicMs() - startedMs;
  return {
    perServerCpuSecond: (answers / serverMs) * 1000,
    perGeneratorCpuSecond: (answers / generatorMs) * 1000,
    perSecond: answers / result.duration,
    serverBusy: serverMs / elapsedMs,
    generatorBusy: generatorMs / elapsedMs,
  };
}

/** Runs autocannon until it has come to its end or this is enough. */
function cannonade(
  options: autocannon.Options,
  isEnough: () => boolean,
): Promise<autocannon.Result> {
  return new Promise((resolve, reject) => {
    const watch = systemClock.every(SAMPLE_MS, () => {
      if (isEnough()) running.stop();
    });
    const running = autocannon(options, (error, result) => {
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
}: Omit<Load, 'pid' | 'status'>): autocannon.Options {
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

/** Returns the number of answers. */
function requireStatus(result: autocannon.Result, status: number): number {
  const { errors, timeouts, statusCodeStats = {} } = result;
  const counts = Object.entries(statusCodeStats).map(([code, { count = 0 }]) => [code, count]);
  const wrong = counts.filter(([code]) => code !== String(status));
  const answers = Number(counts.find(([code]) => code === String(status))?.[1] ?? 0);
  if (wrong.length === 0 && errors + timeouts === 0 && answers > 0) return answers;
  const seen = counts.map(([code, count]) => `${count} times ${code}`).join(', ');
  throw new Error(
    `${result.url} did not always answer ${status}: ${seen}, ${errors} errors, ${timeouts} timeouts`,
  );
}
