/** The fleet simulator's front: a plan in, one result out. Not the command line. */
import type { Clock } from '../fixtures/clock.ts';
import { Fleet } from './fleet/fleet.ts';
import { accountsOf, funnelOf } from './fleet/funnel.ts';
import { checkPlan, type FleetPlan } from './fleet/plan.ts';
import { EventSource, type FleetEvent, nobodyListens } from './report/events.ts';
import type { FleetProgress, FleetResult } from './report/result.ts';
import { resultOf } from './report/result-of-fleet.ts';

import type { Coordinator } from './shards/coordinator.ts';
import { FleetStopped } from './stopped.ts';

export { ClientError } from './client/errors.ts';
export { type FleetPlan, PlanError } from './fleet/plan.ts';
export type { FleetEvent } from './report/events.ts';
export type { FleetProgress, FleetResult } from './report/result.ts';

/** What a run is given beside its plan. */
export interface FleetHooks {
  /** Ends the run in order; the result is then that of an interrupted run. */
  readonly signal: AbortSignal;
  /** Called about once a second, and once at the end. */
  readonly onProgress?: (progress: FleetProgress) => void;
  /** Called at once for everything that happens; must return quickly. */
  readonly onEvent?: (event: FleetEvent) => void;
  readonly clock: Clock;
  /** The line to the head of the run, when the plan is a shard of one. */
  readonly coordinator?: Coordinator;
}

const PROGRESS_PERIOD_MS = 1000;

/**
 * Runs a fleet against a server and tells what became of every device.
 * @throws PlanError before anything starts when the plan is wrong; ClientError when the server
 * cannot be reached, refuses the operator's login or his deployment
 */
export async function simulateFleet(plan: FleetPlan, hooks: FleetHooks): Promise<FleetResult> {
  const checked = checkPlan(plan);
  const { clock, signal, onProgress, onEvent, coordinator } = hooks;
  const startedAt = new Date(clock.now()).toISOString();
  const events = onEvent ? new EventSource(clock, onEvent) : nobodyListens;
  const fleet = new Fleet(checked, clock, { events, coordinator });
  const report = (): void => {
    const progress = progressOf(fleet);
    fleet.ledger.series.stood(clock.now(), accountsOf(progress.funnel));
    onProgress?.(progress);
  };
  const reports = clock.every(PROGRESS_PERIOD_MS, report);
  try {
    await reachUnlessStopped(fleet, signal);
    const ended = await fleet.run(signal);
    events.emit({ kind: 'ended', because: ended });
    report();
    return await resultOf(fleet, { plan: checked, ended, startedAt });
  } finally {
    reports.cancel();
    await fleet.close();
  }
}

/** A run that is interrupted before it begins has a result like any other. */
async function reachUnlessStopped(fleet: Fleet, signal: AbortSignal): Promise<void> {
  try {
    await fleet.reach(signal);
  } catch (error) {
    if (!(error instanceof FleetStopped)) throw error;
  }
}

function progressOf(fleet: Fleet): FleetProgress {
  return {
    elapsedMs: fleet.elapsedMs(),
    funnel: funnelOf(fleet.devices, fleet.target),
    exchanges: fleet.ledger.exchangeCount,
    errors: fleet.ledger.errorCount,
    socketsOpen: fleet.socketsOpen,
  };
}
