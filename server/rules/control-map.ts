/**
 * The update control map that a device receives; its ID is the deployment's ID.
 * Spec: UpdateControlMap
 */
import type { GivenControlMap, UpdateControlMap } from '../../fixtures/contract/resources.ts';

/** Returns the map of a deployment; undefined if it has none. */
export function controlMapOf(deployment: {
  readonly id: string;
  readonly controlMap?: GivenControlMap;
}): UpdateControlMap | undefined {
  const { id, controlMap } = deployment;
  return controlMap && { ...controlMap, id };
}
