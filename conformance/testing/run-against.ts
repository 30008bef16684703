/** Runs of the suite as tests want them: seeded, and short of patience. */
import { systemClock } from '../../fixtures/clock.ts';
import { seededRandom } from '../../fixtures/random.ts';
import { type ConformanceOptions, runConformance } from '../conformance.ts';
import type { ConformanceResult } from '../result/result.ts';

/** Judges the server at the base URL without a user, unless the options say otherwise. */
export function runAgainst(
  baseUrl: string,
  options: Partial<ConformanceOptions> = {},
): Promise<ConformanceResult> {
  return runConformance({
    baseUrl,
    credentials: 'none',
    headerPrefix: 'X-SVC',
    clock: systemClock,
    random: seededRandom('a run'),
    caseTimeLimitMs: 10_000,
    requestTimeLimitMs: 5000,
    // Targets of tests are no servers of this API, and are judged all the same.
    preflight: false,
    ...options,
  });
}
