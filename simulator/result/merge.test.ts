import fc from 'fast-check';
import { build, encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { RunMetrics } from '../metrics/run-metrics.ts';
import { ScopeMetrics } from '../metrics/scope-metrics.ts';
import { noonMs } from '../testing/client-fixture.ts';
import {
  figuresOf,
  sampleMachine,
  sampleResult,
  shardFiguresOf,
} from '../testing/sample-result.ts';
import type { FixedRatePolls } from './fixed-rate-polls.ts';
import { scheduleOf } from './generator.ts';
import { MergeError, mergeResults } from './merge.ts';
import type { FleetResult } from './result.ts';

/** One exchange of a run: its time, its operation and its outcome. */
interface Story {
  readonly afterMs: number;
  readonly operation: string;
  readonly stage: 'ramp' | 'hold';
  readonly end: number | 'timeout' | 'reset';
  readonly latencyMs: number;
  readonly cohort: 'Slow' | 'Fast';
  /** The part of the fleet to which the exchange belongs. */
  readonly part: number;
}

const PARTS = 3;
const DEVICES = 9;

const story: fc.Arbitrary<Story> = fc.record({
  afterMs: fc.nat(2_000_000),
  operation: fc.constantFrom('post-alerts', 'put-attributes', 'connect'),
  stage: fc.constantFrom('ramp', 'hold'),
  end: fc.constantFrom<(number | 'timeout' | 'reset')[]>(200, 204, 401, 503, 'timeout', 'reset'),
  latencyMs: fc.double({ min: 0, max: 60_000, noNaN: true }),
  cohort: fc.constantFrom('Slow', 'Fast'),
  part: fc.nat(PARTS - 1),
});

/** The parts of the run that thresholds name, in the order in which merging lists them. */
const scopes = [
  { stage: 'hold' },
  { cohort: 'Fast', stage: 'ramp' },
  { cohort: 'Slow' },
  { cohort: 'Unused' },
];

/** Returns the result of a process with these exchanges. */
function resultOf(stories: readonly Story[], shard: FleetResult['shards'][number]): FleetResult {
  const clock = new ManualClock(noonMs);
  const metrics = new RunMetrics(clock, new ScopeMetrics(scopes, (caller) => caller));
  for (const stage of ['ramp', 'hold'] as const) {
    metrics.enterStage(stage);
    for (const each of stories.filter((one) => one.stage === stage)) live(metrics, each, clock);
    clock.advance(2_000_000 * (stage === 'ramp' ? 1 : 2) - (clock.now() - noonMs));
  }
  const updates = stories.map(({ latencyMs }) => latencyMs);
  for (const ms of updates) metrics.updates.recordUpdate('offer', 'success', ms);
  const { updates: updateMetrics, lateness } = metrics;
  const sent = { due: lateness.count, sent: lateness.count, lateness: lateness.figures() };
  return {
    ...sampleResult,
    plan: { ...sampleResult.plan, devices: DEVICES },
    shards: [shard],
    durationMs: 4_000_000,
    generator: { processes: [], schedule: scheduleOf([sent], 4_000_000), reasons: [] },
    updates: updateMetrics.figures(),
    latencies: metrics.latencies(),
    operations: metrics.operations(),
    stages: metrics.stages(),
    series: metrics.series.figures(),
    errors: metrics.errors(),
    scopes: metrics.scopes(),
    fixedRatePolls: pollsOf(stories),
  };
}

/** Returns the counts of polls at a fixed rate, of which those beyond a second were late. */
function pollsOf(stories: readonly Story[]): FixedRatePolls {
  const late = stories.filter(({ latencyMs }) => latencyMs > 1000).length;
  const dropped = stories.filter(({ end }) => end === 'timeout').length;
  return { due: stories.length, sent: stories.length - dropped, late, dropped };
}

function live(
  metrics: RunMetrics,
  { afterMs, operation, end, latencyMs, cohort: caller }: Story,
  clock: ManualClock,
) {
  // The exchanges of each part are in chronological order, so the clock never goes back.
  clock.advance(Math.max(0, noonMs + afterMs - clock.now()));
  metrics.recordLateness(latencyMs / 10);
  metrics.recordSentBytes(operation, Math.round(latencyMs));
  if (typeof end === 'number') {
    const waitingMs = latencyMs / 4;
    metrics.recordResponse({ operation, caller, status: end, elapsedMs: latencyMs, waitingMs });
    metrics.recordReceivedBytes(operation, Math.round(2 * latencyMs));
  } else {
    metrics.recordNoResponse({ operation, caller, noResponse: end });
    metrics.countError({ operation, label: end });
  }
}

/** Returns the members in which merged parts must equal the result of one process. */
function figuresIn(result: FleetResult) {
  const { generator, updates, latencies, operations, stages, errors, series } = result;
  const { schedule } = generator;
  const { scopes: parts, fixedRatePolls } = result;
  return {
    schedule,
    updates,
    latencies,
    operations,
    stages,
    errors,
    series,
    parts,
    fixedRatePolls,
  };
}

function partsOf(stories: readonly Story[]): FleetResult[] {
  return Array.from({ length: PARTS }, (_, index) =>
    resultOf(
      stories.filter(({ part }) => part === index),
      { index, of: PARTS },
    ),
  );
}

const inOrder = fc
  .array(story, { maxLength: 60 })
  .map((stories) => [...stories].sort((one, other) => one.afterMs - other.afterMs));

describe('merged results of several processes', () => {
  it('equal exactly what one process would have measured', () => {
    fc.assert(
      fc.property(inOrder, (stories) => {
        const whole = resultOf(stories, { index: 0, of: 1 });
        const merged = mergeResults(partsOf(stories));
        expect(figuresIn(merged)).toEqual(figuresIn(whole));
      }),
      { numRuns: 40, seed: 6 },
    );
  });

  it('are the same in every order, and when merged step by step', () => {
    fc.assert(
      fc.property(inOrder, (stories) => {
        const [one, two, three] = partsOf(stories) as [FleetResult, FleetResult, FleetResult];
        const whole = mergeResults([one, two, three]);
        expect(mergeResults([three, one, two])).toEqual(whole);
        expect(mergeResults([mergeResults([three, two]), one])).toEqual(whole);
      }),
      { numRuns: 20, seed: 7 },
    );
  });

  it('count every device once, and keep the rows in order', () => {
    const parts = [1, 0].map((index) => ({
      ...shardOf(index, 2),
      devices: [{ ...row, index: index * 4 }],
    }));
    const merged = mergeResults(parts);
    expect(merged.funnel.devices).toBe(6);
    expect(merged.deviceCounts).toMatchObject({ done: 2, failed: 4 });
    expect(merged.devices.map(({ index }) => index)).toEqual([0, 4]);
    expect(merged.shards).toEqual([
      { index: 0, of: 2 },
      { index: 1, of: 2 },
    ]);
  });

  it('cover the time from the first start to the last end', () => {
    const late = { ...shardOf(1, 2), startedAt: '2026-01-31T12:00:01.000Z', durationMs: 5000 };
    const { startedAt, durationMs } = mergeResults([late, shardOf(0, 2)]);
    expect({ startedAt, durationMs }).toEqual({
      startedAt: '2026-01-31T12:00:00.000Z',
      durationMs: 6000,
    });
  });

  it('include the measurements of lost workers in a separate stage', () => {
    const plan = { ...shardOf(0, 2).plan, thresholds: ['errors <= 3'] };
    const parts = [0, 1].map((index) => ({ ...shardOf(index, 2), plan }));
    const before = mergeResults(parts);
    const after = mergeResults(parts, [shardFiguresOf([40, 50], 2)]);
    const [was, is] = [before, after].map(({ operations }) => operations[0]);
    expect(is?.responses['2xx']).toBe((was?.responses['2xx'] ?? 0) + 2);
    expect(is?.unanswered).toBe((was?.unanswered ?? 0) + 2);
    expect(after.latencies).toMatchObject([{ count: 14, maxMs: 50 }]);
    expect(after.errors).toEqual([{ operation: 'post-alerts', cause: 'timeout', count: 2 }]);
    expect(after.generator.schedule.sent).toBe(before.generator.schedule.sent + 2);
    expect(after.stages).toMatchObject([{ name: 'of failed workers', latencies: [{ count: 2 }] }]);
    expect(after.thresholds[0]?.observed).toBe('6 of 22 requests');
    expect(after.devices).toEqual(before.devices);
  });

  it('keep the takeovers and losses of parts that were merged before', () => {
    const takeover = { shard: 0, afterMs: 1, from: 'a', to: 'b', reason: 'c', adopted: 0 };
    const spread = { takeovers: [takeover], lost: [], missingDeviceMs: 70 };
    const parts = [{ ...shardOf(0, 2), spread }, shardOf(1, 2)];
    expect(mergeResults(parts).spread).toEqual(spread);
    expect(Object.keys(mergeResults([shardOf(0, 2), shardOf(1, 2)]))).not.toContain('spread');
  });

  it('name each kind of machine once, and add up the lost events', () => {
    const otherMachine = { ...sampleMachine, node: 'v22.1.0' };
    const parts = [
      { ...shardOf(0, 4), machines: [sampleMachine], events: { written: 5, lost: 1 } },
      {
        ...shardOf(1, 4),
        machines: [otherMachine],
        events: { written: 7, lost: 2, error: 'ENOSPC' },
      },
      { ...shardOf(2, 4), machines: [sampleMachine] },
      shardOf(3, 4),
    ];
    const merged = mergeResults(parts);
    expect(merged.machines).toEqual([{ ...sampleMachine, processes: 2 }, otherMachine]);
    expect(merged.events).toEqual({ written: 12, lost: 3, error: 'ENOSPC' });
    expect(mergeResults(parts.toReversed())).toEqual(merged);
    const silent = mergeResults([shardOf(0, 2), shardOf(1, 2)]);
    expect(Object.keys(silent)).not.toContain('machines');
    expect(Object.keys(silent)).not.toContain('events');
  });

  it('are judged again as a whole: thresholds, reconciliation and the generator', () => {
    const thresholds = ['max(post-alerts) < 10ms', 'lost reports = 0'];
    const plan = { ...shardOf(0, 2).plan, thresholds };
    const bad = { ...sampleResult.reconciliation, ok: false, lostReports: 1 };
    const lateness = figuresOf(Array.from({ length: 1000 }, () => 250));
    const schedule = { ...sampleResult.generator.schedule, due: 1000, sent: 1000, lateness };
    const generator = { ...sampleResult.generator, schedule };
    const merged = mergeResults([
      { ...shardOf(0, 2), plan },
      { ...shardOf(1, 2), plan, reconciliation: bad, generator },
    ]);
    expect(merged.reconciliation.ok).toBe(false);
    expect(merged.thresholds.map(({ verdict }) => verdict)).toEqual(['missed', 'missed']);
    expect(merged.validity).toBe('invalid');
    expect(merged.generator.reasons).toEqual([
      expect.stringContaining('1% of the polls were sent 250 ms late'),
    ]);
  });

  it.each<[string, () => readonly FleetResult[], string]>([
    ['nothing', () => [], 'there is no result to merge'],
    [
      'different seeds',
      () => [shardOf(0, 2), { ...shardOf(1, 2), seed: 'y' }],
      'the results have different seeds, "x" and "y"',
    ],
    [
      'different plans',
      () => [shardOf(0, 2), { ...shardOf(1, 2), plan: { ...shardOf(1, 2).plan, rampMs: 7 } }],
      'the results have different plans: rampMs is 0 in one and 7 in the other',
    ],
    [
      'plans of which one says more',
      () => [shardOf(0, 2), { ...shardOf(1, 2), plan: { ...shardOf(1, 2).plan, deploy: 'a' } }],
      'deploy is absent in one and "a" in the other',
    ],
    [
      'different stages',
      () => {
        const staged = (durationMs: number) => ({ stages: [{ kind: 'hold', durationMs }] });
        return [0, 1].map((index) => {
          const shard = shardOf(index, 2);
          return { ...shard, plan: { ...shard.plan, ...staged(1000 + index) } };
        });
      },
      'the results have different plans: stages[0].durationMs is 1000 in one and 1001 in the other',
    ],
    ['a shard that is there twice', () => [shardOf(1, 2), shardOf(1, 2)], 'shards 2/2 and 2/2'],
    ['shards that overlap', () => [shardOf(0, 2), shardOf(1, 3)], 'shards 1/2 and 2/3 overlap'],
    ['the whole and a part', () => [shardOf(0, 1), shardOf(1, 3)], 'shards 1/1 and 2/3 overlap'],
    ['an invalid histogram', () => [damaged('!!!'), shardOf(1, 2)], 'a result is damaged'],
    ['a histogram that is empty', () => [damaged(''), shardOf(1, 2)], 'a result is damaged'],
    [
      'a histogram of another precision',
      () => [damaged(coarse), shardOf(1, 2)],
      'a result is damaged',
    ],
  ])('are refused for %s, with one sentence', (_what, results, sentence) => {
    expect(() => mergeResults(results())).toThrow(MergeError);
    expect(() => mergeResults(results())).toThrow(sentence);
  });
});

const row: FleetResult['devices'][number] = {
  index: 0,
  serial: 'FB-1',
  keyType: 'rsa',
  behaviour: 'steady',
  outcome: 'success',
  reported: ['success'],
  artifactName: 'release-2',
};

function shardOf(index: number, of: number): FleetResult {
  const plan = { ...sampleResult.plan, devices: DEVICES };
  return { ...sampleResult, plan, shards: [{ index, of }] };
}

/** A histogram with two significant digits. */
const coarse = encodeIntoCompressedBase64(build({ numberOfSignificantValueDigits: 2 }));

function damaged(histogram: string): FleetResult {
  const [latency] = sampleResult.latencies;
  return { ...shardOf(0, 2), latencies: latency ? [{ ...latency, histogram }] : [] };
}
