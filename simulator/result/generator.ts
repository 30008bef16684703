/**
 * Judges whether the load generator was the bottleneck: it compares due sends with actual sends,
 * and checks their lateness and the load of the generator's processes.
 */
import { mergedDurations } from './merge-figures.ts';
import type { FleetResult } from './result.ts';
import type { GeneratorFacts, ProcessFacts } from './result-generator.ts';

/** Limits beyond which the figures describe the generator more than the server. */
const generatorLimits = {
  /** 99th percentile of the lateness of scheduled sends. */
  latenessP99MaxMs: 100,
  /** 99th percentile of the event loop's delay. */
  eventLoopLagP99MaxMs: 100,
  /** Minimum share of the due sends that were sent. */
  sentShareMin: 0.95,
  /** Share of the run's time spent on garbage collection. */
  collectionShareMax: 0.2,
  /** Share of the time during which the event loop was busy; beyond it, sends are delayed. */
  loopBusyShareMax: 0.97,
} as const;

/** Minimum number of due sends for a judgement; a smaller run is not judged. */
const JUDGED_SENDS_MIN = 1000;

type SendSchedule = GeneratorFacts['schedule'];

/**
 * Merges the schedules of several processes.
 * @throws HistogramError
 */
export function scheduleOf(
  schedules: readonly Pick<SendSchedule, 'due' | 'sent' | 'lateness'>[],
  durationMs: number,
): SendSchedule {
  const due = schedules.reduce((sum, each) => sum + each.due, 0);
  const sentCount = schedules.reduce((sum, each) => sum + each.sent, 0);
  const lateness = mergedDurations(schedules.map((each) => each.lateness));
  const perSecond = (count: number): number => (durationMs > 0 ? (count * 1000) / durationMs : 0);
  return {
    due,
    sent: sentCount,
    targetPerSecond: perSecond(due),
    achievedPerSecond: perSecond(sentCount),
    lateness: lateness.figures(),
  };
}

/** Adds the reasons why the figures are invalid; the list is empty when they are valid. */
export function judgedGenerator(facts: Omit<GeneratorFacts, 'reasons'>): GeneratorFacts {
  const { schedule, processes } = facts;
  if (schedule.due < JUDGED_SENDS_MIN) return { ...facts, reasons: [] };
  return {
    ...facts,
    reasons: [...scheduleReasons(schedule), ...processes.flatMap(processReasons)],
  };
}

/** Returns whether the figures are valid. */
export function validityOf({ reasons, schedule }: GeneratorFacts): FleetResult['validity'] {
  if (reasons.length > 0) return 'invalid';
  return schedule.due < JUDGED_SENDS_MIN ? 'not-judged' : 'valid';
}

function scheduleReasons({ due, sent, lateness }: SendSchedule): string[] {
  const { latenessP99MaxMs, sentShareMin } = generatorLimits;
  const reasons: string[] = [];
  if (lateness.p99Ms > latenessP99MaxMs) {
    reasons.push(
      `1% of the polls were sent ${Math.round(lateness.p99Ms)} ms late or more; ` +
        `the limit is ${latenessP99MaxMs} ms`,
    );
  }
  if (sent < due * sentShareMin) {
    reasons.push(`only ${sent} of ${due} polls were sent when due`);
  }
  return reasons;
}

function processReasons(process: ProcessFacts): string[] {
  const { eventLoopLagP99MaxMs, collectionShareMax, loopBusyShareMax } = generatorLimits;
  const who = `process ${process.shard + 1}`;
  const reasons: string[] = [];
  if (process.eventLoopLagP99Ms > eventLoopLagP99MaxMs) {
    const lag = Math.round(process.eventLoopLagP99Ms);
    reasons.push(`${who}: event loop delay of ${lag} ms (p99)`);
  }
  if (process.collectionShare > collectionShareMax) {
    reasons.push(
      `${who}: ${percent(process.collectionShare)} of the time spent in garbage collection`,
    );
  }
  if (process.loopBusyShare > loopBusyShareMax) {
    reasons.push(`${who}: event loop busy ${percent(process.loopBusyShare)} of the time`);
  }
  return reasons;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}
