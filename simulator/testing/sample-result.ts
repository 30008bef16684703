/** A result of a run, for tests of reports. */
import { DurationHistogram } from '../result/histograms.ts';
import {
  type DeviceRow,
  type FleetProgress,
  type FleetResult,
  fleetSchema,
} from '../result/result.ts';
import type { ShardFigures } from '../result/shard-figures.ts';
import type { Traffic } from '../result/traffic.ts';

/** A machine in the format of a result. */
export const sampleMachine = {
  fleetbed: '0.1.0',
  node: 'v20.19.0',
  platform: 'linux',
  release: '6.1',
  architecture: 'x64',
  cpuModel: 'Some CPU',
  cpus: 2,
  memoryBytes: 4 * 2 ** 30,
  processes: 1,
};

/** Returns the figures of these durations. */
export function figuresOf(durationsMs: readonly number[]) {
  const histogram = DurationHistogram.empty();
  for (const durationMs of durationsMs) histogram.record(durationMs);
  return histogram.figures();
}

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
  updating: 0,
  idle: 0,
  pending: 0,
  off: 0,
  noContact: 0,
};

export const sampleResult: FleetResult = {
  schema: fleetSchema,
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
  shards: [{ index: 0, of: 1 }],
  validity: 'valid',
  generator: {
    processes: [
      {
        shard: 0,
        durationMs: 4234,
        cpuUserShare: 0.25,
        cpuSystemShare: 0.05,
        loopBusyShare: 0.2,
        eventLoopLagP99Ms: 2,
        eventLoopLagMaxMs: 9,
        collections: 3,
        collectionShare: 0.01,
        collectionMaxMs: 4,
        memoryMaxBytes: 2 ** 26,
        socketsMax: 3,
        connectionsMax: 2,
        queuedMax: 0,
      },
    ],
    schedule: {
      due: 6,
      sent: 6,
      targetPerSecond: 1.4,
      achievedPerSecond: 1.4,
      lateness: figuresOf([0, 0, 1, 1, 1, 2]),
    },
    reasons: [],
  },
  thresholds: [],
  deviceCounts: { pending: 0, idle: 0, updating: 0, done: 1, failed: 2, off: 0, noContact: 0 },
  updates: {
    whole: [{ from: 'offer', outcome: 'success', ...figuresOf([1500]) }],
    statuses: [{ status: 'downloading', ...figuresOf([400, 500, 600]) }],
  },
  stages: [],
  series: { widthMs: 1000, rows: [] },
  startedAt: '2026-01-31T12:00:00.000Z',
  durationMs: 4234,
  funnel: sampleFunnel,
  reconciliation: {
    checked: true,
    ok: true,
    sources: ['list'],
    deploymentsChecked: 1,
    withoutArtifact: 0,
    lostReports: 0,
    duplicateReports: 0,
    differences: [],
    statistics: [],
  },
  latencies: [{ operation: 'post-alerts', ...figuresOf([1, 1, 1, 2, 12.25, 13]) }],
  operations: [
    {
      operation: 'post-alerts',
      responses: { '2xx': 6, '4xx': 1 },
      unanswered: 2,
      timeouts: 1,
      resets: 1,
      refusedConnections: 0,
      otherErrors: 0,
      signatureRefusals: 0,
    },
  ],
  errors: [],
  devices: [],
};

export const sampleTraffic: Traffic = {
  sentBytes: 1_200,
  receivedBytes: 4_500_000,
  downloadedBytes: 4_000_000,
  sentBytesPerSecond: 300,
  receivedBytesPerSecond: 1_125_000,
  downloadedBytesPerSecond: 1_000_000,
};

/** The same result with divided latencies and counted bytes, which earlier versions do not have. */
export const dividedResult: FleetResult = {
  ...sampleResult,
  latencies: sampleResult.latencies.map((row) => ({
    ...row,
    waiting: figuresOf([0, 0, 0, 0, 0, 9]),
    service: figuresOf([1, 1, 1, 2, 12.25, 4]),
  })),
  operations: sampleResult.operations.map((row) => {
    return { ...row, sentBytes: 1_200, receivedBytes: 0 };
  }),
  traffic: sampleTraffic,
};

export const sampleProgress: FleetProgress = {
  elapsedMs: 1500,
  funnel: sampleFunnel,
  exchanges: 42,
  errors: 1,
  socketsOpen: 3,
  stage: 'run',
  latencies: sampleResult.latencies,
  generators: sampleResult.generator.processes,
  latenessP99Ms: 2,
  causes: [{ operation: 'post-alerts', cause: 'status/503', count: 1 }],
};

/** Returns a device row of a result. */
export function deviceRowOf(index: number, change: Partial<DeviceRow> = {}): DeviceRow {
  return {
    index,
    deviceId: `id-${index}`,
    serial: `FB-${index}`,
    keyType: 'ed25519',
    cohort: 'all',
    behaviour: 'steady',
    outcome: 'success',
    reported: ['downloading', 'installing', 'success'],
    artifactName: 'release-2',
    ...change,
  };
}

/** Returns a difference between the records of a device and of the server. */
export function differenceOf(deviceIndex: number, serverStatus = 'failure') {
  return {
    deploymentId: 'd',
    deviceId: `id-${deviceIndex}`,
    deviceIndex,
    kind: 'unknown' as const,
    fleetStatus: 'success',
    serverStatus,
  };
}

/**
 * Returns the figures of a shard with these durations of alerts and with a number of unanswered
 * exchanges.
 */
export function shardFiguresOf(durationsMs: readonly number[], unanswered = 0): ShardFigures {
  const operation = 'post-alerts';
  const responses = { '2xx': durationsMs.length };
  const noResponses = { timeouts: unanswered, resets: 0, refusedConnections: 0, otherErrors: 0 };
  return {
    startMs: 0,
    endMs: 1000,
    elapsedMs: 1000,
    latencies: [{ operation, ...figuresOf(durationsMs) }],
    operations: [{ operation, responses, unanswered, ...noResponses, signatureRefusals: 0 }],
    errors: unanswered === 0 ? [] : [{ operation, cause: 'timeout', count: unanswered }],
    updates: { whole: [], statuses: [] },
    schedule: { due: durationsMs.length, sent: durationsMs.length, lateness: figuresOf([1]) },
    rollout: { devices: 3, updated: 0, failed: 0, elapsedMs: 1000, within: [] },
  };
}
