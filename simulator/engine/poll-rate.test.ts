import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import type { SimulatedDevice } from '../device/device.ts';
import { deviceOf, noonMs, sessionOf } from '../testing/client-fixture.ts';
import { PollRate } from './poll-rate.ts';

/** Returns devices that wait for their turns at ten polls a second, on a clock of their own. */
async function turnsOf(count: number) {
  const clock = new ManualClock(noonMs);
  const wakes = new Map<SimulatedDevice, () => void>();
  const polled: SimulatedDevice[] = [];
  const pollRate = new PollRate({
    perSecond: 10,
    startsMs: clock.monotonicMs(),
    clock,
    wake: (device) => {
      polled.push(device);
      wakes.get(device)?.();
    },
  });
  const devices: SimulatedDevice[] = [];
  for (let index = 0; index < count; index++) {
    devices.push(Object.assign(deviceOf(), { session: await sessionOf() }));
  }
  const sleep = (device: SimulatedDevice): Promise<void> =>
    pollRate.waitForTurn(device, () => new Promise((resolve) => wakes.set(device, resolve)));
  return { clock, pollRate, polled, devices, sleep, wakes };
}

describe('polls at a fixed rate', () => {
  it('are made by the waiting devices in turn, each from its own due time', async () => {
    const { clock, pollRate, polled, devices, sleep } = await turnsOf(3);
    const startMs = clock.monotonicMs();
    const sleeps = devices.map(sleep);
    clock.advance(250);
    await Promise.all(sleeps);
    expect(polled).toEqual(devices);
    expect(devices.map(({ session }) => session?.dueMs)).toEqual(
      [0, 100, 200].map((ms) => startMs + ms),
    );
    expect(pollRate.counts).toEqual({ due: 3, sent: 3, late: 0, dropped: 0 });
  });

  it('keep falling due while no device is free, and are sent late from their due times', async () => {
    const { clock, pollRate, devices, sleep } = await turnsOf(1);
    const [device] = devices;
    if (device === undefined) throw new Error('there is a device');
    const startMs = clock.monotonicMs();
    const first = sleep(device);
    clock.advance(1000);
    await first;
    expect(pollRate.counts).toEqual({ due: 11, sent: 1, late: 0, dropped: 10 });
    await sleep(device);
    expect(device.session?.dueMs).toBe(startMs + 100);
    expect(pollRate.counts).toEqual({ due: 11, sent: 2, late: 1, dropped: 9 });
    pollRate.stop();
    clock.advance(1000);
    expect(pollRate.counts).toEqual({ due: 11, sent: 2, late: 1, dropped: 9 });
  });

  it('are dropped beyond 10,000 that wait for a device', async () => {
    const { clock, pollRate, devices, sleep } = await turnsOf(1);
    const waits = devices.map(sleep);
    clock.advance(1_001_000);
    await Promise.all(waits);
    expect(pollRate.counts).toEqual({ due: 10_011, sent: 1, late: 0, dropped: 10_010 });
  });

  it('do not count a device that another cause wakes, and pass its turn on', async () => {
    const { clock, pollRate, polled, devices, sleep, wakes } = await turnsOf(2);
    const [woken, other] = devices;
    if (woken === undefined || other === undefined) throw new Error('there are two devices');
    const wokenSleep = sleep(woken);
    const otherSleep = sleep(other);
    wakes.get(woken)?.();
    await wokenSleep;
    expect(woken.session?.dueMs).toBeUndefined();
    clock.advance(50);
    await otherSleep;
    expect(polled).toEqual([other]);
    expect(pollRate.counts).toEqual({ due: 1, sent: 1, late: 0, dropped: 0 });
  });

  it('do not begin before any device waits for its turn', async () => {
    const { clock, pollRate } = await turnsOf(1);
    clock.advance(5000);
    expect(pollRate.counts).toEqual({ due: 0, sent: 0, late: 0, dropped: 0 });
  });
});
