/** How hard the random cases try, and which one sequence they repeat. */
import type { OptionRows, ValuesOf } from '../../fixtures/option-row.ts';

const SEQUENCES_MAX = 10_000;
const SEED_MAX = 0x7fffffff;
const group = 'Random choices';

/** One sequence of random steps, as fast-check names it. */
export interface SequenceName {
  readonly seed: number;
  /** The way from the first sequence of the seed to this one. */
  readonly path: string;
  /** Which of its steps were taken. */
  readonly steps: string;
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

/** The options of the random cases, by their names in a run. */
export const modelOptions = {
  /** In place of the number of each of them. */
  sequences: {
    flag: '--model-sequences <count>',
    group,
    help: 'random sequences per model/ case',
    cli: { kind: 'count', least: 1, most: SEQUENCES_MAX },
  },
  /** In place of the run's. */
  seed: {
    flag: '--model-seed <number>',
    group,
    help: 'seed of the random sequences',
    cli: { kind: 'count', least: 0, most: SEED_MAX },
  },
  /** The only sequence that is tried. */
  replay: {
    flag: '--model-replay <sequence>',
    group,
    help: 'repeat the sequence shown with a failure',
    cli: {
      kind: 'read',
      read: readSequence,
      accepted: 'SEED,PATH,STEPS, as shown with the failure of a model/ case',
    },
    conflicts: ['modelSequences', 'modelSeed'],
  },
} as const satisfies OptionRows;

/** What a run says of its random cases. */
export type ModelOptions = ValuesOf<typeof modelOptions>;
