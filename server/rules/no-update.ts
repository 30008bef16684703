/** The reason why a poll receives no update; it is stored in the poll's record. */

import type { HoldBackRule } from './device-deployment-choice.ts';
import type { Misfit } from './next-deployment.ts';

/** The rules that withhold an update. */
export type NoUpdateRule = 'deployment' | HoldBackRule | Misfit['rule'] | 'already-installed';

/** The rule that decided, the deployment that it withheld, and the reason at that time. */
export interface NoUpdate {
  readonly rule: NoUpdateRule;
  /** Absent when no deployment includes the device. */
  readonly deploymentId?: string;
  /** True when the device has installed the deployment's artifact or settings. */
  readonly isUpToDate: boolean;
  /** The artifact that an up-to-date device should report; absent for a configuration. */
  readonly installed?: string;
  /** One sentence without a full stop; times in ISO 8601. */
  readonly because: string;
}

/**
 * The reason when no deployment includes the device. A single frozen object, because it answers
 * nearly all polls.
 */
export const noDeployment: NoUpdate = Object.freeze({
  rule: 'deployment',
  isUpToDate: false,
  because: 'no deployment includes the device',
});

/**
 * Returns the reason for a poll that reports this artifact. A device that was up to date and
 * reports another artifact is not up to date any more.
 */
export function toReported(noUpdate: NoUpdate, artifactName: string): NoUpdate {
  const { rule, deploymentId, installed, because } = noUpdate;
  if (installed === undefined || installed === artifactName) return noUpdate;
  return {
    rule,
    ...(deploymentId !== undefined && { deploymentId }),
    isUpToDate: false,
    because: `${because}, but it reports ${artifactName}`,
  };
}
