/** Who plays defects: this process, or child processes of it, each with servers of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Defect } from './defect.ts';
import type { DefectResult } from './judgement.ts';
import type { PlayDefect } from './matrix.ts';
import { playDefect, type SelfTestOptions } from './self-test.ts';

/** What a child is asked to play, and what it answers. */
interface Order {
  readonly defectId: string;
  readonly ids: readonly string[];
}
type Reply = { readonly result?: DefectResult } | { readonly fault: string };

/** Players of one self-test. Their owner closes them. */
export interface Players {
  readonly players: readonly PlayDefect[];
  close(): void;
}

/** Plays in this process. */
export function ownPlayer(options: SelfTestOptions): Players {
  return {
    players: [(defect, ids) => playDefect(defect, ids, options)],
    close: () => undefined,
  };
}

/** Plays in as many child processes. @param words the command line of such a child */
export function forkedPlayers(
  processes: number,
  words: readonly string[],
  secrets: Readonly<Record<string, string>>,
): Players {
  const [, script = ''] = process.argv;
  const env = { ...process.env, ...secrets };
  const children = Array.from({ length: processes }, () => fork(script, [...words], { env }));
  return {
    players: children.map((child) => (defect, ids) => ordered(child, defect, ids)),
    close: () => {
      for (const child of children) if (child.connected) child.disconnect();
    },
  };
}

async function ordered(
  child: ChildProcess,
  { id }: Defect,
  ids: ReadonlySet<string>,
): Promise<DefectResult | undefined> {
  const order: Order = { defectId: id, ids: [...ids] };
  const gone = new AbortController();
  const lost = once(child, 'exit', { signal: gone.signal }).then(([code]) => {
    throw new Error(`the process that played ${id} ended with ${code}`);
  });
  const answered = once(child, 'message', { signal: gone.signal });
  child.send(order);
  try {
    const [reply] = (await Promise.race([answered, lost])) as [Reply];
    if ('fault' in reply) throw new Error(`${id}: ${reply.fault}`);
    return reply.result;
  } finally {
    lost.catch(() => undefined);
    gone.abort();
  }
}

/** Is such a child: plays what it is told until its parent lets go of it. */
export async function obey(
  defects: readonly Defect[],
  optionsFor: (signal: AbortSignal) => SelfTestOptions,
): Promise<void> {
  const stop = new AbortController();
  // Ctrl-C reaches the whole group; the parent decides what it means.
  process.on('SIGINT', () => undefined);
  const options = optionsFor(stop.signal);
  process.on('message', ({ defectId, ids }: Order) => {
    const defect = defects.find(({ id }) => id === defectId);
    if (!defect) throw new Error(`there is no defect ${defectId}`);
    playDefect(defect, new Set(ids), options).then(
      (result) => reply(result === undefined ? {} : { result }),
      (fault: unknown) => reply({ fault: String(fault) }),
    );
  });
  await once(process, 'disconnect');
  stop.abort();
}

function reply(message: Reply): void {
  if (process.connected) process.send?.(message);
}
