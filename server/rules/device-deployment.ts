/**
 * The states of a deployment on one device, and the state that results from each event.
 * Spec: States and transitions
 */
import {
  type DeviceDeploymentStatus,
  deviceDeploymentStatuses,
  finalStatuses,
  type ReportableStatus,
} from '../../fixtures/contract/vocabulary.ts';
import { initialStatus } from './deployment-progress.ts';

/** The state of a deployment on one device. */
export interface DeviceDeployment {
  readonly status: DeviceDeploymentStatus;
  readonly substate?: string | undefined;
  /**
   * The data with which the device polled when it was offered the update, as canonical text.
   */
  readonly pollData?: string | undefined;
  readonly artifactId?: string | undefined;
  /** Number of attempts: the first offer begins one, and each retry another. */
  readonly attempts: number;
  readonly retriesLeft: number;
  /** Time of the first offer, in milliseconds since the Unix epoch. */
  readonly offeredMs?: number | undefined;
  /** Time of the current attempt's first report, in milliseconds since the Unix epoch. */
  readonly startedMs?: number | undefined;
  readonly finishedMs?: number | undefined;
}

/** The facts that are recorded when an update is offered to the device. */
export interface Offer {
  readonly pollData: string;
  readonly artifactId?: string | undefined;
  readonly nowMs: number;
}

/** A device's report on its update. */
export interface StatusReport {
  readonly status: ReportableStatus;
  readonly substate?: string | undefined;
}

/** The fields that decide whether a device deployment is finished. */
type StatusAndRetries = Pick<DeviceDeployment, 'status' | 'retriesLeft'>;

/** The only status from which a device may retry. */
export const retriedStatus = 'failure' satisfies DeviceDeploymentStatus;

/** Why every report is refused with 409 in a status; undefined where reports are accepted. */
const refusedReports: Readonly<Record<DeviceDeploymentStatus, string | undefined>> = {
  pending: undefined,
  installing: undefined,
  pause_before_installing: undefined,
  downloading: undefined,
  pause_before_rebooting: undefined,
  rebooting: undefined,
  pause_before_committing: undefined,
  success: undefined,
  failure: undefined,
  'already-installed': undefined,
  noartifact: undefined,
  aborted: 'the deployment was aborted; stop the update',
  decommissioned: 'the device was decommissioned',
};

/** Names for groups of statuses, by which users filter device deployments. */
export const statusGroups = {
  active: deviceDeploymentStatuses.filter((status) => !isFinal({ status })),
  finished: finalStatuses,
  pause: deviceDeploymentStatuses.filter((status) => status.startsWith('pause_')),
};

export function isStatusGroup(word: string): word is keyof typeof statusGroups {
  return Object.hasOwn(statusGroups, word);
}

/** Returns true for a final status; the device may still have retries left. */
export function isFinal({ status }: Pick<DeviceDeployment, 'status'>): boolean {
  return finalStatuses.includes(status);
}

/** True when the device failed and has retries left. */
export function mayTryAgain({ status, retriesLeft }: StatusAndRetries): boolean {
  return status === retriedStatus && retriesLeft > 0;
}

/** Returns the state of a device deployment before its first offer. */
export function initialState(retries: number): DeviceDeployment {
  return { status: initialStatus, attempts: 0, retriesLeft: retries };
}

/**
 * Returns the state after an offer. The first offer begins the first attempt and sets `offeredMs`;
 * a later one belongs to the current attempt.
 */
export function applyOffer<State extends DeviceDeployment>(current: State, offer: Offer): State {
  return {
    ...current,
    pollData: offer.pollData,
    artifactId: offer.artifactId,
    attempts: current.attempts + (current.offeredMs === undefined ? 1 : 0),
    offeredMs: current.offeredMs ?? offer.nowMs,
  };
}

/**
 * Returns the state at the start of a retry, which is another attempt: pending, without poll data
 * and artifact.
 */
export function applyRetry<State extends DeviceDeployment>(current: State): State {
  return {
    ...current,
    status: initialStatus,
    attempts: current.attempts + 1,
    retriesLeft: current.retriesLeft - 1,
    pollData: undefined,
    artifactId: undefined,
    substate: undefined,
    startedMs: undefined,
    finishedMs: undefined,
  };
}

/** Returns the state with another status. A status that is not final clears `finishedMs`. */
export function withStatus<State extends DeviceDeployment>(
  current: State,
  status: DeviceDeploymentStatus,
  nowMs: number,
): State {
  return {
    ...current,
    status,
    startedMs: current.startedMs ?? nowMs,
    finishedMs: isFinal({ status }) ? nowMs : undefined,
  };
}

/**
 * Returns the state after a report: every status may follow every other. An absent or empty
 * substate keeps the previous one. Returns the reason when the current status refuses reports.
 */
export function applyReport<State extends DeviceDeployment>(
  current: State,
  report: StatusReport,
  nowMs: number,
): State | { readonly reason: string } {
  const reason = refusedReports[current.status];
  if (reason !== undefined) return { reason };
  return {
    ...withStatus(current, report.status, nowMs),
    substate: report.substate || current.substate,
  };
}

/**
 * Returns the state after the server stopped the device deployment, which is finished now: it keeps
 * a final status, and has no retries left.
 */
export function applyStop<State extends StatusAndRetries & Pick<DeviceDeployment, 'finishedMs'>>(
  current: State,
  status: 'aborted' | 'decommissioned',
  nowMs: number,
): State {
  if (isFinal(current)) return { ...current, retriesLeft: 0 };
  return { ...current, status, finishedMs: nowMs, retriesLeft: 0 };
}

/**
 * Decides whether a device deployment is kept, restarted or removed when the device's history is
 * deleted.
 */
export function historyDeletion(
  current: StatusAndRetries,
  deployment: { readonly finishedMs?: number | undefined },
): 'keep' | 'restart' | 'remove' {
  if (!isFinal(current)) return 'keep';
  return deployment.finishedMs === undefined ? 'restart' : 'remove';
}
