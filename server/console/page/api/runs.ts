/** Starts, stops and follows runs on this server. The output of a run arrives line by line. */
import { useEffect, useState } from 'preact/hooks';
import type { BodyInputOf, ResponseOf } from '../../../../fixtures/control/operations.ts';
import { createBatch } from './batch.ts';
import { request, requestJson, targetOf } from './client.ts';
import { useLoaded, type ViewState } from './loaded.ts';
import { followStream } from './stream.ts';

/** The list of all runs of the server. */
type RunList = ResponseOf<'GET /runs'>;
export type RunView = RunList['runs'][number];

/** Loads the runs that the server remembers. */
export function useRuns(): ViewState<RunList> {
  return useLoaded(() => requestJson('GET /runs'), 'runs', { isLive: true });
}

export function startRun(body: BodyInputOf<'POST /runs'>): Promise<unknown> {
  return request('POST /runs', { body });
}

export function stopRun(id: number): Promise<unknown> {
  return request('DELETE /runs/{id}', { parameters: { id: String(id) } });
}

/** The last line of a run's output, with the result of the run. */
interface RunExit {
  /** Null when the run was stopped. */
  readonly exitCode: number | null;
  /** Number of lines that were not kept. */
  readonly leftOut?: number;
}

/** Returns the end of a run as a sentence for the user. */
export function exitText({ exitCode, leftOut = 0 }: RunExit): string {
  const end = exitCode === null ? 'Stopped.' : `Ended with exit code ${exitCode}.`;
  return leftOut === 0 ? end : `${end} ${leftOut} lines were left out: too long, or too many.`;
}

/** The output of a run. */
export interface RunLog {
  readonly lines: readonly string[];
  /** Present once the run has ended. */
  readonly exit?: RunExit;
}

const nothing: RunLog = { lines: [] };

/** Returns the output of a run so far, and updates it as lines arrive. */
export function useLog(id: number | undefined): RunLog {
  const [loadedLog, setLoadedLog] = useState({ id, log: nothing });
  useEffect(() => {
    if (id === undefined) return;
    let lines: string[] = [];
    const arrived = createBatch<string>((more) => {
      lines.push(...more);
      const exit = exitIn(lines.at(-1));
      const log = exit ? { lines: lines.slice(0, -1), exit } : { lines: [...lines] };
      setLoadedLog({ id, log });
    });
    const unfollow = followStream(
      () => {
        // Every new connection sends the output from its first line.
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
  return loadedLog.id === id ? loadedLog.log : nothing;
}

function exitIn(line = ''): RunExit | undefined {
  return line.startsWith('{"type":"exit"') ? JSON.parse(line) : undefined;
}
