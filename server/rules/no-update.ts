/** The reason why a poll receives no update; it is stored in the poll's record. */
import type { WithholdingCondition } from './device-deployment-choice.ts';
import type { UnsuitableReason } from './next-deployment.ts';

/** The conditions that withhold an update. */
export type NoUpdateCondition =
  | 'deployment'
  | WithholdingCondition
  | UnsuitableReason['condition']
  | 'already-installed';

/** The condition that decided, the deployment that it withheld, and the reason at that time. */
export interface NoUpdate {
  readonly condition: NoUpdateCondition;
  /** Absent when no deployment includes the device. */
  readonly deploymentId?: string;
  /** True when the device has installed the deployment's artifact or configuration. */
  readonly isUpToDate: boolean;
  /** The artifact that an up-to-date device should report; absent for a configuration. */
  readonly installed?: string;
  /** One sentence without a full stop; times in ISO 8601. */
  readonly reason: string;
}

/**
 * The reason when no deployment includes the device. A single frozen object, because it answers
 * nearly all polls.
 */
export const noDeployment: NoUpdate = Object.freeze({
  condition: 'deployment',
  isUpToDate: false,
  reason: 'no deployment includes the device',
});

/**
 * Returns the reason for a poll that reports this artifact. A device that was up to date and
 * reports another artifact is not up to date any more.
 */
export function withInstalledArtifact(noUpdate: NoUpdate, artifactName: string): NoUpdate {
  const { condition, deploymentId, installed, reason } = noUpdate;
  if (installed === undefined || installed === artifactName) return noUpdate;
  return {
    condition,
    ...(deploymentId !== undefined && { deploymentId }),
    isUpToDate: false,
    reason: `${reason}, but it reports ${artifactName}`,
  };
}
