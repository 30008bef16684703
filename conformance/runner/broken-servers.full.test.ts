import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { VerdictName } from '../result/result.ts';
import { runAgainst } from '../testing/run-against.ts';
import { serve } from '../testing/stub-server.ts';

const TRAP_MAX_MS = 60_000;
const user = { email: 'user@example.com', password: 'correct horse battery' };
/** Areas with many kinds of requests; the whole suite would find nothing more on these targets. */
const selection = ['errors/', 'authentication/', 'inventory/', 'connect/'];
const hurried = { jobs: 8, requestTimeLimitMs: 150, caseTimeLimitMs: 2000, selection };

/** Sends one byte every 20 ms and never ends the response. */
const drip: RequestListener = (_, response) => {
  response.writeHead(200);
  const timer = systemClock.every(20, () => response.write('.'));
  response.on('close', () => timer.cancel());
};

const traps: Readonly<Record<string, readonly [RequestListener, VerdictName]>> = {
  'answers everything with 200': [(_, response) => response.end(), 'fail'],
  'answers everything with 204': [(_, response) => response.writeHead(204).end(), 'fail'],
  'speaks HTML': [(_, response) => response.end('<!doctype html><title>Welcome</title>'), 'fail'],
  'answers everything with 500': [(_, response) => response.writeHead(500).end('{}'), 'fail'],
  'redirects everything to itself': [
    ({ url }, response) => response.writeHead(307, { location: url }).end(),
    'fail',
  ],
  // On a server that never answers, a case that only observes fails.
  hangs: [() => undefined, 'fail'],
  'closes every socket': [({ socket }) => socket.destroy(), 'inconclusive'],
  'speaks no HTTP': [({ socket }) => socket.end('220 mail.example ESMTP\r\n'), 'inconclusive'],
  'drips bytes': [drip, 'fail'],
};

/** The targets that never complete a response. */
const neverEnding: ReadonlySet<string> = new Set(['hangs', 'drips bytes']);

describe.each(Object.keys(traps))('eight cases at a time against a target that %s', (name) => {
  it.each(['without a user', 'with a user'])(
    'end without a pass %s',
    {
      timeout: TRAP_MAX_MS,
    },
    async (who) => {
      const [listener, outcome] = traps[name] ?? [() => undefined, 'pass'];
      const credentials = who === 'with a user' ? user : 'none';
      // Targets that do answer get enough time, even on a busy machine.
      const patient = neverEnding.has(name)
        ? {}
        : { requestTimeLimitMs: 5000, caseTimeLimitMs: 10_000 };
      const result = await runAgainst(await serve(listener), {
        ...hurried,
        ...patient,
        credentials,
      });
      expect(result.outcome).toBe(outcome);
      expect(result.totals.error).toBe(0);
      expect(result.verdicts.length).toBeGreaterThan(50);
    },
  );
});

describe('user credentials that stop working during a run', () => {
  it('leave dependent cases inconclusive, and the remaining resources are reported', async () => {
    let requests = 0;
    const baseUrl = await serve((request, response) => {
      request.resume();
      requests += 1;
      if (request.url?.endsWith('/login')) response.end('user-token');
      else if (requests > 30) response.writeHead(401).end('{"error":"expired"}');
      else response.writeHead(201, { location: `./d${requests}` }).end();
    });
    const { outcome, totals, verdicts } = await runAgainst(baseUrl, {
      ...hurried,
      probe: false,
      credentials: user,
      selection: ['deployment-status/'],
    });
    expect(totals.pass).toBe(0);
    expect(outcome).not.toBe('pass');
    expect(verdicts.flatMap(({ leftBehind = [] }) => leftBehind).length).toBeGreaterThan(0);
  });
});

describe('an interrupted run of eight cases at a time', () => {
  it('ends the running cases, removes their resources and starts no others', async () => {
    const ender = new AbortController();
    const made = new Set<string>();
    let afterwards = 0;
    let announced = 0;
    const baseUrl = await serve((request, response) => {
      request.resume();
      const { method, url = '' } = request;
      if (url.endsWith('/login')) return response.end('user-token');
      if (method === 'DELETE') {
        made.delete(url.split('/').at(-1) ?? '');
        return response.writeHead(204).end();
      }
      if (method === 'GET') return response.end('[]');
      if (ender.signal.aborted) afterwards += 1;
      if (announced === 20) ender.abort();
      if (!url.endsWith('/devices')) return response.writeHead(200).end('token');
      announced += 1;
      const id = `d${announced}`;
      made.add(id);
      return response.writeHead(201, { location: `./${id}` }).end();
    });
    const result = await runAgainst(baseUrl, {
      ...hurried,
      requestTimeLimitMs: 5000,
      probe: false,
      credentials: user,
      signal: ender.signal,
      selection: ['inventory/'],
    });
    const interrupted = result.verdicts.filter(({ reason }) => reason?.code === 'interrupted');
    expect(interrupted.length).toBeGreaterThan(0);
    // Up to eight requests can be in flight; their resources cannot be found by name on this target.
    expect(afterwards).toBeLessThanOrEqual(8);
    expect(made.size).toBeLessThanOrEqual(8);
    expect(announced).toBeGreaterThanOrEqual(20);
    expect(result.outcome).not.toBe('pass');
  });
});
