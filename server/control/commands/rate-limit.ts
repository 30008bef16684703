/** Limits the request rate of the callers of a tenant. */
import type { RateLimit } from '../../../fixtures/base/option-row.ts';
import { rateLimitProblem } from '../../settings.ts';
import type { RateLimits } from '../../tenants/rate-limits.ts';

/**
 * Sets the limit and restarts counting, or removes the limit. Returns the problem if the numbers
 * are invalid.
 */
export function setRateLimit(rates: RateLimits, limit: RateLimit | undefined): string | undefined {
  const problem = limit && rateLimitProblem(limit);
  if (problem === undefined) rates.set(limit);
  return problem;
}
