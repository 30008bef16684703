/**
 * Measures from outside how long a server keeps other callers waiting. The measure is CPU time of
 * the server's main thread, so that other programs on the machine do not count.
 */
import { once } from 'node:events';
import { startClient } from './child-processes.ts';

/** A server in a separate process. */
interface ProbedServer {
  readonly pid: number;
  readonly baseUrl: string;
}

/** Watches a server from a separate process. */
export interface StallProber {
  /**
   * Runs `work`, and returns the greatest CPU time, in milliseconds, that the server spent between
   * two responses to the prober. The value is an upper bound: while the prober waits for a CPU
   * core, the server may do several pieces of work.
   */
  worstDuring(work: () => Promise<unknown>): Promise<number>;
  end(): void;
}

/** Starts a prober; resolves once it has received its first response. */
export async function startStallProber({ pid, baseUrl }: ProbedServer): Promise<StallProber> {
  const child = startClient('probing.js', [String(pid), baseUrl]);
  const exit = once(child, 'exit').then(() => {
    throw new Error('the prober lost its connection to the server');
  });
  // A failure of the prober rejects the next report; without a report it needs no handler.
  exit.catch(() => undefined);
  const report = async (): Promise<number> => {
    child.send('report');
    const [worstMs] = await Promise.race([once(child, 'message'), exit]);
    return Number(worstMs);
  };
  await report();
  return {
    worstDuring: async (work) => {
      await report();
      await work();
      return report();
    },
    end: () => child.kill(),
  };
}
