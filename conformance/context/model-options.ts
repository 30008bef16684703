/** Options of the random cases: how many sequences to try, or the one sequence to repeat. */
import { type OptionRows, switchOption, type ValuesOf } from '../../fixtures/base/option-row.ts';

const SEQUENCES_MAX = 10_000;
const SEED_MAX = 0x7fffffff;
const group = 'Random choices';

/** One sequence of random steps, in fast-check's terms. */
export interface SequenceName {
  readonly seed: number;
  /** The shrink path from the seed's first sequence to this one. */
  readonly path: string;
  /** The executed steps of the sequence, in fast-check's encoding. */
  readonly steps: string;
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

/** The options of the random cases, by their names in a run. */
export const modelOptions = {
  /** Tries as much as ten minutes allow. */
  thorough: {
    flag: '--thorough',
    group,
    help: 'run many more random sequences (20,000 steps), and combine parameters by three',
    ...switchOption,
  },
  /** Overrides the number of sequences that each random case defines. */
  sequences: {
    flag: '--model-sequences <count>',
    group,
    help: 'random sequences per model/ case',
    cli: { kind: 'count', min: 1, max: SEQUENCES_MAX },
  },
  /** Overrides the seed that is derived from the seed of the run. */
  seed: {
    flag: '--model-seed <number>',
    group,
    help: 'seed of the random sequences',
    cli: { kind: 'count', min: 0, max: SEED_MAX },
  },
  /** The one sequence to run instead of random ones. */
  sequence: {
    flag: '--model-sequence <sequence>',
    group,
    help: 'repeat the sequence that a failure shows',
    cli: {
      kind: 'read',
      read: readSequence,
      accepted: 'SEED,PATH,STEPS, as shown with the failure of a model/ case',
    },
    conflicts: ['modelSequences', 'modelSeed'],
  },
} as const satisfies OptionRows;

/** The options of a run for its random cases. */
export type ModelOptions = Partial<ValuesOf<typeof modelOptions>>;
