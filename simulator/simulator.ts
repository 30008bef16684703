/** The fleet simulator's front: a plan in, one result out. Not the command line. */
import type { Clock } from '../fixtures/clock.ts';
import type { Device } from './device/device.ts';
import { Fleet } from './fleet/fleet.ts';
import { countedPart, funnelOf, outcomeOf } from './fleet/funnel.ts';
import { defaultDeviceType } from './fleet/muster.ts';
import { checkPlan, type FleetPlan } from './fleet/plan.ts';
import { EventSource, type FleetEvent, nobodyListens } from './report/events.ts';
import type { DeviceRow, Ended, FleetProgress, FleetResult, PlanSummary } from './report/result.ts';

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
  const report = (): void => onProgress?.(progressOf(fleet));
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

interface RunFacts {
  readonly plan: FleetPlan;
  readonly ended: Ended;
  readonly startedAt: string;
}

async function resultOf(fleet: Fleet, facts: RunFacts): Promise<FleetResult> {
  const { devices, ledger, target } = fleet;
  const durationMs = fleet.elapsedMs();
  const balance = await fleet.balance(facts.ended);
  return {
    ended: facts.ended,
    seed: facts.plan.seed,
    plan: planSummary(facts.plan),
    startedAt: facts.startedAt,
    durationMs,
    ...(target === undefined ? {} : { deploymentId: target.deploymentId }),
    funnel: funnelOf(devices, target),
    balance,
    latencies: ledger.latencies(),
    operations: ledger.operations(),
    errors: ledger.errors(),
    devices: devices.map((device) => deviceRow(device, fleet)),
  };
}

function deviceRow(device: Device, { target }: Fleet): DeviceRow {
  const part = countedPart(device, target);
  return {
    index: device.index,
    ...(device.id === undefined ? {} : { deviceId: device.id }),
    serial: device.identity.serial,
    keyType: device.keyType,
    behaviour: device.behaviour.name,
    outcome: outcomeOf(device, target),
    ...(part === undefined ? {} : { deploymentId: part.deploymentId }),
    reported: part?.reported ?? [],
    artifactName: device.provides.artifact_name,
  };
}

/** Names every field that goes out, so that a new secret in the plan cannot slip through. */
function planSummary(plan: FleetPlan): PlanSummary {
  const { baseUrl, devices, keys, behaviours, connect, durationMs, until, deploy } = plan;
  const { pollIntervalMs, inventoryIntervalMs, rampMs } = plan;
  return {
    baseUrl,
    devices,
    keys,
    behaviours,
    pollIntervalMs,
    inventoryIntervalMs,
    rampMs,
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(until === undefined ? {} : { until }),
    connect,
    ...(deploy === undefined ? {} : { deploy }),
    deviceType: plan.deviceType ?? defaultDeviceType,
  };
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
