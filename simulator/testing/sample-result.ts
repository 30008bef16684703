/** A result of a run, for the tests of its renderings. */
import type { FleetResult } from '../report/result.ts';

export const sampleFunnel = {
  devices: 3,
  offered: 3,
  downloading: 3,
  installing: 2,
  rebooting: 1,
  success: 1,
  failure: 1,
  aborted: 1,
  alreadyInstalled: 0,
  underway: 0,
  idle: 0,
  waiting: 0,
  silent: 0,
};

export const sampleResult: FleetResult = {
  ended: 'settled',
  seed: 'x',
  plan: {
    baseUrl: 'http://127.0.0.1:8080',
    devices: 3,
    keys: { rsa: 1, ecdsa: 1, ed25519: 1 },
    behaviours: [{ name: 'steady', weight: 1 }],
    pollIntervalMs: 1000,
    inventoryIntervalMs: 60_000,
    rampMs: 0,
    connect: false,
    deviceType: 'board',
  },
  startedAt: '2026-01-31T12:00:00.000Z',
  durationMs: 4234,
  funnel: sampleFunnel,
  balance: { checked: true, ok: true, deploymentsChecked: 1, withoutArtifact: 0, differences: [] },
  latencies: [
    { operation: 'post-alerts', count: 6, p50Ms: 1.04, p90Ms: 2, p99Ms: 12.25, maxMs: 13 },
  ],
  operations: [{ operation: 'post-alerts', answers: { '2xx': 6, '4xx': 1 }, unanswered: 2 }],
  errors: [],
  devices: [],
};

/** A device whose books differ. */
export function differenceOf(deviceIndex: number, servers = 'failure') {
  return {
    deploymentId: 'd',
    deviceId: `id-${deviceIndex}`,
    deviceIndex,
    ours: 'success',
    servers,
  };
}
