import { describe, expect, it } from 'vitest';
import { explore, type RunTrial } from './explore.ts';
import { type VirtualTrial, virtualRun } from './run.ts';
import { smallTrial } from './testing/small-trial.ts';

const { signal } = new AbortController();
const runTrial: RunTrial = async (trial) => (await virtualRun(trial, { signal })).violations;
describe('an exploration of virtual trials', () => {
  it('finds no violation in a correct server', { timeout: 60_000 }, async () => {
    const base = smallTrial({ devices: 3 });
    expect(await explore(base, { seeds: 3, runTrial, signal })).toEqual({
      seeds: 3,
      failed: undefined,
    });
  });

  it('places restarts of devices and of the server by the seed', async () => {
    const tried: VirtualTrial[] = [];
    const noting: RunTrial = async (trial) => {
      tried.push(trial);
      return [];
    };
    const given = { device: undefined, atMs: 1, lastingMs: 1 };
    const base = smallTrial({}, { restarts: [given] });
    await explore(base, { seeds: 40, runTrial: noting, signal });
    const first = tried.splice(0);
    await explore(base, { seeds: 40, runTrial: noting, signal });
    expect(tried).toEqual(first);
    const placed = first.flatMap(({ restarts: [own, ...rest] }) => {
      expect(own).toBe(given);
      return rest;
    });
    const ofServer = placed.filter(({ device }) => device === undefined);
    expect(ofServer.length).toBeGreaterThan(5);
    expect(placed.length - ofServer.length).toBeGreaterThan(5);
    const inExchange = first.flatMap(({ faults }) =>
      faults.filter(({ name }) => name === 'server-restart'),
    );
    expect(inExchange.length).toBeGreaterThan(5);
    // A restart must be shorter than the time that a user waits for a response.
    const longest = [...ofServer.map(({ lastingMs }) => lastingMs)];
    const inExchangeMs = inExchange.map(({ lasting = 0 }) => lasting);
    expect(Math.max(...longest, ...inExchangeMs)).toBeLessThan(base.plan.requestTimeLimitMs);
  });

  it('removes restarts that are not needed for a failure', async () => {
    const needed = { device: 0, atMs: 5, lastingMs: 5 };
    const restarts = [
      { device: undefined, atMs: 1, lastingMs: 1 },
      needed,
      { ...needed, device: 3 },
    ];
    const fails: RunTrial = async (trial) =>
      trial.restarts.includes(needed) ? [{ invariant: 'lost-status', message: 'it is' }] : [];
    const { failed } = await explore(smallTrial({}, { restarts }), {
      seeds: 1,
      runTrial: fails,
      signal,
    });
    expect(failed?.trial).toMatchObject({ plan: { devices: 1 }, faults: [], restarts: [needed] });
  });

  it('ends at the signal without reporting a failure', async () => {
    const stop = new AbortController();
    const stopped: RunTrial = async () => {
      stop.abort();
      return [{ invariant: 'run-ends', message: 'it was interrupted' }];
    };
    const outcome = await explore(smallTrial(), {
      seeds: 9,
      runTrial: stopped,
      signal: stop.signal,
    });
    expect(outcome).toEqual({ seeds: 1, failed: undefined });
  });
});
