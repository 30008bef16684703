/** Handlers that start, follow and stop runs against this server. */
import type { Runs } from '../sources/runs.ts';
import type { EventStreams } from './event-stream.ts';
import type { Handlers } from './mount.ts';
import { throwRefusal } from './refusals.ts';

/** Creates the handlers for runs. */
export function runHandlers(runs: Runs, streams: EventStreams) {
  const requireRun = ({ id }: { readonly id: string }): number =>
    runs.has(Number(id))
      ? Number(id)
      : throwRefusal(404, 'no run has this ID; GET /runs lists all runs');
  return {
    'GET /runs': () => ({ available: runs.isAvailable, runs: runs.list() }),
    'POST /runs': ({ body }) => {
      if (!runs.isAvailable) {
        throwRefusal(409, 'only a server of fleetbed serve or fleetbed demo can start runs');
      }
      const started = runs.start(body);
      if (started === 'running') {
        throwRefusal(409, 'another run is in progress; stop it, or wait until it ends');
      }
      if (started === 'not ready')
        throwRefusal(503, 'the server is not ready for runs yet; try again in a moment');
      return started;
    },
    'DELETE /runs/{id}': ({ parameters }) => {
      if (!runs.stop(requireRun(parameters))) throwRefusal(409, 'the run has ended');
    },
    'GET /runs/{id}/stream': ({ parameters, response }) => {
      const id = requireRun(parameters);
      return streams.open(response, (send, ended) => {
        const sendLine = (line: string): void =>
          send(`event: line\ndata: ${JSON.stringify(line)}\n\n`);
        return runs.follow(id, sendLine, ended) ?? (() => undefined);
      });
    },
  } satisfies Partial<Handlers>;
}
