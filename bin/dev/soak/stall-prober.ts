/**
 * How long a server keeps others waiting, seen from outside: in CPU time of the thread that runs its
 * event loop, so that other programs on the machine do not count.
 */
import { once } from 'node:events';
import { startClient } from './child-processes.ts';

/** A server in a process of its own. */
interface Probed {
  readonly pid: number;
  readonly baseUrl: string;
}

/** Watches a server from a process of its own. */
export interface StallProber {
  /**
   * Runs `work`, and returns the most CPU time in milliseconds that the server spent meanwhile
   * between two answers to the prober. It is an upper bound: where the prober had to wait for the
   * machine, the server may have done several pieces of work.
   */
  worstDuring(work: () => Promise<unknown>): Promise<number>;
  end(): void;
}

/** Starts a prober; resolves once it has its first answer. */
export async function startStallProber({ pid, baseUrl }: Probed): Promise<StallProber> {
  const child = startClient('probing.js', [String(pid), baseUrl]);
  const ended = once(child, 'exit').then(() => {
    throw new Error('the prober lost its connection to the server');
  });
  // Whoever waits for a report learns of it; nobody else has to.
  ended.catch(() => undefined);
  const report = async (): Promise<number> => {
    child.send('report');
    const [worstMs] = await Promise.race([once(child, 'message'), ended]);
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
