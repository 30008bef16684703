/** Runs the suite with the system clock and the system's random numbers. */
import {
  type ConformanceOptions,
  type ConformanceResult,
  runConformance,
  SetupError,
} from '../../../conformance/conformance.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { systemRandom } from '../../../fixtures/base/random.ts';
import { CommandError, setupError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';

/** Runs the suite with the system clock and the system's random numbers. @throws CommandError */
export async function runSuite(
  options: Omit<ConformanceOptions, 'clock' | 'random'>,
): Promise<ConformanceResult> {
  try {
    return await runConformance({ ...options, clock: systemClock, random: systemRandom });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    if (!options.signal?.aborted) throw setupError(error, options.baseUrl);
    const sentence = 'interrupted before the first case; nothing was created on the target.';
    throw new CommandError(sentence, exitCodes.interrupted, error);
  }
}
