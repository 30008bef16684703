/**
 * The final states of a device in a run, with the field that counts each in a result and its tone
 * in reports. The counts of all states add up to the number of devices.
 */

/**
 * All states, in the order of reports. `tone` is `negative` for a state in which the server may be at
 * fault.
 */
export const deviceStates = [
  { outcome: 'success', field: 'success', tone: 'positive' },
  { outcome: 'failure', field: 'failure', tone: 'negative' },
  { outcome: 'aborted', field: 'aborted', tone: 'pending' },
  { outcome: 'already-installed', field: 'alreadyInstalled', tone: 'positive' },
  { outcome: 'updating', field: 'updating', tone: 'pending' },
  { outcome: 'idle', field: 'idle', tone: 'plain' },
  { outcome: 'pending', field: 'pending', tone: 'plain' },
  { outcome: 'off', field: 'off', tone: 'plain' },
  { outcome: 'no-contact', field: 'noContact', tone: 'negative' },
] as const;

/** The state of a device at the end of a run. */
export type DeviceOutcome = (typeof deviceStates)[number]['outcome'];

/** Returns the name of a state or of its count as text, such as `no contact`. */
export function stateText(name: string): string {
  return name.replaceAll('-', ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
