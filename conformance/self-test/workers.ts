/** Workers that run defects, in this process or in child processes with their own servers. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Defect } from './defect.ts';
import type { DefectResult } from './judgement.ts';
import type { RunDefect } from './matrix.ts';
import { runDefect, type SelfTestOptions } from './self-test.ts';

/** The message to a child process: a defect and the cases to run with it. */
interface WorkerOrder {
  readonly defectId: string;
  readonly ids: readonly string[];
}
type WorkerReply = { readonly result?: DefectResult } | { readonly error: string };

/** The workers of one self-test. The owner must close them. */
export interface DefectWorkers {
  readonly workers: readonly RunDefect[];
  close(): void;
}

/** Returns a pool of one worker, which runs defects in this process. */
export function ownWorker(options: SelfTestOptions): DefectWorkers {
  return {
    workers: [(defect, ids) => runDefect(defect, ids, options)],
    close: () => undefined,
  };
}

/** Returns a pool of child processes. @param args the command line arguments of a child */
export function forkedWorkers(
  processes: number,
  args: readonly string[],
  secrets: Readonly<Record<string, string>>,
): DefectWorkers {
  const [, script = ''] = process.argv;
  const env = { ...process.env, ...secrets };
  const children = Array.from({ length: processes }, () => fork(script, [...args], { env }));
  return {
    workers: children.map((child) => (defect, ids) => runInWorker(child, defect, ids)),
    close: () => {
      for (const child of children) if (child.connected) child.disconnect();
    },
  };
}

async function runInWorker(
  child: ChildProcess,
  { id }: Defect,
  ids: ReadonlySet<string>,
): Promise<DefectResult | undefined> {
  const order: WorkerOrder = { defectId: id, ids: [...ids] };
  const exitWait = new AbortController();
  const earlyExit = once(child, 'exit', { signal: exitWait.signal }).then(([code]) => {
    throw new Error(`the process that ran ${id} ended with ${code}`);
  });
  const replyMessage = once(child, 'message', { signal: exitWait.signal });
  child.send(order);
  try {
    const [reply] = (await Promise.race([replyMessage, earlyExit])) as [WorkerReply];
    if ('error' in reply) throw new Error(`${id}: ${reply.error}`);
    return reply.result;
  } finally {
    earlyExit.catch(() => undefined);
    exitWait.abort();
  }
}

/** Runs this process as a child: runs each defect that the parent sends, until the parent ends. */
export async function runAsWorker(
  defects: readonly Defect[],
  optionsFor: (signal: AbortSignal) => SelfTestOptions,
): Promise<void> {
  const stop = new AbortController();
  // Ctrl-C reaches the whole process group. Children ignore it, so that only the parent reacts.
  process.on('SIGINT', () => undefined);
  const options = optionsFor(stop.signal);
  process.on('message', ({ defectId, ids }: WorkerOrder) => {
    const defect = defects.find(({ id }) => id === defectId);
    if (!defect) throw new Error(`there is no defect ${defectId}`);
    runDefect(defect, new Set(ids), options).then(
      (result) => reply(result === undefined ? {} : { result }),
      (error: unknown) => reply({ error: String(error) }),
    );
  });
  await once(process, 'disconnect');
  stop.abort();
}

function reply(message: WorkerReply): void {
  if (process.connected) process.send?.(message);
}
