/**
 * Where a device of a run stands, a row for each state: its outcome in a result, and how reports show
 * it. The counts of all states add up to the fleet.
 */

/** In the order of reports; `tone`: whether a device is there because the server failed it. */
export const deviceStates = [
  { outcome: 'success', field: 'success', tone: 'good' },
  { outcome: 'failure', field: 'failure', tone: 'bad' },
  { outcome: 'aborted', field: 'aborted', tone: 'busy' },
  { outcome: 'already-installed', field: 'alreadyInstalled', tone: 'good' },
  { outcome: 'updating', field: 'updating', tone: 'busy' },
  { outcome: 'idle', field: 'idle', tone: 'plain' },
  { outcome: 'pending', field: 'pending', tone: 'plain' },
  { outcome: 'off', field: 'off', tone: 'plain' },
  { outcome: 'no-contact', field: 'noContact', tone: 'bad' },
] as const;

/** The final outcome of a device. */
export type Outcome = (typeof deviceStates)[number]['outcome'];

/** Returns the name of an outcome, or of a count in a result, as words: `no contact`. */
export function stateWords(name: string): string {
  return name.replaceAll('-', ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
