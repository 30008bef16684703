/** Explains in sentences why a device received no update, with the values of both sides. */
import type { DeviceDeployment } from './device-deployment.ts';
import {
  type DeviceDeploymentFacts,
  devicesByNow,
  type TemporaryCondition,
  type WithholdingCondition,
} from './device-deployment-choice.ts';
import { parsePollData, type UnsuitableReason } from './next-deployment.ts';
import type { NoUpdate, NoUpdateCondition } from './no-update.ts';

/** The fields by which sentences name a deployment. */
export interface NamedDeployment {
  readonly id: string;
  readonly name: string;
  readonly artifactName: string;
}

/** A device deployment with all facts that the sentences contain. */
export interface DescribedDeviceDeployment extends DeviceDeployment, DeviceDeploymentFacts {
  readonly deployment: DeviceDeploymentFacts['deployment'] &
    NamedDeployment & {
      readonly deviceCount: number;
      readonly type: 'software' | 'configuration';
    };
}

/** Returns the name of a deployment for sentences. */
export function labelOf({ name, id, artifactName }: NamedDeployment): string {
  return `deployment ${name} (${id}) of ${artifactName}`;
}

/** Returns the time in ISO 8601. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * The reason for a device deployment that has to wait. The sentence is built on access, because a
 * device may poll thousands of times before it is chosen.
 */
export class WithholdingReason implements NoUpdate {
  readonly isUpToDate = false;
  readonly condition: TemporaryCondition;
  readonly #deviceDeployment: DescribedDeviceDeployment;
  readonly #nowMs: number;

  constructor(
    condition: TemporaryCondition,
    deviceDeployment: DescribedDeviceDeployment,
    nowMs: number,
  ) {
    this.condition = condition;
    this.#deviceDeployment = deviceDeployment;
    this.#nowMs = nowMs;
  }

  get deploymentId(): string {
    return this.#deviceDeployment.deployment.id;
  }

  get reason(): string {
    return withheldText(this.condition, this.#deviceDeployment, this.#nowMs);
  }
}

/** Returns the sentence why a condition withholds a device deployment at this time. */
export function withheldText(
  condition: WithholdingCondition,
  deviceDeployment: DescribedDeviceDeployment,
  nowMs: number,
): string {
  return sentences[condition](deviceDeployment, nowMs);
}

/**
 * Returns the reason when no device deployment is open; `deviceDeployment` is the device's newest
 * one.
 */
export function noOpenDeploymentFor(
  deviceDeployment: DescribedDeviceDeployment,
  condition: WithholdingCondition,
  nowMs: number,
): NoUpdate {
  const { id, artifactName, type } = deviceDeployment.deployment;
  const isUpToDate = condition === 'device-finished' && installed.has(deviceDeployment.status);
  return {
    condition,
    deploymentId: id,
    isUpToDate,
    ...(isUpToDate && type === 'software' && { installed: artifactName }),
    reason: flat(withheldText(condition, deviceDeployment, nowMs)),
  };
}

/** Returns the reason when no artifact of the deployment is suitable for the device. */
export function noSuitableArtifactFor(
  deployment: NamedDeployment,
  unsuitable: UnsuitableReason,
): NoUpdate {
  const reason = `${labelOf(deployment)} has no artifact for the device: ${unsuitableReasonText(unsuitable)}`;
  return {
    condition: unsuitable.condition,
    deploymentId: deployment.id,
    isUpToDate: false,
    reason,
  };
}

/** Returns the reason when the device already has the deployment's artifact installed. */
export function alreadyInstalledFor(deployment: NamedDeployment): NoUpdate {
  const reason = `the device already has ${deployment.artifactName} installed, and deployment ${deployment.name} (${deployment.id}) does not force the installation`;
  const condition = 'already-installed';
  return { condition, deploymentId: deployment.id, isUpToDate: true, reason };
}

/** The action that makes a device get an update, by the condition that withholds it. */
export const remedies: Readonly<Record<NoUpdateCondition, string>> = {
  deployment: 'create a deployment that includes the device: npx fleetbed deploy FILE --device ID',
  start: 'wait for the start, or move the clock of the server to it: npx fleetbed clock TIME',
  phase:
    'wait for the next phase, or move the clock of the server to its start: npx fleetbed clock TIME',
  'max-devices': 'create another deployment for the device, with no max_devices or a larger one',
  'device-finished':
    'deploy to the device again; if it failed, or no artifact suited it, remove the cause first',
  aborted: 'deploy to the device again, since an aborted deployment does not go on',
  'deployment-finished':
    'deploy to the device again, since the deployment is finished for all devices',
  older: 'deploy this release to the device again, so that it is newer than what it has finished',
  artifact: 'upload an artifact of this name, then deploy it to the device again',
  'device-type':
    'upload an artifact for this device type, or correct the type that the device reports; then deploy again',
  depends:
    'upload an artifact whose dependencies the device meets, or let the device report what it lacks; then deploy again',
  'already-installed': 'deploy to the device again, with force_installation if it has the artifact',
};

/** Returns what makes the device get an update; undefined for a device that is up to date. */
export function remedyOf({ condition, isUpToDate }: NoUpdate): string | undefined {
  return isUpToDate ? undefined : remedies[condition];
}

const installed: ReadonlySet<DeviceDeployment['status']> = new Set([
  'success',
  'already-installed',
]);

const sentences: Readonly<
  Record<
    WithholdingCondition,
    (deviceDeployment: DescribedDeviceDeployment, nowMs: number) => string
  >
> = {
  start: ({ deployment }) => `${labelOf(deployment)} starts at ${timeText(deployment.createdMs)}`,
  phase: ({ deployment, offeredDevices }, nowMs) => {
    const { phases = [], deviceCount } = deployment;
    const at = phases.findIndex(({ startMs }) => startMs > nowMs);
    const next = phases[at];
    const starts = next ? `; phase ${at + 1} starts at ${timeText(next.startMs)}` : '';
    const byNow = devicesByNow(deployment, nowMs);
    return `the phases of ${labelOf(deployment)} allow ${byNow} of ${devicesText(deviceCount)} so far, and ${offeredText(offeredDevices)}${starts}`;
  },
  'max-devices': ({ deployment, offeredDevices }) =>
    `${labelOf(deployment)} is limited to ${devicesText(deployment.maxDevices ?? 0)}, and ${offeredText(offeredDevices)}`,
  'device-finished': finishedText,
  aborted: ({ deployment, finishedMs }) =>
    `${labelOf(deployment)} was aborted for the device${timePart(finishedMs)}`,
  'deployment-finished': ({ deployment }) =>
    `${labelOf(deployment)} was finished${timePart(deployment.finishedMs)}, before the device began it`,
  older: ({ deployment }) =>
    `${labelOf(deployment)} is older than the last one that the device finished, so it is skipped`,
};

function finishedText({
  deployment,
  status,
  pollData,
  finishedMs,
}: DescribedDeviceDeployment): string {
  const label = labelOf(deployment);
  if (status === 'already-installed') {
    return `the device finished deployment ${deployment.name} (${deployment.id})${timePart(finishedMs)}, because it already had ${deployment.artifactName} installed`;
  }
  if (status === 'failure') {
    return `the device finished ${label} with failure${timePart(finishedMs)}: it reported failure, or polled with different data than when it got the update`;
  }
  if (status !== 'noartifact') {
    return `the device finished ${label} with ${status}${timePart(finishedMs)}`;
  }
  // The unmet dependency is no longer known, because the artifacts may have changed since.
  const reportText =
    pollData === undefined ? '' : `; it reported ${pairsText(parsePollData(pollData))}`;
  return `the device finished ${label}${timePart(finishedMs)} without a suitable artifact${reportText}`;
}

function unsuitableReasonText(unsuitable: UnsuitableReason): string {
  if (unsuitable.condition === 'artifact') return 'no artifact has this name';
  const acceptedText = unsuitable.accepted.join(', ');
  if (unsuitable.condition === 'device-type') {
    return `no artifact with this name is compatible with device type ${unsuitable.reportedValue}; compatible types: ${acceptedText}`;
  }
  const reportText =
    unsuitable.reportedValue === undefined
      ? 'does not report it'
      : `reports ${unsuitable.reportedValue}`;
  return `it requires ${unsuitable.name} to be one of: ${acceptedText}; the device ${reportText}`;
}

/** Returns the data that a device sent, as text for sentences. */
export function pairsText({ provides }: { readonly provides: Readonly<Record<string, string>> }) {
  return Object.entries(provides)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

function devicesText(count: number): string {
  return `${count} ${count === 1 ? 'device' : 'devices'}`;
}

function offeredText(count: number): string {
  return `${count} ${count === 1 ? 'was' : 'were'} offered it`;
}

function timePart(ms: number | undefined): string {
  return ms === undefined ? '' : ` at ${timeText(ms)}`;
}

/**
 * Returns a flat copy: V8 would keep a template's text as linked pieces, and this text is stored
 * for each device.
 */
function flat(text: string): string {
  return Buffer.from(text).toString();
}
