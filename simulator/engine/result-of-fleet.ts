/** Builds the result of a run that has ended. */
import type { SimulatedDevice } from '../device/device.ts';
import type { GeneratorWatch } from '../metrics/generator-watch.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { judgedGenerator, scheduleOf, validityOf } from '../result/generator.ts';
import { ratedChecks } from '../result/merge-checks.ts';
import {
  type DeviceRow,
  type EndReason,
  type FleetResult,
  fleetSchema,
  type PlanSummary,
} from '../result/result.ts';
import type { Checks } from '../result/result-checks.ts';
import type { GeneratorFacts } from '../result/result-generator.ts';
import type { MachineFacts } from '../result/result-machines.ts';
import type { SharedKeys } from '../result/shared-keys.ts';
import { thresholdVerdicts } from '../result/thresholds.ts';
import { measuresOf } from '../result/thresholds-measures.ts';
import { trafficOf } from '../result/traffic.ts';
import type { Fleet } from './fleet.ts';
import { deviceCountsOf, findCountedDeployment, funnelOf, outcomeOf } from './funnel.ts';
import { sampleDevices } from './sample.ts';

/** Facts about the run that the fleet does not know. */
export interface RunFacts {
  readonly plan: FleetPlan;
  /** The plan in the format of the result. */
  readonly summary: PlanSummary;
  readonly ended: EndReason;
  /** Start of the run, in ISO 8601 and UTC. */
  readonly startedAt: string;
  readonly watch: GeneratorWatch;
  readonly machine: MachineFacts;
  readonly sharedKeys: SharedKeys | undefined;
}

/** Builds the result, including the reconciliation with the server. */
export async function resultOf(fleet: Fleet, facts: RunFacts): Promise<FleetResult> {
  const { devices, metrics, runDeployment } = fleet;
  const durationMs = fleet.elapsedMs();
  const generator = generatorFacts(fleet, facts);
  const reconciliation = await fleet.reconcile(facts.ended);
  const funnel = funnelOf(devices, runDeployment);
  const figures = {
    updates: metrics.updates.figures(),
    latencies: metrics.latencies(),
    operations: metrics.operations(),
    stages: metrics.stages(),
    series: metrics.series.figures(),
  };
  const scopes = metrics.scopes();
  const traffic = trafficOf(figures.operations, durationMs);
  const checks = checksOf(fleet, facts.plan, figures);
  const result: Omit<FleetResult, 'thresholds'> = {
    schema: fleetSchema,
    ended: facts.ended,
    seed: facts.plan.seed,
    plan: facts.summary,
    shards: [facts.plan.shard ?? { index: 0, of: 1 }],
    startedAt: facts.startedAt,
    durationMs,
    validity: validityOf(generator),
    generator,
    machines: [facts.machine],
    ...(runDeployment === undefined ? {} : { deploymentId: runDeployment.deploymentId }),
    ...(runDeployment?.createdMs === undefined ? {} : { deployedMs: runDeployment.createdMs }),
    funnel,
    deviceCounts: deviceCountsOf(funnel),
    reconciliation,
    ...figures,
    ...(traffic && { traffic }),
    ...(scopes.length > 0 && { scopes }),
    ...(fleet.fixedRatePolls && { fixedRatePolls: fleet.fixedRatePolls }),
    errors: metrics.errors(),
    ...(facts.sharedKeys === undefined ? {} : { sharedKeys: facts.sharedKeys }),
    ...(fleet.backoffComparison === undefined
      ? {}
      : { backoffComparison: fleet.backoffComparison }),
    ...(checks === undefined ? {} : { checks }),
    devices: devices.map((device) => deviceRow(device, fleet)),
  };
  const thresholds = thresholdVerdicts(facts.plan.thresholds ?? [], measuresOf(result));
  return { ...result, thresholds };
}

function checksOf(
  { checks, devices }: Fleet,
  plan: FleetPlan,
  run: Pick<FleetResult, 'stages' | 'series'>,
): Checks | undefined {
  if (checks === undefined) return undefined;
  const sample = sampleDevices(plan);
  const watchedCount = devices.filter(({ index }) => sample.has(index)).length;
  return ratedChecks(checks.figures(watchedCount), run);
}

function generatorFacts(fleet: Fleet, { plan, watch }: RunFacts): GeneratorFacts {
  const { lateness } = fleet.metrics;
  const durationMs = fleet.elapsedMs();
  const sentCount = lateness.count;
  const schedule = {
    due: sentCount + fleet.overdueCount(),
    sent: sentCount,
    lateness: lateness.figures(),
  };
  return judgedGenerator({
    processes: [watch.facts(plan.shard?.index ?? 0, durationMs)],
    schedule: scheduleOf([schedule], durationMs),
  });
}

function deviceRow(device: SimulatedDevice, { runDeployment }: Fleet): DeviceRow {
  const deployment = findCountedDeployment(device, runDeployment);
  return {
    index: device.index,
    ...(device.id === undefined ? {} : { deviceId: device.id }),
    serial: device.identity.serial,
    keyType: device.keyType,
    cohort: device.cohort.name,
    behaviour: device.behaviour.name,
    outcome: outcomeOf(device, runDeployment),
    ...(deployment === undefined ? {} : { deploymentId: deployment.deploymentId }),
    reported: deployment?.reported ?? [],
    artifactName: device.provides.artifact_name,
    ...(deployment?.offeredMs === undefined ? {} : { offeredMs: deployment.offeredMs }),
    ...(deployment?.finishedMs === undefined ? {} : { finishedMs: deployment.finishedMs }),
  };
}
