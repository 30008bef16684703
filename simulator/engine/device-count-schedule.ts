/**
 * Converts the stages of a plan to a schedule: how many devices are on at any time, and when each
 * device is on. The functions are pure; all times are in milliseconds since the start of the run.
 */
import { type LoadStage, stageName } from '../plan/load-fields.ts';

/** A period in which the number of devices changes linearly. */
interface RampPeriod {
  readonly fromMs: number;
  readonly toMs: number;
  readonly fromDevices: number;
  readonly toDevices: number;
}

/** Whether a device is on, and until when. */
export interface DevicePresence {
  readonly isOn: boolean;
  /** Time of the next change; Infinity when there is none. */
  readonly untilMs: number;
}

/** The stages of a plan in sequence. Devices that are on at the end of the last stage stay on. */
export class DeviceCountSchedule {
  readonly #stretches: readonly RampPeriod[];
  /** Start and name of each stage, in order. */
  readonly starts: readonly { readonly atMs: number; readonly name: string }[];
  readonly endMs: number;

  constructor(stages: readonly LoadStage[]) {
    this.#stretches = stretchesOf(stages);
    this.starts = stages.map((stage, index) => ({
      atMs: this.#stretches[index]?.fromMs ?? 0,
      name: stageName(stage, index),
    }));
    this.endMs = this.#stretches.at(-1)?.toMs ?? 0;
  }

  /**
   * Returns the device's state at a time. Devices are switched on in order of index, and off in
   * reverse order.
   */
  presenceOf(index: number, atMs: number): DevicePresence {
    const intervals = this.#intervalsOf(index);
    const current = intervals.find(({ toMs }) => atMs < toMs);
    if (current === undefined) return { isOn: false, untilMs: Number.POSITIVE_INFINITY };
    if (atMs < current.fromMs) return { isOn: false, untilMs: current.fromMs };
    return { isOn: true, untilMs: current.toMs };
  }

  /** Returns the intervals in which the device is on, in order. Adjacent intervals are merged. */
  #intervalsOf(index: number): readonly { readonly fromMs: number; readonly toMs: number }[] {
    const intervals: { fromMs: number; toMs: number }[] = [];
    const { endMs } = this;
    for (const stretch of this.#stretches) {
      const { fromMs, toMs } = intervalOf(stretch, index);
      if (fromMs >= toMs) continue;
      const last = intervals.at(-1);
      const isLastStretch = stretch.toMs === endMs && index < stretch.toDevices;
      const untilMs = isLastStretch ? Number.POSITIVE_INFINITY : toMs;
      if (last?.toMs === fromMs) last.toMs = untilMs;
      else intervals.push({ fromMs, toMs: untilMs });
    }
    return intervals;
  }
}

function stretchesOf(stages: readonly LoadStage[]): readonly RampPeriod[] {
  let atMs = 0;
  let devices = 0;
  return stages.map(({ kind, durationMs, devices: wanted = 0 }) => {
    const fromMs = atMs;
    const earlierDevices = devices;
    atMs += durationMs;
    if (kind === 'ramp') devices = wanted;
    if (kind === 'drain') devices = 0;
    // After a burst, the number of devices returns to the number before it.
    const fromDevices = kind === 'burst' ? wanted : earlierDevices;
    const toDevices = kind === 'burst' ? wanted : devices;
    return { fromMs, toMs: atMs, fromDevices, toDevices };
  });
}

/**
 * Returns the interval of the period in which the device is on. The interval is empty when its end
 * is not after its start.
 */
function intervalOf(stretch: RampPeriod, index: number): { fromMs: number; toMs: number } {
  const { fromMs, toMs, fromDevices, toDevices } = stretch;
  const timeMs = (share: number): number => fromMs + (toMs - fromMs) * share;
  const change = toDevices - fromDevices;
  if (index < Math.min(fromDevices, toDevices)) return { fromMs, toMs };
  if (index >= Math.max(fromDevices, toDevices)) return { fromMs: toMs, toMs };
  const share = (index - fromDevices) / change;
  return change > 0 ? { fromMs: timeMs(share), toMs } : { fromMs, toMs: timeMs(share) };
}
