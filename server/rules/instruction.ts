/**
 * Decides which instruction a poll receives, or why it receives none.
 * Spec: Device deployments v1, v2
 */
import { applyOffer, applyRetry, withStatus } from './device-deployment.ts';
import { chooseDeviceDeployment, withholdingCondition } from './device-deployment-choice.ts';
import {
  type Candidate,
  decideNext,
  type NextRequest,
  pollDataText,
  type ServableDeviceDeployment,
} from './next-deployment.ts';
import { type NoUpdate, noDeployment } from './no-update.ts';
import {
  alreadyInstalledFor,
  type DescribedDeviceDeployment,
  noOpenDeploymentFor,
  noSuitableArtifactFor,
  WithholdingReason,
} from './no-update-sentences.ts';

/** A device deployment, with all facts that an instruction depends on. */
export type InstructedDeviceDeployment = DescribedDeviceDeployment & ServableDeviceDeployment;

/** The device deployments of one device, and the facts that decide which of them is served. */
export interface OpenDeviceDeployments<Deployment> {
  /** Device deployments that may be open, in order of creation. */
  readonly deviceDeployments: readonly Deployment[];
  /** `seq` of the newest deployment that the device was offered and finished; 0 for none. */
  readonly lastFinishedSeq: number;
  readonly nowMs: number;
  /**
   * Returns the newest device deployment of the device, open or not; called only when none is open.
   */
  readonly newest: () => Deployment | undefined;
}

/** A device that polls for its next deployment. */
export interface PollingDevice<Deployment> extends OpenDeviceDeployments<Deployment> {
  readonly request: NextRequest;
  /**
   * Returns the artifacts that now exist in the release of a device deployment; called for at most
   * one.
   */
  readonly candidatesOf: (deviceDeployment: Deployment) => readonly Candidate[];
}

/**
 * The response to the device. `changed` is the new state of the device deployment; absent when it
 * is unchanged.
 */
export type Instruction<Deployment> =
  | {
      readonly decision: 'serve';
      readonly deviceDeployment: Deployment;
      readonly changed: Deployment | undefined;
      /** Absent for a configuration, which needs no artifact. */
      readonly artifactId: string | undefined;
      readonly startsAttempt: boolean;
    }
  /** The device finishes the deployment without an update. */
  | {
      readonly decision: 'finish';
      readonly deviceDeployment: Deployment;
      readonly changed: Deployment;
      readonly noUpdate: NoUpdate;
    }
  /** The device polled with other data than when it was offered the update; the update fails. */
  | {
      readonly decision: 'conflict';
      readonly deviceDeployment: Deployment;
      readonly changed: Deployment;
    }
  /** An update exists, but the device has to wait for it. */
  | {
      readonly decision: 'wait';
      readonly deviceDeployment: Deployment;
      readonly noUpdate: NoUpdate;
    }
  /** No update until the device gets a new deployment or a retry. */
  | { readonly decision: 'nothing'; readonly noUpdate: NoUpdate };

/** Decides on the one device deployment that is chosen. */
export function decideInstruction<Deployment extends InstructedDeviceDeployment>(
  polling: PollingDevice<Deployment>,
): Instruction<Deployment> {
  const { request, nowMs } = polling;
  const choice = chooseOrExplain(polling);
  if ('noUpdate' in choice) return choice;
  const { deviceDeployment } = choice;
  const current = choice.decision === 'retry' ? applyRetry(deviceDeployment) : deviceDeployment;
  const decided = decideNext(current, request, polling.candidatesOf(deviceDeployment));
  if (decided.decision === 'conflict') {
    return {
      decision: 'conflict',
      deviceDeployment,
      changed: withStatus(current, 'failure', nowMs),
    };
  }
  const artifactId = 'artifactId' in decided ? decided.artifactId : undefined;
  const startsAttempt = current.pollData === undefined;
  const isOffer = startsAttempt || current.artifactId !== artifactId;
  const offer = isOffer && { pollData: pollDataText(request), artifactId, nowMs };
  const changedDeployment = offer ? applyOffer(current, offer) : undefined;
  if (decided.decision === 'serve') {
    return {
      decision: 'serve',
      deviceDeployment,
      changed: changedDeployment,
      artifactId,
      startsAttempt,
    };
  }
  const isInstalled = decided.decision === 'already-installed';
  const status = isInstalled ? 'already-installed' : 'noartifact';
  return {
    decision: 'finish',
    deviceDeployment,
    changed: withStatus(changedDeployment ?? current, status, nowMs),
    noUpdate: isInstalled
      ? alreadyInstalledFor(deviceDeployment.deployment)
      : noSuitableArtifactFor(deviceDeployment.deployment, decided.unsuitableReason),
  };
}

/**
 * Returns the chosen device deployment, independent of the data of the poll; or why there
 * is none.
 */
export function chooseOrExplain<Deployment extends DescribedDeviceDeployment>(
  open: OpenDeviceDeployments<Deployment>,
) {
  const { nowMs } = open;
  const choice = chooseDeviceDeployment(open.deviceDeployments, open);
  if (choice.decision === 'nothing') {
    return { decision: choice.decision, noUpdate: noUpdateReason(open) };
  }
  if (choice.decision !== 'wait') return choice;
  const { decision, deviceDeployment, condition } = choice;
  return {
    decision,
    deviceDeployment,
    noUpdate: new WithholdingReason(condition, deviceDeployment, nowMs),
  };
}

function noUpdateReason<Deployment extends DescribedDeviceDeployment>({
  newest,
  ...context
}: OpenDeviceDeployments<Deployment>): NoUpdate {
  const deviceDeployment = newest();
  const condition = deviceDeployment && withholdingCondition(deviceDeployment, context);
  return condition ? noOpenDeploymentFor(deviceDeployment, condition, context.nowMs) : noDeployment;
}
