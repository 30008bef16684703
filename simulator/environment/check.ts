/** What a check of the environment comes to. */

/** `warn` stops no run by itself. */
type Verdict = 'pass' | 'warn' | 'fail';

/** One row of `fleetbed doctor environment`. */
export interface Check {
  readonly name: string;
  readonly verdict: Verdict;
  /** What was found, one sentence. */
  readonly found: string;
  /** What to do about it; absent when it passes. */
  readonly wayOut?: string;
  /** At how many devices with a websocket each it stops a run; absent where it does not matter. */
  readonly connectedDevicesMax?: number;
}

/** Returns a check that has passed. */
export function passed(name: string, found: string): Check {
  return { name, verdict: 'pass', found };
}

/** Returns a check that warns, with what to do about it. */
export function warned(name: string, found: string, wayOut: string): Check {
  return { name, verdict: 'warn', found, wayOut };
}

/** Returns a check that has failed, with what to do about it. */
export function failed(name: string, found: string, wayOut: string): Check {
  return { name, verdict: 'fail', found, wayOut };
}
