/** The update control map as a device gets it: the deployment's id is the map's. Spec: UpdateControlMap */
import type { GivenControlMap, UpdateControlMap } from '../../fixtures/contract/resources.ts';

/** The map of a deployment, if it has one. */
export function controlMapOf(deployment: {
  readonly id: string;
  readonly controlMap?: GivenControlMap;
}): UpdateControlMap | undefined {
  const { id, controlMap } = deployment;
  return controlMap && { ...controlMap, id };
}
