import { describe, expect, it } from 'vitest';
import { type RedisCosts, redisTrafficOf, type SharedRun } from './redis-traffic.ts';

const costs: RedisCosts = {
  commandsPerRun: 5,
  commandsPerWorker: 10,
  bytesPerWorker: 100,
  progressBytes: 40,
  figuresBytes: 50,
  histogramBytes: 1,
};
/** A worker has 10 devices and makes 1,000 requests: 80 first requests and 920 polls. */
const run: SharedRun = { workers: 2, devices: 20, requestsPerSecond: 18.4, seconds: 100 };
const histograms = 6 + Math.log10(920) ** 3 + 27;

describe('the estimate of Redis traffic', () => {
  it('is the sum of the traffic of a run and of each worker', () => {
    expect(redisTrafficOf(run, costs).commands).toBe(5 + 2 * 10);
    expect(redisTrafficOf({ ...run, workers: 16 }, costs).commands).toBe(5 + 16 * 10);
  });

  it('counts the figures of a worker twice: once into Redis and once out of it', () => {
    expect(redisTrafficOf(run, costs).bytes).toBeCloseTo(2 * (100 + 2 * (50 + histograms)));
  });

  it('counts figures every other second from 17 workers on, and smaller progress between', () => {
    const many = { workers: 32, devices: 320, requestsPerSecond: 16 * 18.4, seconds: 100 };
    const progress = 0.5 * (50 + histograms) + 0.5 * 40;
    expect(redisTrafficOf(many, costs).bytes).toBeCloseTo(32 * (100 + 2 * progress));
  });

  it('grows with the length of the run, but ever more slowly', () => {
    const bytesAfter = (seconds: number) => redisTrafficOf({ ...run, seconds }).bytes;
    const [minute, hour, day] = [bytesAfter(60), bytesAfter(3600), bytesAfter(86_400)];
    expect(hour).toBeGreaterThan(minute);
    expect(day - hour).toBeGreaterThan(0);
    expect(day / hour).toBeLessThan(hour / minute);
  });

  it('is split into several runs where one would have more than 1,000 workers', () => {
    const whole = { workers: 1000, devices: 1e6, requestsPerSecond: 1e4, seconds: 100 };
    const thrice = { ...whole, workers: 3000, devices: 3e6, requestsPerSecond: 3e4 };
    const [one, three] = [redisTrafficOf(whole), redisTrafficOf(thrice)];
    expect(three.commands).toBe(3 * one.commands);
    expect(three.bytes).toBeCloseTo(3 * one.bytes);
  });

  it('is never below the traffic of a worker that has counted nothing yet', () => {
    const idle = { ...run, devices: 0, requestsPerSecond: 0 };
    expect(redisTrafficOf(idle, costs).bytes).toBe(2 * (100 + 2 * 50));
  });
});
