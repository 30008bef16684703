/**
 * Runs random sequences of steps with fast-check, seeded by the case, and shrinks the first one
 * that violates a requirement to the shortest one that still does. Sequences and time are limited.
 */
import fc from 'fast-check';
import { sequenceWord } from '../context/model-options.ts';
import { StartStateNotReached } from '../context/start-states.ts';
import type { SuiteDevice } from '../context/suite-device.ts';
import type { TestContext } from '../context/test-context.ts';
import { ExpectationFailure } from '../target/expectations.ts';
import { arrangeStart } from './authentication-steps.ts';
import { DEVICES, ExpectedState, nameOf, type StartState } from './expected-state.ts';
import type { ModelStep, TargetSide } from './step.ts';

const STEPS_MAX = 48;
const SHRINK_RUNS_MAX = 80;
const EXPLORE_MAX_MS = 30_000;
/** How many times more sequences a thorough run tries, and for how long. */
const THOROUGH_FACTOR = 62;
const THOROUGH_MAX_MS = 480_000;
const SHRINK_MAX_MS = 12_000;
const EFFECT_WAIT_MAX_MS = 5000;
/** The minimum time limit for an effect while shrinking; see `SequenceRunner.#eventually`. */
const SHRINK_EFFECT_WAIT_MIN_MS = 300;
const SHRINK_EFFECT_WAIT_FACTOR = 3;

/** The random sequences of steps to try on a target. */
export interface SequenceOptions {
  readonly starts: fc.Arbitrary<StartState>;
  readonly steps: readonly fc.Arbitrary<ModelStep>[];
  /** Number of sequences unless the run sets it. */
  readonly sequences: number;
  /** A fixed seed, for observations that are compared across runs; by default the run's seed. */
  readonly seed?: number;
}

/** The target's behaviour where the contract is silent: observed values by subject. */
export type Observations = ReadonlyMap<string, ReadonlySet<string>>;

type Command = fc.AsyncCommand<ExpectedState, TargetSide>;

/** Tries the sequences. Throws an ExpectationFailure that shows the shortest failing one. */
export async function runRandomSequences(
  context: TestContext,
  options: SequenceOptions,
): Promise<Observations> {
  const runner = new SequenceRunner(context);
  const { sequence: fixedSequence, thorough } = context.model;
  const defaultSequences = options.sequences * (thorough ? THOROUGH_FACTOR : 1);
  const { sequences = defaultSequences } = context.model;
  const steps = options.steps.map((each) => each.map((step) => runner.command(step)));
  const sequence = fc.tuple(
    fc.array(options.starts, { minLength: DEVICES, maxLength: DEVICES }),
    fc.commands<ExpectedState, TargetSide, false>(steps, {
      maxCommands: STEPS_MAX,
      size: 'max',
      ...(fixedSequence ? { replayPath: fixedSequence.steps } : {}),
    }),
  );
  const property = fc.asyncProperty(sequence, ([starts, commands]) => runner.run(starts, commands));
  const ownSeed = context.random.stream('sequences').integer(-0x80000000, 0x7fffffff);
  const seed = fixedSequence?.seed ?? context.model.seed ?? options.seed ?? ownSeed;
  const details = await fc.check(property, {
    seed,
    numRuns: fixedSequence ? 1 : sequences,
    ...(fixedSequence ? { path: fixedSequence.path } : {}),
  });
  const [shortest] = details.counterexample ?? [];
  const stepPath = /replayPath="([^"]*)"/.exec(String(shortest?.[1]))?.[1] ?? '';
  const path = details.counterexamplePath ?? '';
  runner.conclude(`--model-sequence ${sequenceWord({ seed, path, steps: stepPath })} repeats it`);
  return runner.observations;
}

/** The steps of a failing sequence, and what its last step violated. */
interface FailingSequence {
  readonly stepTexts: readonly string[];
  readonly failure: ExpectationFailure;
}

class SequenceRunner {
  readonly observations = new Map<string, Set<string>>();
  readonly #context: TestContext;
  readonly #startedMs: number;
  #stepTexts: string[] = [];
  #shortest: FailingSequence | undefined;
  #interruption: unknown;
  #shrinkRuns = 0;
  #shrinkStartedMs = 0;
  #longestWaitMs = 0;

  constructor(context: TestContext) {
    this.#context = context;
    this.#startedMs = context.clock.monotonicMs();
  }

  /** Returns the step as a fast-check command. */
  command({ title, isPossible, run }: ModelStep): Command {
    return {
      check: (expectedState) => isPossible(expectedState),
      run: async (expectedState, targetSide) => {
        this.#stepTexts.push(title);
        await run(expectedState, targetSide);
      },
      toString: () => title,
    };
  }

  /** Runs one sequence. Only a violated requirement makes it a counterexample. */
  async run(starts: readonly StartState[], commands: Iterable<Command>): Promise<void> {
    if (this.#isOver()) return;
    if (this.#shortest) this.#shrinkRuns += 1;
    this.#stepTexts = starts.map((start, index) => `device ${nameOf(index)} is ${start}`);
    try {
      await fc.asyncModelRun(() => this.#begin(starts), commands);
    } catch (error) {
      if (!(error instanceof ExpectationFailure)) {
        this.#interruption ??= error;
        return;
      }
      if (!this.#shortest) this.#shrinkStartedMs = this.#context.clock.monotonicMs();
      this.#shortest = { stepTexts: this.#stepTexts, failure: error };
      throw error;
    }
  }

  /** Throws the counterexample, or the error that kept the suite from finding one. */
  conclude(replay: string): void {
    if (!this.#shortest) {
      if (this.#interruption !== undefined) throw this.#interruption;
      return;
    }
    const { stepTexts, failure } = this.#shortest;
    const steps = stepTexts.map((each, index) => `${index + 1}. ${each}`).join('; ');
    const expected = `${failure.expected} after: ${steps} (${replay})`;
    throw new ExpectationFailure(expected, failure.actual, failure.violated);
  }

  async #begin(starts: readonly StartState[]): Promise<{ model: ExpectedState; real: TargetSide }> {
    const model = new ExpectedState(starts);
    const devices: SuiteDevice[] = [];
    for (const _ of starts) devices.push(await this.#context.newDevice());
    const real: TargetSide = {
      context: this.#context,
      devices,
      deployments: [],
      recordObservation: (matter, observation) => {
        this.observations.set(
          matter,
          (this.observations.get(matter) ?? new Set()).add(observation),
        );
      },
      eventually: (read, holds) => this.#eventually(read, holds),
    };
    try {
      await arrangeStart(model, real);
    } catch (error) {
      // Arranging the start is not checked.
      if (!(error instanceof ExpectationFailure)) throw error;
      throw new StartStateNotReached('devices to begin with', error.message);
    }
    return { model, real };
  }

  async #eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
    const { clock } = this.#context;
    const startedMs = clock.monotonicMs();
    const shrinkLimitMs = Math.max(
      SHRINK_EFFECT_WAIT_MIN_MS,
      SHRINK_EFFECT_WAIT_FACTOR * this.#longestWaitMs,
    );
    const limitMs = this.#shortest
      ? Math.min(EFFECT_WAIT_MAX_MS, shrinkLimitMs)
      : EFFECT_WAIT_MAX_MS;
    const value = await this.#context.eventually(read, holds, limitMs);
    const waitedMs = clock.monotonicMs() - startedMs;
    if (holds(value)) this.#longestWaitMs = Math.max(this.#longestWaitMs, waitedMs);
    return value;
  }

  #isOver(): boolean {
    if (this.#interruption !== undefined) return true;
    const nowMs = this.#context.clock.monotonicMs();
    // A requested number of sequences is always run; the time limit of the case then applies.
    const { sequences, thorough } = this.#context.model;
    const limitMs = thorough ? THOROUGH_MAX_MS : EXPLORE_MAX_MS;
    if (!this.#shortest) return sequences === undefined && nowMs - this.#startedMs > limitMs;
    return this.#shrinkRuns >= SHRINK_RUNS_MAX || nowMs - this.#shrinkStartedMs > SHRINK_MAX_MS;
  }
}
