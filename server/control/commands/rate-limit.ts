/** Limits the request rate of the callers of a tenant. */
import { type RateLimit, rateLimitFault } from '../../settings.ts';
import type { RateLimits } from '../../tenants/rate-limits.ts';

/** Begins to count anew under the limit, or stops; why not when the numbers are no limit. */
export function setRateLimit(rates: RateLimits, limit: RateLimit | undefined): string | undefined {
  const problem = limit && rateLimitFault(limit);
  if (problem === undefined) rates.set(limit);
  return problem;
}
