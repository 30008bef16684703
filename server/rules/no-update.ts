/** Why a poll gets no update, as stored in its record. */

import type { HoldBackRule } from './device-deployment-choice.ts';
import type { Misfit } from './next-deployment.ts';

/** The rules that say no. */
export type NoUpdateRule = 'deployment' | HoldBackRule | Misfit['rule'] | 'already-installed';

/** The rule that decided, the deployment that it held back, and why, at that time. */
export interface NoUpdate {
  readonly rule: NoUpdateRule;
  /** Absent where no deployment includes the device. */
  readonly deploymentId?: string;
  /** True when the device has installed what it was to install. */
  readonly isUpToDate: boolean;
  /** The artifact that a device reports which is up to date; absent for a configuration. */
  readonly installed?: string;
  /** One sentence without a full stop; times in ISO 8601. */
  readonly because: string;
}

/** No deployment includes the device; one object for all polls, as nearly all are answered so. */
export const noDeployment: NoUpdate = Object.freeze({
  rule: 'deployment',
  isUpToDate: false,
  because: 'no deployment includes the device',
});

/** The same to a poll that reports an artifact; a comparison for nearly every poll. */
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
