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

/** A row that passes. */
export function passed(name: string, found: string): Check {
  return { name, verdict: 'pass', found };
}

/** A row that warns, with the way out. */
export function warned(name: string, found: string, wayOut: string): Check {
  return { name, verdict: 'warn', found, wayOut };
}

/** A row that fails, with the way out. */
export function failed(name: string, found: string, wayOut: string): Check {
  return { name, verdict: 'fail', found, wayOut };
}
