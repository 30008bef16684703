/** How hard the random cases try, and which one sequence they repeat. */

/** One sequence of random steps, as fast-check names it. */
export interface SequenceName {
  readonly seed: number;
  /** The way from the first sequence of the seed to this one. */
  readonly path: string;
  /** Which of its steps were taken. */
  readonly steps: string;
}

/** What a run says of its random cases. */
export interface ModelOptions {
  /** Sequences that each of them tries, in place of its own number. */
  readonly sequences?: number;
  /** Decides the sequences, in place of the run's seed. */
  readonly seed?: number;
  /** The only sequence that is tried. */
  readonly replay?: SequenceName;
}

const form = /^(-?\d{1,10}),([\d:]+),([\w+/:=]*)$/;

/** The name in one word, as a failure shows it and `readSequence` takes it. */
export function sequenceWord({ seed, path, steps }: SequenceName): string {
  return `${seed},${path},${steps}`;
}

/** The sequence of such a word; undefined when it is none. */
export function readSequence(word: string): SequenceName | undefined {
  const [, seed, path = '', steps = ''] = form.exec(word) ?? [];
  return seed === undefined ? undefined : { seed: Number(seed), path, steps };
}
