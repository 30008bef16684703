/** Runs of the suite for tests: seeded, and with short timeouts. */
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { type ConformanceOptions, runConformance } from '../conformance.ts';
import type { ConformanceResult } from '../result/result.ts';

/** Tests the server at the base URL, without a user by default. */
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
    // Targets in tests are not servers of this API.
    preflight: false,
    ...options,
  });
}
