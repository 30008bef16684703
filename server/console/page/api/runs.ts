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

const none: readonly string[] = [];

/** The lines of a run so far, the last one about its exit. */
export function useLines(id: number | undefined): readonly string[] {
  const [known, setKnown] = useState({ id, lines: none });
  useEffect(() => {
    if (id === undefined) return;
    let lines: string[] = [];
    const arrived = gather<string>((more) => {
      lines.push(...more);
      setKnown({ id, lines: [...lines] });
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
  return known.id === id ? known.lines : none;
}
