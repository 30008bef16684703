/** The life of a deployment on one device: the state that each event results in. Spec: States and transitions */
import {
  type DeviceDeploymentStatus,
  deviceDeploymentStatuses,
  finalStatuses,
  type ReportableStatus,
} from '../../fixtures/contract/vocabulary.ts';
import { initialStatus } from './deployment-status.ts';

/** Where one device is in a deployment. */
export interface DeviceDeployment {
  readonly status: DeviceDeploymentStatus;
  readonly substate?: string | undefined;
  /** What the device said of itself when it was offered the deployment, as canonical text. */
  readonly request?: string | undefined;
  readonly artifactId?: string | undefined;
  /** How often the device was offered the deployment: once, and once for each retry. */
  readonly attempts: number;
  readonly retriesLeft: number;
  /** Time of the first offer, in milliseconds since the Unix epoch. */
  readonly offeredMs?: number | undefined;
  /** Time of the attempt's first report, in milliseconds since the Unix epoch. */
  readonly startedMs?: number | undefined;
  readonly finishedMs?: number | undefined;
}

/** What is settled when an attempt begins. */
export interface Offer {
  readonly request: string;
  readonly artifactId?: string | undefined;
  readonly nowMs: number;
}

/** What a device reports of its update. */
export interface StatusReport {
  readonly status: ReportableStatus;
  readonly substate?: string | undefined;
}

/** Decides whether a deployment is over for a device. */
type Standing = Pick<DeviceDeployment, 'status' | 'retriesLeft'>;

/** The only status in which a device may try again. */
export const retriedStatus = 'failure' satisfies DeviceDeploymentStatus;

/** The statuses that refuse every report with 409, each with the reason. */
const refusedReports: Partial<Record<DeviceDeploymentStatus, string>> = {
  aborted: 'the deployment was aborted; stop the update',
  decommissioned: 'the device was decommissioned',
};

/** The words by which users filter device deployments, each with its statuses. */
export const statusGroups = {
  active: deviceDeploymentStatuses.filter((status) => !isOver({ status })),
  finished: finalStatuses,
  pause: deviceDeploymentStatuses.filter((status) => status.startsWith('pause_')),
};

export function isStatusGroup(word: string): word is keyof typeof statusGroups {
  return Object.hasOwn(statusGroups, word);
}

/** True once the deployment has ended for the device, retries aside. */
export function isOver({ status }: Pick<DeviceDeployment, 'status'>): boolean {
  return finalStatuses.includes(status);
}

/** True when the device failed and has retries left. */
export function mayTryAgain({ status, retriesLeft }: Standing): boolean {
  return status === retriedStatus && retriesLeft > 0;
}

/** The state of a device deployment before its first offer. */
export function notBegun(retries: number): DeviceDeployment {
  return { status: initialStatus, attempts: 0, retriesLeft: retries };
}

/** The device is served: the first time is an attempt, and its time stays. */
export function offered<Of extends DeviceDeployment>(of: Of, offer: Offer): Of {
  return {
    ...of,
    request: offer.request,
    artifactId: offer.artifactId,
    attempts: of.attempts + (of.offeredMs === undefined ? 1 : 0),
    offeredMs: of.offeredMs ?? offer.nowMs,
  };
}

/** A retry begins, as if the device had never been served. */
export function retried<Of extends DeviceDeployment>(of: Of): Of {
  return {
    ...of,
    status: initialStatus,
    attempts: of.attempts + 1,
    retriesLeft: of.retriesLeft - 1,
    request: undefined,
    artifactId: undefined,
    substate: undefined,
    startedMs: undefined,
    finishedMs: undefined,
  };
}

/** Sets a status; one that is not final opens the deployment again. */
export function withStatus<Of extends DeviceDeployment>(
  of: Of,
  status: DeviceDeploymentStatus,
  nowMs: number,
): Of {
  return {
    ...of,
    status,
    startedMs: of.startedMs ?? nowMs,
    finishedMs: isOver({ status }) ? nowMs : undefined,
  };
}

/** A report becomes the status, from whichever status; an absent or empty substate leaves the former one. */
export function reported<Of extends DeviceDeployment>(
  of: Of,
  report: StatusReport,
  nowMs: number,
): Of | { readonly because: string } {
  const because = refusedReports[of.status];
  if (because !== undefined) return { because };
  return { ...withStatus(of, report.status, nowMs), substate: report.substate || of.substate };
}

/** Others end it: what is not over ends now, and nothing is tried again. */
export function ended<Of extends Standing & Pick<DeviceDeployment, 'finishedMs'>>(
  of: Of,
  status: 'aborted' | 'decommissioned',
  nowMs: number,
): Of {
  if (isOver(of)) return { ...of, retriesLeft: 0 };
  return { ...of, status, finishedMs: nowMs, retriesLeft: 0 };
}

/** Whether a device deployment is kept, restarted or removed when the history of the device is deleted. */
export function whenForgotten(
  of: Standing,
  deployment: { readonly finishedMs?: number | undefined },
): 'keep' | 'start-over' | 'forget' {
  if (!isOver(of)) return 'keep';
  return deployment.finishedMs === undefined ? 'start-over' : 'forget';
}
