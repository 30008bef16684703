import { describe, expect, it } from 'vitest';
import { type VirtualPlan, virtualRun } from './virtual-fleet.ts';

const RUN_MAX_MS = 120_000;

/** All behaviours of the first version, with a few devices each. */
const mixed: VirtualPlan = {
  devices: 10,
  seed: 'one',
  pollSpread: 'random',
  pollJitterShare: 0.1,
  behaviours: [
    { name: 'steady', weight: 2 },
    { name: 'failing-install', weight: 1 },
    { name: 'aborted-midway', weight: 1 },
    { name: 'already-installed', weight: 1 },
  ],
};

describe('a fleet in virtual time', () => {
  it('runs for ten minutes, in which every device finishes', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const { result, events } = await virtualRun(mixed);
    expect(result.durationMs).toBe(600_000);
    expect(result.reconciliation).toMatchObject({ checked: true, ok: true });
    const { success, failure, aborted, alreadyInstalled } = result.funnel;
    expect(success + failure + aborted + alreadyInstalled).toBe(10);
    const polls = events.filter(
      (event) => event.kind === 'exchange' && event.operation.includes('next-deployment'),
    );
    // Each device polls once a minute for ten minutes, less a ramp of at most one minute.
    expect(polls.length).toBeGreaterThan(10 * 8);
  });

  it('has the same events at the same times with the same seed', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const one = await virtualRun(mixed);
    const again = await virtualRun(mixed);
    expect(again.events).toEqual(one.events);
    expect(again.result.devices).toEqual(one.result.devices);
  });

  it('has other events with another seed', { timeout: RUN_MAX_MS }, async () => {
    const one = await virtualRun(mixed);
    const other = await virtualRun({ ...mixed, seed: 'two' });
    expect(other.events).not.toEqual(one.events);
  });
});
