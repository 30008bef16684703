/**
 * The state of a whole deployment, derived from its device deployments: its status, the time when
 * it was finished, and the changes it permits.
 */
import type {
  DeploymentStatusOverall,
  DeviceDeploymentStatus,
} from '../../fixtures/contract/vocabulary.ts';

/** The status of a device deployment before its first offer. */
export const initialStatus = 'pending' satisfies DeviceDeploymentStatus;

/**
 * Returns `finished` for a finished deployment, `inprogress` once a device deployment has left
 * `pending`, and else `pending`.
 */
export function statusOf(
  deployment: { readonly finishedMs?: number },
  statistics: ReadonlyMap<string, number>,
): DeploymentStatusOverall {
  if (deployment.finishedMs !== undefined) return 'finished';
  const started = [...statistics].some(([status, count]) => status !== initialStatus && count > 0);
  return started ? 'inprogress' : 'pending';
}

/** Facts that decide whether a deployment is finished. */
export interface FinishFacts {
  readonly finishedMs?: number | undefined;
  /**
   * Number of devices after which the deployment is finished, even if others have not finished it.
   */
  readonly maxDevices?: number | undefined;
  /** True when the status of a device deployment is not final. */
  readonly hasNonFinal: boolean;
  /** True when a failed device may try again. */
  readonly hasRetries: boolean;
  /** Number of devices that have finished the deployment; counted only if `maxDevices` is set. */
  readonly finishedDevices: number;
}

/**
 * Returns when the deployment was finished: the recorded time, or now if it is finished now;
 * undefined while devices may continue.
 */
export function finishTimeMs(facts: FinishFacts, nowMs: number): number | undefined {
  const { hasNonFinal, hasRetries, finishedDevices, maxDevices = Infinity } = facts;
  const mayContinue = hasNonFinal || hasRetries;
  if (mayContinue && finishedDevices < maxDevices) return undefined;
  return facts.finishedMs ?? nowMs;
}

/** Facts that decide whether users may change a deployment. */
interface ChangeableDeployment {
  readonly finishedMs?: number | undefined;
  readonly controlMap?: object;
}

/** Returns why a deployment cannot be aborted: only one that is not finished can. */
export function abortRefusalReason({ finishedMs }: ChangeableDeployment): string | undefined {
  return finishedMs === undefined ? undefined : 'the deployment is already finished';
}

/**
 * Returns why a control map cannot be replaced. A map can be replaced but not added, and only while
 * devices may request it.
 */
export function controlMapRefusalReason({
  finishedMs,
  controlMap,
}: ChangeableDeployment): string | undefined {
  if (!controlMap) return 'the deployment was created without an update_control_map';
  return finishedMs === undefined
    ? undefined
    : 'the deployment is finished; its update control map can no longer be changed';
}
