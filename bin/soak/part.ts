/** What a part of the soak is given, and what it hands back. */
import type { Output } from '../output.ts';

/** How long, how random and where to print. */
interface SoakOptions {
  /** Computed figures go to `line`, what is under way to `progress`. */
  readonly output: Output;
  /** The same seed draws the same. */
  readonly seed: number;
  /** About a minute in place of as long as it takes. */
  readonly short: boolean;
  /** How many times the part does what it does; its own number unless given. */
  readonly times: number | undefined;
}

/** Runs one part to its end, its processes and folders included; each fault found is one sentence. */
export type SoakPart = (options: SoakOptions) => Promise<readonly string[]>;
