/**
 * Decides which deployment a device is served now, and why others are withheld.
 * Spec: Device deployments v1, v2
 */
import { type DeviceDeployment, isFinal, mayTryAgain } from './device-deployment.ts';
import type { Phase } from './phases.ts';

/** A device deployment, with the facts that decide whether it is served. */
export interface DeviceDeploymentFacts
  extends Pick<DeviceDeployment, 'status' | 'offeredMs' | 'retriesLeft'> {
  /**
   * Number of devices that were offered the deployment; counted only if phases or `maxDevices`
   * limit it.
   */
  readonly offeredDevices: number;
  readonly deployment: {
    /** The deployment's position in the order of creation. */
    readonly seq: number;
    readonly createdMs: number;
    readonly finishedMs?: number;
    readonly maxDevices?: number;
    readonly phases?: readonly Phase[];
  };
}

/** The current time, and the device's last finished deployment. */
interface ChoiceContext {
  readonly nowMs: number;
  /** `seq` of the newest deployment that the device was offered and finished; 0 for none. */
  readonly lastFinishedSeq: number;
}

/** Conditions that withhold a device deployment for good, then those that end with time. */
type PermanentCondition = 'device-finished' | 'aborted' | 'deployment-finished' | 'older';
export type TemporaryCondition = 'start' | 'phase' | 'max-devices';
export type WithholdingCondition = PermanentCondition | TemporaryCondition;

export type DeviceDeploymentChoice<Deployment> =
  | { readonly decision: 'continue' | 'retry' | 'offer'; readonly deviceDeployment: Deployment }
  | {
      readonly decision: 'wait';
      readonly deviceDeployment: Deployment;
      readonly condition: TemporaryCondition;
    }
  | { readonly decision: 'nothing' };

/**
 * Chooses in this order: the device deployment in progress, a failed one with retries left, the oldest
 * one that may be offered, the oldest one that has to wait. `deviceDeployments` are in order of
 * creation; finished ones have no effect.
 */
export function chooseDeviceDeployment<Deployment extends DeviceDeploymentFacts>(
  deviceDeployments: readonly Deployment[],
  context: ChoiceContext,
): DeviceDeploymentChoice<Deployment> {
  const inProgress = deviceDeployments.find(
    (deviceDeployment) => deviceDeployment.offeredMs !== undefined && !isFinal(deviceDeployment),
  );
  if (inProgress) return { decision: 'continue', deviceDeployment: inProgress };
  const failed = deviceDeployments.find(mayTryAgain);
  if (failed) return { decision: 'retry', deviceDeployment: failed };
  let firstWithheld: DeviceDeploymentChoice<Deployment> = { decision: 'nothing' };
  for (const deviceDeployment of deviceDeployments) {
    const condition = withholdingCondition(deviceDeployment, context);
    if (condition === undefined) return { decision: 'offer', deviceDeployment };
    if (firstWithheld.decision === 'nothing' && isTemporary(condition)) {
      firstWithheld = { decision: 'wait', deviceDeployment, condition };
    }
  }
  return firstWithheld;
}

/**
 * Returns the first condition that withholds a device deployment now; undefined when it may be served.
 */
export function withholdingCondition(
  deviceDeployment: DeviceDeploymentFacts,
  { nowMs, lastFinishedSeq }: ChoiceContext,
): WithholdingCondition | undefined {
  if (mayTryAgain(deviceDeployment)) return undefined;
  if (deviceDeployment.status === 'aborted') return 'aborted';
  if (isFinal(deviceDeployment)) return 'device-finished';
  if (deviceDeployment.offeredMs !== undefined) return undefined;
  const { deployment, offeredDevices } = deviceDeployment;
  if (deployment.finishedMs !== undefined) return 'deployment-finished';
  if (deployment.seq <= lastFinishedSeq) return 'older';
  if (deployment.createdMs > nowMs) return 'start';
  if (offeredDevices >= devicesByNow(deployment, nowMs)) return 'phase';
  return offeredDevices >= (deployment.maxDevices ?? Infinity) ? 'max-devices' : undefined;
}

/** Returns the number of devices that the started phases allow; Infinity without phases. */
export function devicesByNow(
  { phases }: DeviceDeploymentFacts['deployment'],
  nowMs: number,
): number {
  if (!phases) return Infinity;
  return phases.findLast(({ startMs }) => startMs <= nowMs)?.devicesUntil ?? 0;
}

const temporaryConditions: ReadonlySet<string> = new Set<TemporaryCondition>([
  'start',
  'phase',
  'max-devices',
]);

function isTemporary(condition: WithholdingCondition): condition is TemporaryCondition {
  return temporaryConditions.has(condition);
}
