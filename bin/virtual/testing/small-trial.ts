/** Creates and runs a trial for tests that takes about a second. */
import type { FleetEvent, FleetPlan } from '../../../simulator/engine/simulate-fleet.ts';
import { planDefaults } from '../../../simulator/plan/plan.ts';
import { EventLog, type EventLogSummary } from '../event-log.ts';
import { type VirtualOutcome, type VirtualTrial, virtualRun } from '../run.ts';

export const MINUTE_MS = 60_000;

/**
 * Returns a trial with four devices that poll every ten minutes for two hours, and a deployment.
 * @param change overrides of the plan
 * @param differs overrides of the trial
 */
export function smallTrial(
  change: Partial<FleetPlan> = {},
  differs: Partial<Omit<VirtualTrial, 'plan'>> = {},
): VirtualTrial {
  return {
    plan: {
      ...planDefaults,
      devices: 4,
      seed: 'small',
      keys: { rsa: 0, ecdsa: 0, ed25519: 1 },
      baseUrl: 'http://server.invalid',
      headerPrefix: 'X-SVC',
      deploy: 'release-1',
      rampMs: MINUTE_MS,
      durationMs: 120 * MINUTE_MS,
      drainMs: 0,
      requestTimeLimitMs: 30_000,
      pollIntervalMs: 10 * MINUTE_MS,
      inventoryIntervalMs: 60 * MINUTE_MS,
      ...change,
    },
    startMs: Date.parse('2026-11-21T12:00:00Z'),
    faults: [],
    restarts: [],
    isInterleaved: false,
    ...differs,
  };
}

/** A finished trial with all its events and violations. */
export interface TrialRun extends VirtualOutcome {
  readonly events: readonly FleetEvent[];
  readonly log: EventLogSummary;
}

/** Runs the trial to its end. */
export async function runTrial(trial: VirtualTrial): Promise<TrialRun> {
  const events: FleetEvent[] = [];
  const log = new EventLog();
  const outcome = await virtualRun(trial, {
    signal: new AbortController().signal,
    onEvent: (event) => {
      events.push(event);
      log.record(event);
    },
  });
  return { ...outcome, events, log: await log.close() };
}
