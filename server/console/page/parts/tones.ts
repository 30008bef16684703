/** Which states are good, busy or bad. */
import type { Tone } from '../../../../fixtures/page/badge.tsx';

const tones: Readonly<Record<string, Tone>> = {
  accepted: 'good',
  success: 'good',
  'already-installed': 'good',
  finished: 'good',
  connected: 'good',
  OK: 'good',
  pending: 'busy',
  preauthorized: 'info',
  inprogress: 'busy',
  downloading: 'busy',
  installing: 'busy',
  rebooting: 'busy',
  pause_before_installing: 'info',
  pause_before_rebooting: 'info',
  pause_before_committing: 'info',
  rejected: 'bad',
  failure: 'bad',
  aborted: 'bad',
  noartifact: 'bad',
  decommissioned: 'bad',
  CRITICAL: 'bad',
};

/** The tone of a state of a device, a set, a deployment or an alert. */
export const toneOf = (state: string): Tone => tones[state] ?? 'plain';

/** The tone of a status of HTTP; 0 where none was answered. */
export function toneOfStatus(status: number): Tone {
  if (status === 0 || status >= 500) return 'bad';
  if (status >= 400) return 'busy';
  return status >= 300 ? 'info' : 'good';
}
