/** The result of a check of the environment. */

/** Verdict of a check; `warn` does not prevent a run. */
type Verdict = 'pass' | 'warn' | 'fail';

/** One row of `fleetbed doctor environment`. */
export interface Check {
  readonly name: string;
  readonly verdict: Verdict;
  /** The observation, as one sentence. */
  readonly found: string;
  /** The remedy; absent when the check passes. */
  readonly wayOut?: string;
  /** Maximum number of devices with a websocket; absent when the check does not limit it. */
  readonly connectedDevicesMax?: number;
}

/** Returns a check that has passed. */
export function passed(name: string, found: string): Check {
  return { name, verdict: 'pass', found };
}

/** Returns a check with a warning and its remedy. */
export function warned(name: string, found: string, wayOut: string): Check {
  return { name, verdict: 'warn', found, wayOut };
}

/** Returns a check that has failed, with the remedy. */
export function failed(name: string, found: string, wayOut: string): Check {
  return { name, verdict: 'fail', found, wayOut };
}
