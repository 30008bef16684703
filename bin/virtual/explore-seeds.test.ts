import { describe, expect, it } from 'vitest';
import { exploreSeeds, type RunInVirtualTime } from './explore-seeds.ts';
import { runVirtually, type VirtualRun } from './run.ts';
import { smallRun } from './testing/small-run.ts';

const { signal } = new AbortController();
const runInVirtualTime: RunInVirtualTime = async (virtualRun) =>
  (await runVirtually(virtualRun, { signal })).violations;
describe('an exploration of virtual runs', () => {
  it('finds no violation in a good server', { timeout: 60_000 }, async () => {
    const base = smallRun({ devices: 3 });
    expect(await exploreSeeds(base, { seeds: 3, runInVirtualTime, signal })).toEqual({
      seeds: 3,
      failed: undefined,
    });
  });

  it('places restarts of devices and of the server by the seed', async () => {
    const tried: VirtualRun[] = [];
    const noting: RunInVirtualTime = async (virtualRun) => {
      tried.push(virtualRun);
      return [];
    };
    const given = { device: undefined, atMs: 1, lastingMs: 1 };
    const base = smallRun({}, { restarts: [given] });
    await exploreSeeds(base, { seeds: 40, runInVirtualTime: noting, signal });
    const first = tried.splice(0);
    await exploreSeeds(base, { seeds: 40, runInVirtualTime: noting, signal });
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
    const inExchangeMs = inExchange.map(({ lastingMs = 0 }) => lastingMs);
    expect(Math.max(...longest, ...inExchangeMs)).toBeLessThan(base.plan.requestTimeLimitMs);
  });

  it('removes restarts that are not needed for a failure', async () => {
    const needed = { device: 0, atMs: 5, lastingMs: 5 };
    const restarts = [
      { device: undefined, atMs: 1, lastingMs: 1 },
      needed,
      { ...needed, device: 3 },
    ];
    const fails: RunInVirtualTime = async (virtualRun) =>
      virtualRun.restarts.includes(needed) ? [{ invariant: 'lost-status', message: 'it is' }] : [];
    const { failed } = await exploreSeeds(smallRun({}, { restarts }), {
      seeds: 1,
      runInVirtualTime: fails,
      signal,
    });
    expect(failed?.virtualRun).toMatchObject({
      plan: { devices: 1 },
      faults: [],
      restarts: [needed],
    });
  });

  it('ends at the signal without reporting a failure', async () => {
    const stop = new AbortController();
    const stopped: RunInVirtualTime = async () => {
      stop.abort();
      return [{ invariant: 'run-ends', message: 'it was interrupted' }];
    };
    const outcome = await exploreSeeds(smallRun(), {
      seeds: 9,
      runInVirtualTime: stopped,
      signal: stop.signal,
    });
    expect(outcome).toEqual({ seeds: 1, failed: undefined });
  });
});
