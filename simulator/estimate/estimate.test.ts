import { describe, expect, it } from 'vitest';
import { needsOf, type ProcessCosts } from './estimate.ts';

const costs: ProcessCosts = {
  cpuPerProcess: 0.1,
  cpuPerRequest: 0.001,
  cpuPerSocket: 0.0001,
  bytesPerProcess: 1000,
  bytesPerDevice: 10,
  bytesPerSocket: 5,
  redis: {
    commandsPerRun: 2,
    commandsPerWorker: 3,
    bytesPerWorker: 100,
    progressBytes: 10,
    figuresBytes: 20,
    histogramBytes: 0,
  },
};
const machine = { cpus: 2, memoryBytes: 1e9, socketsPerProcess: 1000 };
const traffic = { requests: 0.5, sentBytes: 7, receivedBytes: 9, connectedShare: 0 };

describe('the estimate of what a fleet needs', () => {
  it('has one process and no Redis while that is enough', () => {
    expect(needsOf(100, traffic, machine, costs)).toEqual({
      devices: 100,
      requestsPerSecond: 50,
      sentBytesPerSecond: 700,
      receivedBytesPerSecond: 900,
      sockets: 0,
      cores: 0.05 + 0.1,
      memoryBytes: 2000,
      processes: 1,
      machines: 1,
      redisCommandsPerSecond: 0,
      redisBytesPerSecond: 0,
    });
  });

  it('has enough processes to use at most 0.7 of a core each', () => {
    const needs = needsOf(2401, traffic, machine, costs);
    expect(needs).toMatchObject({ processes: 3, machines: 2 });
    expect(needs.cores).toBeCloseTo(1.2005 + 0.3);
    expect(needs).toMatchObject({ redisCommandsPerSecond: 11, redisBytesPerSecond: 3 * 140 });
    expect(needsOf(2399, traffic, machine, costs)).toMatchObject({ processes: 2, machines: 1 });
  });

  it('has enough processes for the open files of the sockets', () => {
    const connected = { ...traffic, requests: 0, connectedShare: 0.5 };
    const needs = needsOf(2002, connected, machine, costs);
    expect(needs).toMatchObject({ sockets: 1001, processes: 2, machines: 1 });
    expect(needs.memoryBytes).toBe(2000 + 20_020 + 5005);
  });

  it('has enough machines to leave a fifth of the memory free', () => {
    const idle = { ...traffic, requests: 0 };
    const small = { ...machine, memoryBytes: 10_000 };
    expect(needsOf(700, idle, small, costs)).toMatchObject({ processes: 1, machines: 1 });
    expect(needsOf(701, idle, small, costs)).toMatchObject({ processes: 1, machines: 2 });
  });
});
