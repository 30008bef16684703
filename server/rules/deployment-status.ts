/** The state of a whole deployment, derived from its device deployments: its name, when it ends, what it permits. */
import type {
  DeploymentStatusOverall,
  DeviceDeploymentStatus,
} from '../../fixtures/contract/vocabulary.ts';

/** The status of a device deployment before its first offer. */
export const initialStatus = 'pending' satisfies DeviceDeploymentStatus;

/** Finished once every device deployment is over; in progress as soon as one has left pending. */
export function statusOf(
  deployment: { readonly finishedMs?: number },
  statistics: ReadonlyMap<string, number>,
): DeploymentStatusOverall {
  if (deployment.finishedMs !== undefined) return 'finished';
  const begun = [...statistics].some(([status, count]) => status !== initialStatus && count > 0);
  return begun ? 'inprogress' : 'pending';
}

/** What the end of a deployment depends on. */
export interface CompletionFacts {
  readonly finishedMs?: number | undefined;
  /** Number of devices after which it ends, even if others are not finished. */
  readonly maxDevices?: number | undefined;
  /** True when it is not over for a device. */
  readonly hasUnfinished: boolean;
  /** True when a device that failed may try again. */
  readonly hasRetries: boolean;
  /** Devices that cannot go on; counted only where `maxDevices` is given. */
  readonly devicesThrough: number;
}

/** The time at which it ended, the former one if it had ended before; nothing while devices may go on. */
export function completedMs(facts: CompletionFacts, nowMs: number): number | undefined {
  const { hasUnfinished, hasRetries, devicesThrough, maxDevices = Infinity } = facts;
  const mayGoOn = hasUnfinished || hasRetries;
  if (mayGoOn && devicesThrough < maxDevices) return undefined;
  return facts.finishedMs ?? nowMs;
}

/** What decides whether users may change a deployment. */
interface Changeable {
  readonly finishedMs?: number | undefined;
  readonly controlMap?: object;
}

/** Why it cannot be aborted: nothing is left to abort once it is finished. */
export function abortRefused({ finishedMs }: Changeable): string | undefined {
  return finishedMs === undefined ? undefined : 'the deployment is already finished';
}

/** Why its map cannot be replaced: a map can be replaced, not added, and only while devices may still ask for it. */
export function controlMapRefused({ finishedMs, controlMap }: Changeable): string | undefined {
  if (!controlMap) return 'the deployment was created without an update_control_map';
  return finishedMs === undefined
    ? undefined
    : 'the deployment is finished; its update control map can no longer be changed';
}
