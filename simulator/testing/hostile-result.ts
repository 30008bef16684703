/**
 * Results for tests of the report page: one in which every text is hostile, and one of maximum
 * size.
 */
import type { FleetResult } from '../result/result.ts';
import {
  deviceRowOf,
  differenceOf,
  figuresOf,
  sampleMachine,
  sampleResult,
} from './sample-result.ts';

/** Text that runs a script if a page interprets it as markup. */
export const hostile = `</script><script>document.title='taken'</script><img src=x onerror="document.title='taken'">'"&\u2028`;
const startMs = Date.parse(sampleResult.startedAt);
const nobody = { pending: 0, idle: 0, updating: 0, done: 0, failed: 0, off: 0, noContact: 0 };
const durationMs = 60_000;

const devices = Array.from({ length: 80 }, (_, index) => {
  const finishedMs = startMs + 1000 * (index + 1) - 60_000 * Number(index >= 60);
  if (index === 79) {
    const texts = { serial: hostile, deviceId: hostile, artifactName: hostile, cohort: hostile };
    return deviceRowOf(index, { outcome: 'failure', behaviour: hostile, ...texts });
  }
  return deviceRowOf(index, { outcome: 'success', offeredMs: startMs, finishedMs });
});

/** A run of a minute in which every text is hostile. */
export const hostileResult: FleetResult = {
  ...sampleResult,
  durationMs,
  plan: {
    ...sampleResult.plan,
    baseUrl: `http://host/${hostile}`,
    stages: Array.from({ length: 9 }, () => ({ kind: 'hold', durationMs: 1000 })),
    incidents: [{ name: 'power-cut', atMs: 20_000, lastingMs: 10_000 }],
  },
  machines: [
    { ...sampleMachine, processes: 2 },
    { ...sampleMachine, cpuModel: hostile },
  ],
  stages: ['ramp', hostile].map((name, index) => ({
    name,
    startMs: startMs + 30_000 * index,
    endMs: startMs + 30_000 * (index + 1),
    lateness: figuresOf([1]),
    latencies: [{ operation: 'post-alerts', ...figuresOf([1]) }],
    operations: [],
  })),
  seed: hostile,
  deployedMs: startMs,
  validity: 'invalid',
  generator: { ...sampleResult.generator, reasons: [hostile] },
  thresholds: [
    { threshold: 'errors < 0.1%', verdict: 'missed', observed: hostile },
    { threshold: 'lost reports = 0', verdict: 'met', observed: '0' },
  ],
  funnel: { ...sampleResult.funnel, devices: 80, offered: 80, success: 79, failure: 1, idle: 4 },
  reconciliation: {
    ...sampleResult.reconciliation,
    ok: false,
    differences: [{ ...differenceOf(3, hostile), deviceId: hostile }],
  },
  series: {
    widthMs: 1000,
    rows: Array.from({ length: 60 }, (_, row) => ({
      startMs: startMs + 1000 * row,
      requests: row === 30 ? 0 : 10 + row,
      errors: row % 3,
      p50Ms: row === 30 ? 0 : 5,
      p99Ms: row === 30 ? 0 : 50 + row,
      buckets: [],
      devices: { ...nobody, idle: 80 - row, done: row },
    })),
  },
  errors: [{ operation: hostile, cause: hostile, count: 2 }],
  checks: {
    devices: 2,
    exchanges: 9,
    requirements: [
      {
        requirement: 'errors.no-needless-fault',
        sentence: hostile,
        judged: 9,
        violated: 2,
        stages: [{ stage: hostile, judged: 9, violated: 2, requestsPerSecond: 4 }],
        firstViolation: {
          device: 3,
          atMs: startMs,
          operation: hostile,
          stage: hostile,
          requestsPerSecond: 4,
          expected: hostile,
          actual: hostile,
          request: { line: hostile, headers: { 'x-says': hostile }, body: hostile },
          response: { status: 500, headers: { 'x-says': hostile }, body: hostile },
        },
        violations: [],
      },
    ],
  },
  spread: {
    takeovers: [{ shard: 0, afterMs: 40_000, from: hostile, to: 'b', reason: hostile, adopted: 0 }],
    lost: [{ shard: 1, reason: hostile }],
  },
  devices,
};

/**
 * Returns the changes for a run of an hour with this many devices, with IDs and times as long as
 * real ones.
 */
export function hourOf(count: number): Partial<FleetResult> {
  const hex = (index: number): string => index.toString(16).padStart(12, '0');
  return {
    durationMs: 3_600_000,
    devices: Array.from({ length: count }, (_, index) =>
      deviceRowOf(index, {
        deviceId: `97e1bb73-c9cc-4bb5-a9c3-${hex(index)}`,
        serial: `FB-${hex(index * 7919)}`,
        offeredMs: startMs + index,
        finishedMs: startMs + 1234.567 * (1 + (index % 2900)),
      }),
    ),
    series: {
      widthMs: 4000,
      rows: Array.from({ length: 900 }, (_, row) => ({
        startMs: startMs + 4000 * row,
        requests: 12_345 + row,
        errors: row,
        p50Ms: 1.234567 * row,
        p99Ms: 45.678912 * row,
        buckets: Array.from({ length: 60 }, (_, bucket) => [bucket, 1234] as const),
        devices: {
          pending: 1000,
          idle: 2000 + row,
          updating: 3000,
          done: 9,
          failed: 9,
          off: 9,
          noContact: 9,
        },
      })),
    },
  };
}
