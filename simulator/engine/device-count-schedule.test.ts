import { describe, expect, it } from 'vitest';
import type { LoadStage } from '../plan/load-fields.ts';
import { DeviceCountSchedule } from './device-count-schedule.ts';

const stages: readonly LoadStage[] = [
  { kind: 'ramp', durationMs: 1000, devices: 10 },
  { kind: 'hold', durationMs: 500 },
  { kind: 'burst', durationMs: 200, devices: 20 },
  { kind: 'hold', durationMs: 300 },
  { kind: 'drain', durationMs: 1000 },
];

/** Returns how many of 30 devices are on. */
function countOn(deviceCounts: DeviceCountSchedule, atMs: number): number {
  return Array.from({ length: 30 }, (_, index) => deviceCounts.presenceOf(index, atMs)).filter(
    ({ isOn }) => isOn,
  ).length;
}

describe('a schedule of device counts', () => {
  const deviceCounts = new DeviceCountSchedule(stages);

  it.each([
    [0, 1],
    [449, 5],
    [999, 10],
    [1000, 10],
    [1499, 10],
    [1500, 20],
    [1699, 20],
    [1700, 10],
    [1999, 10],
    [2000, 10],
    [2549, 5],
    [2999, 1],
    [3000, 0],
    [99_999, 0],
  ])('has, at %i ms, %i devices on', (atMs, devices) => {
    expect(countOn(deviceCounts, atMs)).toBe(devices);
  });

  it('returns when each device is switched on and off next', () => {
    expect(deviceCounts.presenceOf(5, 0)).toEqual({ isOn: false, untilMs: 500 });
    expect(deviceCounts.presenceOf(5, 500)).toEqual({ isOn: true, untilMs: 2500 });
    expect(deviceCounts.presenceOf(15, 0)).toEqual({ isOn: false, untilMs: 1500 });
    expect(deviceCounts.presenceOf(15, 1600)).toEqual({ isOn: true, untilMs: 1700 });
    expect(deviceCounts.presenceOf(15, 1700)).toEqual({ isOn: false, untilMs: Infinity });
    expect(deviceCounts.presenceOf(25, 0)).toEqual({ isOn: false, untilMs: Infinity });
  });

  it('names its stages and states its end', () => {
    expect(deviceCounts.starts).toEqual([
      { atMs: 0, name: '1 ramp' },
      { atMs: 1000, name: '2 hold' },
      { atMs: 1500, name: '3 burst' },
      { atMs: 1700, name: '4 hold' },
      { atMs: 2000, name: '5 drain' },
    ]);
    expect(deviceCounts.endMs).toBe(3000);
  });

  it('leaves devices on that are on at the end of the last stage', () => {
    const ramp = new DeviceCountSchedule([{ kind: 'ramp', durationMs: 1000, devices: 2 }]);
    expect(ramp.presenceOf(1, 700)).toEqual({ isOn: true, untilMs: Infinity });
  });

  it('can ramp down as well as up', () => {
    const down = new DeviceCountSchedule([
      { kind: 'ramp', durationMs: 100, devices: 10 },
      { kind: 'ramp', durationMs: 100, devices: 4 },
    ]);
    expect([countOn(down, 99), countOn(down, 149), countOn(down, 200)]).toEqual([10, 8, 4]);
  });
});
