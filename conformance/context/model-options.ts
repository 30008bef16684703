/** Options of the random cases: how much they try, and the one sequence that they repeat. */

/** One sequence of random steps, in fast-check's terms. */
export interface SequenceName {
  readonly seed: number;
  /** The shrink path from the seed's first sequence to this one. */
  readonly path: string;
  /** Which of its steps were executed. */
  readonly steps: string;
}

/** Options of a run for its random cases. */
export interface ModelOptions {
  /** Number of sequences that each case tries, in place of its default. */
  readonly sequences?: number;
  /** Seed of the sequences, in place of the run's seed. */
  readonly seed?: number;
  /** The only sequence to run. */
  readonly replay?: SequenceName;
}

const form = /^(-?\d{1,10}),([\d:]+),([\w+/:=]*)$/;

/** Returns the name as one word, as a failure shows it and `readSequence` accepts it. */
export function sequenceWord({ seed, path, steps }: SequenceName): string {
  return `${seed},${path},${steps}`;
}

/** Parses the name of a sequence; returns undefined when it is malformed. */
export function readSequence(word: string): SequenceName | undefined {
  const [, seed, path = '', steps = ''] = form.exec(word) ?? [];
  return seed === undefined ? undefined : { seed: Number(seed), path, steps };
}
