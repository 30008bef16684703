import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addRunOptions } from '../commands/simulate/simulate.ts';
import { durationMs } from '../options/option-values.ts';
import { repeatLine } from '../options/repeat-line.ts';
import { virtualRunOptions } from './command-line.ts';
import { exploreSeeds, type RunInVirtualTime } from './explore-seeds.ts';
import { runVirtually, type VirtualRun } from './run.ts';
import { MINUTE_MS, smallRun } from './testing/small-run.ts';

const { signal } = new AbortController();
const runInVirtualTime: RunInVirtualTime = async (virtualRun) =>
  (await runVirtually(virtualRun, { signal })).violations;
const planted = { device: 1, exchange: 4, operation: 'put-deployment-status' } as const;

/** Returns the run that a printed line describes, with the start time of another run. */
function readBack(line: string, { plan, startMs }: VirtualRun): VirtualRun {
  const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  );
  const command = addRunOptions(new Command()).parse(args.slice(3), { from: 'user' });
  const { seed, devices, duration, fault, restart, interleave } = command.opts();
  return {
    plan: { ...plan, seed, devices, durationMs: durationMs(duration) },
    startMs,
    faults: fault ?? [],
    restarts: restart ?? [],
    isInterleaved: interleave === true,
  };
}

describe('an exploration with a planted fault', () => {
  it('finds the fault, reduces the run, and prints how to repeat it', {
    timeout: 120_000,
  }, async () => {
    const ackLost = { ...planted, name: 'ack-lost' } as const;
    const base = smallRun({}, { faults: [ackLost] });
    const { seeds, failed } = await exploreSeeds(base, { seeds: 3, runInVirtualTime, signal });
    expect(seeds).toBe(1);
    expect(failed?.violations).toMatchObject([{ invariant: 'lost-status' }]);
    expect(failed?.virtualRun).toMatchObject({
      plan: { devices: 2, seed: 'small-1' },
      faults: [ackLost],
      isInterleaved: false,
    });
    expect(failed?.virtualRun.plan.durationMs).toBeLessThan(30 * MINUTE_MS);
    expect(failed && (await runInVirtualTime(failed.virtualRun))).toEqual(failed?.violations);
    const args = ['--virtual', '--explore=3', '--seed', 'small', '--poll', '10m', '--devices', '4'];
    const line =
      failed &&
      repeatLine(
        args,
        addRunOptions(new Command('simulate')),
        virtualRunOptions(failed.virtualRun),
      );
    expect(line).toMatch(
      /^npx fleetbed simulate --virtual --poll 10m --seed small-1 --devices 2 --duration \d+m?s --fault '/,
    );
    expect(line).toMatch(
      / --fault 'ack-lost, device: 1, exchange: 4, operation: put-deployment-status'$/,
    );
  });
});

describe('an exploration with restarts', () => {
  it('finds a status that only a server restart loses, and prints how to repeat it', {
    timeout: 300_000,
  }, async () => {
    const notStored = { ...planted, name: 'not-stored' } as const;
    const base = smallRun({ devices: 2, durationMs: 60 * MINUTE_MS }, { faults: [notStored] });
    expect(await runInVirtualTime(base)).toEqual([]);
    const { failed } = await exploreSeeds(base, { seeds: 30, runInVirtualTime, signal });
    if (failed === undefined) return expect.unreachable('nothing was found');
    const { virtualRun } = failed;
    expect(failed.violations).toContainEqual({
      invariant: 'lost-status',
      message: 'device 1 reported success, but the server has rebooting',
    });
    const serverRestarts = [
      ...virtualRun.faults.filter(({ name }) => name === 'server-restart'),
      ...virtualRun.restarts,
    ];
    expect([serverRestarts.length, virtualRun.faults.length + virtualRun.restarts.length]).toEqual([
      1, 2,
    ]);
    expect(await runInVirtualTime({ ...virtualRun, faults: [notStored], restarts: [] })).toEqual(
      [],
    );
    const args = ['--virtual', '--explore=30', '--restart', 'device: 1, at: 0s'];
    const line = repeatLine(
      args,
      addRunOptions(new Command('simulate')),
      virtualRunOptions(virtualRun),
    );
    expect(line).toMatch(/server(-restart)?, .*lasting: \w+'$/);
    expect(line).not.toContain('device: 1, at');
    expect(await runInVirtualTime(readBack(line, virtualRun))).toEqual(failed.violations);
  });
});
