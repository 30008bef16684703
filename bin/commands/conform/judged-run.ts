/** A run of the suite with the clock and the chance of this machine, and the forms of its report. */
import {
  type ConformanceOptions,
  type ConformanceResult,
  listCases,
  runConformance,
  SetupError,
} from '../../../conformance/conformance.ts';
import { conformanceHtml } from '../../../conformance/report/html.ts';
import { conformanceJunit } from '../../../conformance/report/junit.ts';
import type { Comparison } from '../../../conformance/result/compare.ts';
import { coverageOf } from '../../../conformance/result/coverage.ts';
import { systemClock } from '../../../fixtures/clock.ts';
import { systemRandom } from '../../../fixtures/random.ts';
import type { Renderings } from '../../options/reports.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { CommandFault, setUpFault } from '../../output/fault.ts';

/** A run with the machine's clock and chance. @throws CommandFault */
export async function judge(
  options: Omit<ConformanceOptions, 'clock' | 'random'>,
): Promise<ConformanceResult> {
  try {
    return await runConformance({ ...options, clock: systemClock, random: systemRandom });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    if (!options.signal?.aborted) throw setUpFault(error, options.baseUrl);
    const sentence = 'interrupted before the first case; nothing was created on the target.';
    throw new CommandFault(sentence, exitCodes.interrupted, error);
  }
}

/** The forms of a report; the page shows the comparison with an earlier run, if there is one. */
export function renderingsOf(result: ConformanceResult, comparison?: Comparison): Renderings {
  return {
    json: result,
    junit: () => conformanceJunit(result),
    html: () => conformanceHtml(result, coverageOf(listCases()), comparison),
  };
}
