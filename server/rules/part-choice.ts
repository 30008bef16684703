/**
 * Which deployment a device is served now, or why each is withheld.
 * Spec: Device deployments, GET and POST next
 */
import { type DeviceDeployment, isOver, mayTryAgain } from './device-deployment.ts';
import type { Phase } from './phases.ts';

/** One device deployment, with the facts that decide whether it is served. */
export interface PartFacts extends Pick<DeviceDeployment, 'status' | 'offeredMs' | 'retriesLeft'> {
  /** Devices of the deployment that were offered it; counted only where something limits them. */
  readonly offeredDevices: number;
  readonly deployment: {
    /** Order of creation. */
    readonly seq: number;
    readonly createdMs: number;
    readonly finishedMs?: number;
    readonly maxDevices?: number;
    readonly phases?: readonly Phase[];
  };
}

/** The time, and the device's last finished deployment. */
interface Moment {
  readonly nowMs: number;
  /** The newest deployment that the device was offered and finished; 0 when there is none. */
  readonly lastFinishedSeq: number;
}

/** Permanent reasons to withhold a part, then temporary ones. */
type Over = 'finished' | 'aborted' | 'deployment-over' | 'older';
export type Held = 'start' | 'phase' | 'max-devices';
export type KeptBack = Over | Held;

export type PartChoice<Part> =
  | { readonly decision: 'go-on' | 'retry' | 'begin'; readonly part: Part }
  | { readonly decision: 'wait'; readonly part: Part; readonly rule: Held }
  | { readonly decision: 'nothing' };

/**
 * The active part, else one in which the device failed and may try again, else the oldest one that
 * may begin; one that has to wait only when there is no other. `parts` come in order of creation;
 * those that are over change nothing.
 */
export function choosePart<Part extends PartFacts>(
  parts: readonly Part[],
  moment: Moment,
): PartChoice<Part> {
  const active = parts.find((part) => part.offeredMs !== undefined && !isOver(part));
  if (active) return { decision: 'go-on', part: active };
  const failed = parts.find(mayTryAgain);
  if (failed) return { decision: 'retry', part: failed };
  let waiting: PartChoice<Part> = { decision: 'nothing' };
  for (const part of parts) {
    const rule = keptBack(part, moment);
    if (rule === undefined) return { decision: 'begin', part };
    if (waiting.decision === 'nothing' && isHeld(rule)) waiting = { decision: 'wait', part, rule };
  }
  return waiting;
}

/** The first rule that withholds a part now; undefined when the device may have it. */
export function keptBack(
  part: PartFacts,
  { nowMs, lastFinishedSeq }: Moment,
): KeptBack | undefined {
  if (mayTryAgain(part)) return undefined;
  if (part.status === 'aborted') return 'aborted';
  if (isOver(part)) return 'finished';
  if (part.offeredMs !== undefined) return undefined;
  const { deployment, offeredDevices } = part;
  if (deployment.finishedMs !== undefined) return 'deployment-over';
  if (deployment.seq <= lastFinishedSeq) return 'older';
  if (deployment.createdMs > nowMs) return 'start';
  if (offeredDevices >= devicesByNow(deployment, nowMs)) return 'phase';
  return offeredDevices >= (deployment.maxDevices ?? Infinity) ? 'max-devices' : undefined;
}

/** How many devices the phases that have begun let begin. */
export function devicesByNow({ phases }: PartFacts['deployment'], nowMs: number): number {
  if (!phases) return Infinity;
  return phases.findLast(({ startMs }) => startMs <= nowMs)?.devicesUntil ?? 0;
}

const held: ReadonlySet<string> = new Set<Held>(['start', 'phase', 'max-devices']);

function isHeld(rule: KeptBack): rule is Held {
  return held.has(rule);
}
