/** Runs against this server: started, followed and stopped. */
import type { Express, Request } from 'express';
import * as v from 'valibot';
import { type Runs, runKinds } from '../runs/runs.ts';
import { mount, readBody, refuse } from './answers.ts';
import type { EventStreams } from './event-stream.ts';

const DEVICES_MAX = 1000;
const SECONDS_MAX = 3600;

const within = (least: number, most: number) =>
  v.pipe(
    v.number('must be a number'),
    v.safeInteger('must be a whole number'),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  );

const requestShape = v.strictObject(
  {
    kind: v.picklist(runKinds, `must be one of ${runKinds.join(', ')}`),
    cases: v.optional(
      v.pipe(
        v.string('must be a string'),
        v.regex(/^(?!-)[a-z0-9/-]{0,100}$/, 'must be the beginning of the ID of a case'),
      ),
    ),
    devices: v.optional(within(1, DEVICES_MAX)),
    seconds: v.optional(within(1, SECONDS_MAX)),
  },
  'must be an object of kind, cases, devices and seconds',
);

/** Mounts the paths. */
export function mountRuns(app: Express, runs: Runs, streams: EventStreams): void {
  const idIn = ({ params }: Request): number => {
    const id = Number(params.id);
    if (!runs.has(id)) refuse(404, 'there is no run with this id; GET /runs lists them');
    return id;
  };
  mount(app, '/runs', {
    get: () => ({ available: runs.isAvailable, runs: runs.list() }),
    post: (request, response) => {
      const wanted = readBody(requestShape, request);
      if (!runs.isAvailable) {
        refuse(409, 'only a server of fleetbed serve or fleetbed demo can start runs');
      }
      const started = runs.start(wanted);
      if (started === 'underway') {
        refuse(409, 'another run is underway; stop it, or wait for its end');
      }
      if (started === 'not ready')
        refuse(503, 'the server is not ready for runs yet; try again in a moment');
      response.status(201);
      return started;
    },
  });
  mount(app, '/runs/:id', {
    delete: (request) => {
      if (!runs.stop(idIn(request))) refuse(409, 'the run has ended');
    },
  });
  mount(app, '/runs/:id/stream', {
    get: (request, response) => {
      if (request.method === 'HEAD') refuse(405, 'the stream of a run supports only GET');
      const id = idIn(request);
      streams.requireRoom();
      streams.open(response, (send, ended) => {
        const tell = (line: string): void => send(`event: line\ndata: ${JSON.stringify(line)}\n\n`);
        return runs.follow(id, tell, ended) ?? (() => undefined);
      });
    },
  });
}
