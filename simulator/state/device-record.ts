/** The stored record of a device between runs, and its restoration. It contains tokens. */
import * as v from 'valibot';
import { reportableStatuses } from '../../fixtures/contract/vocabulary.ts';
import { nextEndpoints } from '../api-client/session.ts';
import {
  type DeploymentRecord,
  isSettled,
  recordDeployment,
  type SimulatedDevice,
} from '../device/device.ts';
import { updateStates } from '../device/update-states.ts';

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const texts = v.record(text, text);
const providesShape = v.intersect([v.object({ device_type: text, artifact_name: text }), texts]);
const contentsShape = v.object({ provides: providesShape, configuration: texts });
const downloadedArtifactShape = v.object({ provides: providesShape, settings: v.optional(texts) });
const status = v.picklist(reportableStatuses);

const deploymentShape = v.object({
  deploymentId: text,
  artifactName: text,
  state: v.picklist(updateStates),
  reported: v.array(status),
  unacknowledgedStatus: v.optional(status),
  abortRequested: v.boolean(),
  abortIgnored: v.boolean(),
  attempts: count,
  reboots: v.optional(count, 0),
  offeredMs: v.optional(v.number()),
  stateSinceMs: v.optional(v.number()),
  finishedMs: v.optional(v.number()),
  previousSoftware: v.optional(contentsShape),
  downloadedArtifact: v.optional(downloadedArtifactShape),
  /** Set after a power loss that the device has not handled; the end of a run is not stored. */
  interruptedBy: v.optional(v.literal('power')),
});

/** Fields of a device; `null` means that the device no longer has a value. */
const fieldShapes = {
  id: v.optional(v.nullable(text)),
  token: v.optional(v.nullable(text)),
  endpoint: v.optional(v.picklist(nextEndpoints)),
  keys: v.optional(count),
  provides: v.optional(providesShape),
  configuration: v.optional(texts),
  onboardingDone: v.optional(count),
  memory: v.optional(v.nullable(v.record(text, v.number()))),
  offUntilMs: v.optional(v.nullable(v.number())),
};

/** Schema of a line about one device: its changed fields, and a changed record of a deployment. */
export const deviceLineShape = v.object({
  device: count,
  ...fieldShapes,
  deployment: v.optional(deploymentShape),
});
export type DeviceLine = v.InferOutput<typeof deviceLineShape>;

/** The names of the stored fields, in the order of `fieldsOf`. */
export const fieldNames = [
  'id',
  'token',
  'endpoint',
  'keys',
  'provides',
  'configuration',
  'onboardingDone',
  'memory',
  'offUntilMs',
];

/** Returns the current values of a device's stored fields, in the order of `fieldNames`. */
export function fieldsOf(device: SimulatedDevice): readonly unknown[] {
  const { session, storedSession } = device;
  return [
    device.id ?? null,
    (session ?? storedSession)?.token ?? null,
    (session ?? storedSession)?.nextEndpoint ?? nextEndpoints[0],
    device.keyGeneration,
    device.provides,
    device.configuration,
    device.onboardingDone,
    device.memory ?? null,
    device.offUntilMs ?? null,
  ];
}

/** Returns the stored format of a device's record of a deployment. */
export function deploymentRecord(deployment: DeploymentRecord): DeviceLine['deployment'] {
  const { deploymentId, artifactName, state, reported, unacknowledgedStatus, abortRequested } =
    deployment;
  const {
    offeredMs,
    stateSinceMs,
    finishedMs,
    previousSoftware,
    downloadedArtifact,
    abortIgnored,
    attempts,
  } = deployment;
  return {
    deploymentId,
    artifactName,
    state,
    reported,
    unacknowledgedStatus,
    abortRequested,
    abortIgnored,
    attempts,
    reboots: deployment.reboots,
    offeredMs,
    stateSinceMs,
    finishedMs,
    previousSoftware,
    downloadedArtifact,
    interruptedBy: deployment.interruptedBy === 'power' ? 'power' : undefined,
  };
}

/** Applies a stored line to a device; ignores a line about a device that does not exist. */
export function restoreDevice(device: SimulatedDevice | undefined, line: DeviceLine): void {
  if (device === undefined) return;
  const { id, token, endpoint, keys, provides, configuration, onboardingDone, memory, deployment } =
    line;
  const { offUntilMs } = line;
  if (id !== undefined) device.id = id ?? undefined;
  if (keys !== undefined) device.keyGeneration = keys;
  if (provides !== undefined) device.provides = provides;
  if (configuration !== undefined) device.configuration = configuration;
  if (onboardingDone !== undefined) device.onboardingDone = onboardingDone;
  if (memory !== undefined) device.memory = memory ?? undefined;
  if (offUntilMs !== undefined) device.offUntilMs = offUntilMs ?? undefined;
  if (token !== undefined || endpoint !== undefined) {
    const earlierSession = device.storedSession;
    device.storedSession = {
      token: token === undefined ? earlierSession?.token : (token ?? undefined),
      nextEndpoint: endpoint ?? earlierSession?.nextEndpoint ?? nextEndpoints[0],
    };
  }
  if (deployment) restoreDeployment(device, deployment);
}

function restoreDeployment(
  device: SimulatedDevice,
  deploymentLine: NonNullable<DeviceLine['deployment']>,
): void {
  const { deploymentId, artifactName, state, reported, unacknowledgedStatus, abortRequested } =
    deploymentLine;
  const { offeredMs, stateSinceMs, finishedMs, previousSoftware, abortIgnored, attempts, reboots } =
    deploymentLine;
  const downloadedArtifact = deploymentLine.downloadedArtifact && {
    settings: undefined,
    ...deploymentLine.downloadedArtifact,
  };
  const deployment: DeploymentRecord = {
    deploymentId,
    artifactName,
    state,
    reported,
    unacknowledgedStatus,
    abortRequested,
    refusedStatus: undefined,
    abortIgnored,
    attempts,
    reboots,
    offeredMs,
    stateSinceMs,
    finishedMs,
    previousSoftware,
    downloadedArtifact,
    interruptedBy: deploymentLine.interruptedBy,
  };
  if (!isSettled(deployment)) deployment.interruptedBy ??= 'simulator';
  recordDeployment(device, deployment);
}
