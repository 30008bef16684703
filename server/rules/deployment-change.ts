/** What users may change about a deployment: why they may not, or nothing when they may. */

interface Changeable {
  readonly finishedMs?: number | undefined;
  readonly controlMap?: object;
}

/** Nothing is left to abort once it is finished. */
export function abortRefused({ finishedMs }: Changeable): string | undefined {
  return finishedMs === undefined ? undefined : 'the deployment is already finished';
}

/** A map can be replaced, not added, and only while devices may still ask for it. */
export function controlMapRefused({ finishedMs, controlMap }: Changeable): string | undefined {
  if (!controlMap) return 'the deployment was created without an update_control_map';
  return finishedMs === undefined
    ? undefined
    : 'the deployment is finished; its update control map can no longer be changed';
}
