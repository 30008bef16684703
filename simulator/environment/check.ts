/** The result of a check of the environment. */

/** Verdict of a check; `warn` does not prevent a run. */
type CheckVerdict = 'pass' | 'warn' | 'fail';

/** One row of `fleetbed doctor environment`. */
export interface EnvironmentCheck {
  readonly name: string;
  readonly verdict: CheckVerdict;
  /** The observation, as one sentence. */
  readonly found: string;
  /** The remedy; absent when the check passes. */
  readonly remedy?: string;
  /** Maximum number of devices with a WebSocket; absent when the check does not limit it. */
  readonly connectedDevicesMax?: number;
}

/** Returns a check that has passed. */
export function passedCheck(name: string, found: string): EnvironmentCheck {
  return { name, verdict: 'pass', found };
}

/** Returns a check with a warning and its remedy. */
export function warningCheck(name: string, found: string, remedy: string): EnvironmentCheck {
  return { name, verdict: 'warn', found, remedy };
}

/** Returns a check that has failed, with the remedy. */
export function failedCheck(name: string, found: string, remedy: string): EnvironmentCheck {
  return { name, verdict: 'fail', found, remedy };
}
