/** A plan for tests, with a few devices that poll every second and no drain at the end. */
import { type FleetPlan, planDefaults } from '../plan/plan.ts';

/** Returns the plan with these fields changed. */
export function planWith(changed: Partial<FleetPlan> = {}): FleetPlan {
  return {
    ...planDefaults,
    devices: 8,
    keys: { rsa: 0, ecdsa: 0, ed25519: 1 },
    seed: 'x',
    pollIntervalMs: 1000,
    rampMs: 0,
    drainMs: 0,
    headerPrefix: 'X-SVC',
    requestTimeLimitMs: 5000,
    ...changed,
  };
}
