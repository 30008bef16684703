import { describe, expect, it } from 'vitest';
import { sampleDevices } from './sample.ts';

describe('the sample of a fleet', () => {
  it.each([
    [1000, 0.01, 10],
    [1000, 1, 1000],
    [7, 0.5, 4],
    [3, 0.01, 1],
  ])('takes from %i devices with a share of %d exactly %i', (devices, checkShare, size) => {
    const sample = sampleDevices({ devices, seed: 'x', checkShare });
    expect(sample.size).toBe(size);
    expect([...sample].every((index) => index >= 0 && index < devices)).toBe(true);
  });

  it('is the same for the same seed, and differs for another', () => {
    const sampleWith = (seed: string) => [
      ...sampleDevices({ devices: 1000, seed, checkShare: 0.02 }),
    ];
    expect(sampleWith('x')).toEqual(sampleWith('x'));
    expect(sampleWith('x')).not.toEqual(sampleWith('y'));
  });

  it('follows no pattern: it contains about a tenth of every tenth device', () => {
    const sample = [...sampleDevices({ devices: 100_000, seed: 'x', checkShare: 0.1 })];
    const tenths = sample.filter((index) => index % 10 === 3).length;
    expect(tenths).toBeGreaterThan(850);
    expect(tenths).toBeLessThan(1150);
  });

  it('is empty when nothing is to be checked', () => {
    expect(sampleDevices({ devices: 10, seed: 'x' }).size).toBe(0);
  });
});
