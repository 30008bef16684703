/** Maps states to tones: good, busy, info or bad. */
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

/** Returns the tone of the state of a device, an authentication set, a deployment or an alert. */
export const toneOf = (state: string): Tone => tones[state] ?? 'plain';

/** Returns the tone of an HTTP status. Status 0 means that no response was sent. */
export function toneOfStatus(status: number): Tone {
  if (status === 0 || status >= 500) return 'bad';
  if (status >= 400) return 'busy';
  return status >= 300 ? 'info' : 'good';
}
