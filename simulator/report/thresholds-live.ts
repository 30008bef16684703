/** Looks at a run that is underway by those thresholds that may end it early. */
import type { Fleet } from '../fleet/fleet.ts';
import { countedPart } from '../fleet/funnel.ts';
import { isHopeless } from './thresholds.ts';
import {
  countsOf,
  durationsOf,
  type Measures,
  type UpdateMeasures,
} from './thresholds-measures.ts';
import { thresholdOf } from './thresholds-parser.ts';

/** Looks in a row at which a threshold must be beyond reach: one bad second ends no run. */
const HOPELESS_LOOKS = 3;

/** Which thresholds of a plan may end its run. */
export interface AbortingPlan {
  readonly thresholds?: readonly string[] | undefined;
  /** All of them may; else those that say so. */
  readonly abortOnThreshold?: boolean | undefined;
}

/** Knows for how long each threshold has been out of reach. */
export class ThresholdWatch {
  readonly #aborting;
  readonly #looks: number[];

  /** @throws ThresholdError when one is no threshold */
  constructor({ thresholds = [], abortOnThreshold = false }: AbortingPlan) {
    this.#aborting = thresholds
      .map(thresholdOf)
      .filter(({ abortsRun }) => abortsRun || abortOnThreshold);
    this.#looks = this.#aborting.map(() => 0);
  }

  /** To be called about once a second; whether the run is to end. */
  look(measures: () => Measures): boolean {
    if (this.#aborting.length === 0) return false;
    const now = measures();
    for (const [position, threshold] of this.#aborting.entries()) {
      const before = this.#looks[position] ?? 0;
      this.#looks[position] = isHopeless(threshold, now) ? before + 1 : 0;
    }
    return this.#looks.some((looks) => looks >= HOPELESS_LOOKS);
  }
}

/** The figures of a fleet that is underway. */
export function measuresNow(fleet: Fleet, nowMs: number): Measures {
  const { ledger } = fleet;
  const histograms = ledger.histograms();
  const operations = ledger.operations();
  return {
    isOver: false,
    elapsedMs: fleet.elapsedMs(),
    durations: (wanted) => durationsOf(histograms, wanted),
    counts: (wanted) => countsOf(operations, wanted),
    updates: () => updatesNow(fleet, nowMs),
    reports: () => undefined,
  };
}

/** How the updates of a fleet stand that is underway. */
export function updatesNow(fleet: Fleet, nowMs: number): UpdateMeasures {
  const { devices, target } = fleet;
  const baseMs = target?.createdMs ?? nowMs - fleet.elapsedMs();
  const updatedAfterMs: number[] = [];
  let failed = 0;
  for (const device of devices) {
    const part = countedPart(device, target);
    if (part === undefined) continue;
    const { state } = part;
    const endedMs = part.endedMs ?? nowMs;
    if (state === 'success' || state === 'already-installed') updatedAfterMs.push(endedMs - baseMs);
    else if (state === 'failure' || state === 'aborted') failed++;
  }
  return {
    devices: devices.length,
    updated: updatedAfterMs.length,
    updatedWithin: (withinMs) => updatedAfterMs.filter((afterMs) => afterMs <= withinMs).length,
    failed,
    elapsedMs: nowMs - baseMs,
  };
}
