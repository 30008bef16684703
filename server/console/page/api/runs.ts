/** Runs against this server: the newest of a kind, and its output line by line. */
import { useEffect, useState } from 'preact/hooks';
import type { AnswerOf, BodyInputOf } from '../../../../fixtures/control/operations.ts';
import { gather } from './batch.ts';
import { ask, askJson, targetOf } from './client.ts';
import { type Loaded, useLoaded } from './loaded.ts';
import { followStream } from './stream.ts';

/** All runs of the server, and one of them. */
type RunList = AnswerOf<'GET /runs'>;
export type RunView = RunList['runs'][number];

/** The runs that the server remembers. */
export function useRuns(): Loaded<RunList> {
  return useLoaded(() => askJson('GET /runs'), 'runs', { isLive: true });
}

export function startRun(body: BodyInputOf<'POST /runs'>): Promise<unknown> {
  return ask('POST /runs', { body });
}

export function stopRun(id: number): Promise<unknown> {
  return ask('DELETE /runs/{id}', { parameters: { id: String(id) } });
}

/** The result of a run in its last line. */
interface RunExit {
  /** Null when the run was stopped. */
  readonly exitCode: number | null;
  /** Lines that were not kept. */
  readonly leftOut?: number;
}

/** The end of a run as a sentence for people. */
export function exitText({ exitCode, leftOut = 0 }: RunExit): string {
  const end = exitCode === null ? 'Stopped.' : `Ended with exit code ${exitCode}.`;
  return leftOut === 0 ? end : `${end} ${leftOut} lines were left out: too long, or too many.`;
}

/** What a run has said. */
export interface RunLog {
  readonly lines: readonly string[];
  /** Present once the run has ended. */
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
        return targetOf('GET /runs/{id}/stream', { parameters: { id: String(id) } });
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
