/** Makes the plan that stands in a result out of the one that was carried out. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type Cohort, cohortsOf } from '../plan/cohort.ts';
import type { Incident, LoadStage } from '../plan/load-fields.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { defaultDeviceType } from '../plan/plan.ts';
import type { PlanSummary } from './result-plan.ts';

/**
 * The plan without secrets, paths and what belongs to one machine only. Its files are read for their
 * digests: to be called when they are known to be readable.
 */
export async function planSummary(plan: FleetPlan): Promise<PlanSummary> {
  const summary = { ...namedFields(plan), ...(await fileFields(plan)) };
  const digest = createHash('sha256').update(inOrder({ ...summary, seed: plan.seed }));
  return { ...summary, digest: digest.digest('hex') };
}

/** Names every field that goes out, so that a new secret in the plan cannot slip through. */
function namedFields(plan: FleetPlan): PlanSummary {
  const { baseUrl, devices, keys, behaviours, connect } = plan;
  const { pollIntervalMs, inventoryIntervalMs, rampMs } = plan;
  return {
    baseUrl,
    devices,
    keys,
    behaviours,
    pollIntervalMs,
    inventoryIntervalMs,
    rampMs,
    ...given('durationMs', plan.durationMs),
    ...given('until', plan.until),
    connect,
    ...given('deploy', plan.deploy),
    deviceType: plan.deviceType ?? defaultDeviceType,
    ...given('thresholds', plan.thresholds),
    cohorts: cohortsOf(plan).map(cohortSummary),
    ...given('stages', plan.stages?.map(stageSummary)),
    ...given('scenes', plan.scenes?.map(sceneSummary)),
    ...given('arrivals', plan.arrivals),
    ...given('iterations', plan.iterations),
    ...given('drainMs', plan.drainMs),
    ...given('abortOnThreshold', plan.abortOnThreshold),
    ...given('checkShare', plan.checkShare),
    requestTimeLimitMs: plan.requestTimeLimitMs,
    headerPrefix: plan.headerPrefix,
    ...given('deploymentName', plan.deploymentName),
    ...given('idPrefix', plan.idPrefix),
    ...given('idData', plan.idData),
    ...given('rsaPool', plan.rsaPool && poolSummary(plan.rsaPool)),
  };
}

function cohortSummary({ name, weight, keys, behaviours, behaviourParameters, policy }: Cohort) {
  const parameters = given('behaviourParameters', behaviourParameters);
  return { name, weight, keys, behaviours, ...parameters, policy };
}

function stageSummary({ kind, durationMs, devices }: LoadStage) {
  return { kind, durationMs, ...given('devices', devices) };
}

/** The back-offs that a herd comparison is between are those of the cohorts. */
function sceneSummary({ name, atMs, withinMs, jitter, lastingMs, cohort }: Incident) {
  return {
    name,
    atMs,
    ...given('withinMs', withinMs),
    ...given('jitter', jitter),
    ...given('lastingMs', lastingMs),
    ...given('cohort', cohort),
  };
}

function poolSummary({ size, bits }: NonNullable<FleetPlan['rsaPool']>) {
  return { ...given('size', size), ...given('bits', bits) };
}

async function fileFields({
  behaviourFiles = [],
  idDataFile,
}: FleetPlan): Promise<Pick<PlanSummary, 'files'>> {
  if (behaviourFiles.length === 0 && idDataFile === undefined) return {};
  const behaviours = await Promise.all(behaviourFiles.map(digestOf));
  return {
    files: {
      ...(behaviours.length > 0 && { behaviours }),
      ...(idDataFile !== undefined && { idData: await digestOf(idDataFile) }),
    },
  };
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** A member of a result is absent or has a value. */
function given<Name extends string, Value>(name: Name, value: Value | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: Value };
}

/** JSON in which members stand in the order of their names. */
function inOrder(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(
      Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)),
    );
  });
}
