/** Phased deployments: which share of the devices may start at which time. */
import type { GivenPhase } from '../../fixtures/contract/management/deployments.ts';
import { timestampMs } from '../../fixtures/contract/text.ts';
import type { Problem } from './problem.ts';

/** A phase of a deployment, with its computed start and device count. */
export interface Phase {
  /** Percentage of the devices. */
  readonly batchSize: number;
  readonly startMs: number;
  /**
   * Number of devices that may be offered the deployment from this phase on, including earlier
   * phases.
   */
  readonly devicesUntil: number;
}

/**
 * Computes the phases of a deployment. Only the last phase may omit its share, and receives the
 * rest; only the first may omit its start, and starts at once. A share is rounded down to whole
 * devices; a phase without devices is refused, as known servers do.
 */
export function planPhases(
  wantedPhases: readonly GivenPhase[],
  { deviceCount, nowMs }: { deviceCount: number; nowMs: number },
): readonly Phase[] | Problem {
  const phases: Phase[] = [];
  let percent = 0;
  for (const [at, { batch_size: share, start_ts: start }] of wantedPhases.entries()) {
    const isLast = at === wantedPhases.length - 1;
    const batchSize = share ?? (isLast ? 100 - percent : undefined);
    const batchPath = `phases.${at}.batch_size`;
    const startPath = `phases.${at}.start_ts`;
    if (batchSize === undefined) return { path: batchPath, problem: 'is required' };
    if (start === undefined && at > 0) return { path: startPath, problem: 'is required' };
    percent += batchSize;
    if (batchSize <= 0 || percent > 100 || (isLast && percent < 100)) {
      const problem = 'the batch sizes of all phases must add up to 100 percent';
      return { path: batchPath, problem };
    }
    const previousPhase = phases.at(-1);
    const startMs = start === undefined ? nowMs : timestampMs(start);
    if (previousPhase && startMs <= previousPhase.startMs) {
      return { path: startPath, problem: 'must be later than in the previous phase' };
    }
    const devices = Math.floor((deviceCount * batchSize) / 100);
    const devicesUntil = isLast ? deviceCount : (previousPhase?.devicesUntil ?? 0) + devices;
    if (devicesUntil === (previousPhase?.devicesUntil ?? 0)) {
      const problem = `must cover at least one of ${deviceCount} devices`;
      return { path: batchPath, problem };
    }
    phases.push({ batchSize, startMs, devicesUntil });
  }
  return phases;
}

/** Distributes the devices that were offered the deployment over its phases, in order. */
export function devicesOfPhases(phases: readonly Phase[], offered: number): number[] {
  return phases.map(({ devicesUntil }, at) => {
    const devicesBefore = phases[at - 1]?.devicesUntil ?? 0;
    return Math.max(0, Math.min(offered, devicesUntil) - devicesBefore);
  });
}
