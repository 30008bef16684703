/**
 * Stages as a timeline: how many devices are on at any time, and thus when each device is. Pure;
 * all times in milliseconds since the start of the run.
 */
import type { LoadStage } from '../plan/load-fields.ts';

/** Between its two ends the number of devices changes linearly. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly fromDevices: number;
  readonly toDevices: number;
}

/** The state of a device, on or off, and how long it lasts. */
export interface Presence {
  readonly isOn: boolean;
  /** Infinity when it is the last change. */
  readonly untilMs: number;
}

/** The stages of a plan in sequence; devices that are on at the end of the last one stay on. */
export class Timeline {
  readonly #stretches: readonly Stretch[];
  /** When each stage begins, in order. */
  readonly starts: readonly { readonly atMs: number; readonly name: string }[];
  readonly endMs: number;

  constructor(stages: readonly LoadStage[]) {
    this.#stretches = stretchesOf(stages);
    this.starts = stages.map(({ kind }, index) => ({
      atMs: this.#stretches[index]?.fromMs ?? 0,
      name: `${index + 1} ${kind}`,
    }));
    this.endMs = this.#stretches.at(-1)?.toMs ?? 0;
  }

  /**
   * Returns the device's state at this time. Devices are switched on by index, and off in reverse.
   */
  presenceOf(index: number, atMs: number): Presence {
    const intervals = this.#intervalsOf(index);
    const current = intervals.find(({ toMs }) => atMs < toMs);
    if (current === undefined) return { isOn: false, untilMs: Number.POSITIVE_INFINITY };
    if (atMs < current.fromMs) return { isOn: false, untilMs: current.fromMs };
    return { isOn: true, untilMs: current.toMs };
  }

  /** Returns when the device is on, in order, with a gap between any two intervals. */
  #intervalsOf(index: number): readonly { readonly fromMs: number; readonly toMs: number }[] {
    const intervals: { fromMs: number; toMs: number }[] = [];
    const { endMs } = this;
    for (const stretch of this.#stretches) {
      const { fromMs, toMs } = within(stretch, index);
      if (fromMs >= toMs) continue;
      const last = intervals.at(-1);
      const stays = stretch.toMs === endMs && index < stretch.toDevices;
      const lasting = stays ? Number.POSITIVE_INFINITY : toMs;
      if (last?.toMs === fromMs) last.toMs = lasting;
      else intervals.push({ fromMs, toMs: lasting });
    }
    return intervals;
  }
}

function stretchesOf(stages: readonly LoadStage[]): readonly Stretch[] {
  let atMs = 0;
  let devices = 0;
  return stages.map(({ kind, durationMs, devices: wanted = 0 }) => {
    const fromMs = atMs;
    const before = devices;
    atMs += durationMs;
    if (kind === 'ramp') devices = wanted;
    if (kind === 'drain') devices = 0;
    // After a burst the number is what it was before.
    const fromDevices = kind === 'burst' ? wanted : before;
    const toDevices = kind === 'burst' ? wanted : devices;
    return { fromMs, toMs: atMs, fromDevices, toDevices };
  });
}

/**
 * Returns the part of the stretch in which the device is on; empty when its end is not after its
 * start.
 */
function within(stretch: Stretch, index: number): { fromMs: number; toMs: number } {
  const { fromMs, toMs, fromDevices, toDevices } = stretch;
  const momentMs = (share: number): number => fromMs + (toMs - fromMs) * share;
  const change = toDevices - fromDevices;
  if (index < Math.min(fromDevices, toDevices)) return { fromMs, toMs };
  if (index >= Math.max(fromDevices, toDevices)) return { fromMs: toMs, toMs };
  const share = (index - fromDevices) / change;
  return change > 0 ? { fromMs: momentMs(share), toMs } : { fromMs, toMs: momentMs(share) };
}
