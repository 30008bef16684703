/** Runs against this server: the newest of a kind, and what it says line by line. */
import { useEffect, useState } from 'preact/hooks';
import { gather } from './batch.ts';
import { ask, askJson, pathWith } from './client.ts';
import { type Loaded, useLoaded } from './loaded.ts';
import { followStream } from './stream.ts';

/** A run. */
export interface RunView {
  readonly id: number;
  readonly request: { readonly kind: string; readonly cases?: string; readonly devices?: number };
  readonly startedAt: string;
  readonly state: 'running' | 'ended';
}

/** All runs of the server. */
export interface RunList {
  readonly available: boolean;
  readonly runs: readonly RunView[];
}

/** The runs that the server remembers. */
export function useRuns(): Loaded<RunList> {
  return useLoaded(() => askJson<RunList>('/runs'), 'runs', { isLive: true });
}

/** Starts a run. */
export function startRun(json: object): Promise<unknown> {
  return ask('/runs', { method: 'POST', json });
}

/** Ends a run. */
export function stopRun(id: number): Promise<unknown> {
  return ask(`/runs/${id}`, { method: 'DELETE' });
}

/** What the last line says of a run. */
interface RunExit {
  /** Null when the run was stopped. */
  readonly exitCode: number | null;
  /** Lines that were not kept. */
  readonly leftOut?: number;
}

/** The same in words. */
export function exitText({ exitCode, leftOut = 0 }: RunExit): string {
  const end = exitCode === null ? 'Stopped.' : `Ended with exit code ${exitCode}.`;
  return leftOut === 0 ? end : `${end} ${leftOut} lines were too long or too many to be kept.`;
}

/** What a run has said. */
export interface RunLog {
  readonly lines: readonly string[];
  /** Once it has ended. */
  readonly exit?: RunExit;
}

const nothing: RunLog = { lines: [] };

/** What a run has said so far. */
export function useLog(id: number | undefined): RunLog {
  const [known, setKnown] = useState({ id, log: nothing });
  useEffect(() => {
    if (id === undefined) return;
    let lines: string[] = [];
    const arrived = gather<string>((more) => {
      lines.push(...more);
      const exit = exitIn(lines.at(-1));
      const log = exit ? { lines: lines.slice(0, -1), exit } : { lines: [...lines] };
      setKnown({ id, log });
    });
    const unfollow = followStream(
      () => {
        // A new connection begins with the first line again.
        arrived.cancel();
        lines = [];
        return pathWith(`/runs/${id}/stream`);
      },
      {
        onEvent: (_, line) => arrived.add(String(line)),
      },
    );
    return () => {
      unfollow();
      arrived.cancel();
    };
  }, [id]);
  return known.id === id ? known.log : nothing;
}

function exitIn(line = ''): RunExit | undefined {
  return line.startsWith('{"type":"exit"') ? JSON.parse(line) : undefined;
}
