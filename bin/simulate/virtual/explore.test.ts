import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addRunOptions } from '../../simulate.ts';
import { repeatLine } from './command-line.ts';
import { explore, type Play } from './explore.ts';
import { virtualRun } from './run.ts';
import { MINUTE_MS, smallTrial } from './testing/small-trial.ts';

const { signal } = new AbortController();
const play: Play = async (trial) => (await virtualRun(trial, { signal })).violations;
const planted = {
  name: 'swallowed',
  device: 1,
  exchange: 4,
  operation: 'put-deployment-status',
} as const;

describe('an exploration', () => {
  it('finds nothing in a good server', { timeout: 60_000 }, async () => {
    const base = smallTrial({ devices: 3 });
    expect(await explore(base, { seeds: 3, play, signal })).toEqual({
      seeds: 3,
      failed: undefined,
    });
  });

  it('finds a planted fault, makes its trial smaller, and prints how to repeat it', {
    timeout: 60_000,
  }, async () => {
    const base = smallTrial({}, { faults: [planted] });
    const { seeds, failed } = await explore(base, { seeds: 3, play, signal });
    expect(seeds).toBe(1);
    expect(failed?.violations).toMatchObject([{ invariant: 'lost-status' }]);
    expect(failed?.trial).toMatchObject({
      plan: { devices: 2, seed: 'small-1' },
      faults: [planted],
      isInterleaved: false,
    });
    expect(failed?.trial.plan.durationMs).toBeLessThan(30 * MINUTE_MS);
    expect(failed && (await play(failed.trial))).toEqual(failed?.violations);
    const words = [
      '--virtual',
      '--explore=3',
      '--seed',
      'small',
      '--poll',
      '10m',
      '--devices',
      '4',
    ];
    const line = failed && repeatLine(words, addRunOptions(new Command()), failed.trial);
    expect(line).toMatch(
      /^fleetbed simulate --virtual --poll 10m --seed small-1 --devices 2 --duration \d+m?s --fault '/,
    );
    expect(line).toMatch(
      / --fault 'swallowed, device: 1, exchange: 4, operation: put-deployment-status'$/,
    );
  });

  it('ends with the signal, and claims nothing then', async () => {
    const stop = new AbortController();
    const stopped: Play = async () => {
      stop.abort();
      return [{ invariant: 'run-ends', said: 'it was interrupted' }];
    };
    const outcome = await explore(smallTrial(), { seeds: 9, play: stopped, signal: stop.signal });
    expect(outcome).toEqual({ seeds: 1, failed: undefined });
  });
});
