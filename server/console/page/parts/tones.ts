/** Maps statuses to labels and tones: positive, pending, info, negative or plain. */
import type {
  DeploymentStatusOverall,
  DeviceDeploymentStatus,
  DeviceStatus,
} from '../../../../fixtures/contract/vocabulary.ts';
import type { Tone } from '../../../../fixtures/page/badge.tsx';

type Status = DeviceStatus | DeploymentStatusOverall | DeviceDeploymentStatus | 'OK' | 'CRITICAL';

const statuses: Readonly<Record<Status, readonly [label: string, tone: Tone]>> = {
  accepted: ['Accepted', 'positive'],
  preauthorized: ['Preauthorized', 'info'],
  pending: ['Pending', 'pending'],
  rejected: ['Rejected', 'negative'],
  noauth: ['No authentication set', 'plain'],
  inprogress: ['In progress', 'pending'],
  finished: ['Finished', 'positive'],
  downloading: ['Downloading', 'pending'],
  installing: ['Installing', 'pending'],
  rebooting: ['Rebooting', 'pending'],
  pause_before_installing: ['Paused before installing', 'info'],
  pause_before_rebooting: ['Paused before rebooting', 'info'],
  pause_before_committing: ['Paused before committing', 'info'],
  success: ['Success', 'positive'],
  'already-installed': ['Already installed', 'positive'],
  noartifact: ['No artifact', 'negative'],
  failure: ['Failure', 'negative'],
  // Users abort and decommission; nothing went wrong on the device.
  aborted: ['Aborted', 'plain'],
  decommissioned: ['Decommissioned', 'plain'],
  OK: ['OK', 'positive'],
  CRITICAL: ['Critical', 'negative'],
};

const isStatus = (text: string): text is Status => Object.hasOwn(statuses, text);

/** Returns the tone of the status of a device, an authentication set, a deployment or an alert. */
export const toneOf = (status: string): Tone => (isStatus(status) ? statuses[status][1] : 'plain');

/** Returns the label of a status. A status that the page does not know is returned unchanged. */
export const statusLabel = (status: string): string =>
  isStatus(status) ? statuses[status][0] : status;

/** Returns the choices of a filter by status: all of them, or one. */
export const statusChoices = (all: readonly Status[]) => [
  ['', 'all statuses'] as const,
  ...all.map((status) => [status, statusLabel(status)] as const),
];

/** Returns the tone of an HTTP status. Status 0 means that no response was sent. */
export function toneOfHttpStatus(status: number): Tone {
  if (status === 0 || status >= 500) return 'negative';
  if (status >= 400) return 'pending';
  return status >= 300 ? 'info' : 'positive';
}
