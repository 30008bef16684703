/** Creates and executes a run in virtual time for tests that takes about a second. */
import type { FleetEvent, FleetPlan } from '../../../simulator/engine/simulate-fleet.ts';
import { planDefaults } from '../../../simulator/plan/plan.ts';
import { EventLog, type EventLogSummary } from '../event-log.ts';
import { runVirtually, type VirtualOutcome, type VirtualRun } from '../run.ts';

export const MINUTE_MS = 60_000;

/**
 * Returns a run with four devices that poll every ten minutes for two hours, and a deployment.
 * @param change overrides of the plan
 * @param differs overrides of the run
 */
export function smallRun(
  change: Partial<FleetPlan> = {},
  differs: Partial<Omit<VirtualRun, 'plan'>> = {},
): VirtualRun {
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

/** An ended run with all its events and violations. */
export interface EndedRun extends VirtualOutcome {
  readonly events: readonly FleetEvent[];
  readonly log: EventLogSummary;
}

/** Executes the run to its end. */
export async function runInVirtualTime(virtualRun: VirtualRun): Promise<EndedRun> {
  const events: FleetEvent[] = [];
  const log = new EventLog();
  const outcome = await runVirtually(virtualRun, {
    signal: new AbortController().signal,
    onEvent: (event) => {
      events.push(event);
      log.record(event);
    },
  });
  return { ...outcome, events, log: await log.close() };
}
