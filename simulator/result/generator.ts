/**
 * Whether the machine that made the load was itself the limit: what it was to send against what it
 * sent, how late, and how it did meanwhile. Judges facts; does not gather them.
 */
import { mergedDurations } from './merge-figures.ts';
import type { GeneratorFacts, ProcessFacts } from './result-generator.ts';

/** From here on the figures say more of the generator than of the server. */
const generatorLimits = {
  /** Of what was due at a planned moment, one in a hundred was sent later than this. */
  latenessP99MaxMs: 100,
  /** One in a hundred turns of the event loop was held up longer than this. */
  eventLoopLagP99MaxMs: 100,
  /** Share of what fell due that was sent. */
  sentShareLeast: 0.95,
  /** Share of the run's time that went into collecting garbage. */
  collectionShareMax: 0.2,
  /** Share of the time in which the event loop was busy: beyond it there is no time left to send. */
  loopBusyShareMax: 0.97,
} as const;

/** Planned sends below which a run is too small to be judged. */
const JUDGED_SENDS_LEAST = 1000;

type Schedule = GeneratorFacts['schedule'];

/** The schedules of several processes as one. @throws HistogramError */
export function scheduleOf(
  schedules: readonly Pick<Schedule, 'due' | 'sent' | 'lateness'>[],
  durationMs: number,
): Schedule {
  const due = schedules.reduce((sum, each) => sum + each.due, 0);
  const sent = schedules.reduce((sum, each) => sum + each.sent, 0);
  const lateness = mergedDurations(schedules.map((each) => each.lateness));
  const perSecond = (count: number): number => (durationMs > 0 ? (count * 1000) / durationMs : 0);
  return {
    due,
    sent,
    targetPerSecond: perSecond(due),
    achievedPerSecond: perSecond(sent),
    lateness: lateness.figures(),
  };
}

/** The facts with the reasons for which the figures are invalid; none when they are valid. */
export function judgedGenerator(facts: Omit<GeneratorFacts, 'reasons'>): GeneratorFacts {
  const { schedule, processes } = facts;
  if (schedule.due < JUDGED_SENDS_LEAST) return { ...facts, reasons: [] };
  return {
    ...facts,
    reasons: [...scheduleReasons(schedule), ...processes.flatMap(processReasons)],
  };
}

function scheduleReasons({ due, sent, lateness }: Schedule): string[] {
  const { latenessP99MaxMs, sentShareLeast } = generatorLimits;
  const reasons: string[] = [];
  if (lateness.p99Ms > latenessP99MaxMs) {
    reasons.push(
      `1% of the polls were sent ${Math.round(lateness.p99Ms)} ms late or more; ` +
        `the limit is ${latenessP99MaxMs} ms`,
    );
  }
  if (sent < due * sentShareLeast) {
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
