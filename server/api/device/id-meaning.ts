/**
 * Says what an ID in the address of a report stands for, if not for a deployment that the device was
 * offered: a developer often sends the ID of the artifact, or of the device.
 */
import * as v from 'valibot';
import { isPlaceholder } from '../../../fixtures/base/placeholder.ts';
import type { CallingDevice, HandlerContext } from '../../pipeline/endpoint.ts';

/** The device that sends the report, and the store with its deployments. */
export interface CallingContext {
  readonly store: HandlerContext['store'];
  readonly device: CallingDevice;
}

/** Returns what the ID belongs to, as a phrase; undefined if nothing of the tenant has it. */
export function meaningOfId(id: string, { store, device }: CallingContext): string | undefined {
  if (id === device.id) return 'the ID of the device itself';
  const inInstructions = 'that of a deployment is the member id of the instructions';
  if (store.artifacts.find(id)) return `the ID of an artifact; ${inInstructions}`;
  if (isPlaceholder(id))
    return `a placeholder, as of a variable that is not set; ${inInstructions}`;
  if (!v.is(v.pipe(v.string(), v.uuid()), id)) {
    const isName = store.artifacts.findByName(id).length > 0;
    return `${isName ? 'the name of an artifact' : 'which is not a UUID'}; ${inInstructions}`;
  }
  if (!store.deployments.find(id)) return undefined;
  const deviceDeployment = store.deviceDeployments.find(id, device.id);
  if (!deviceDeployment) return 'a deployment for other devices';
  return deviceDeployment.offeredMs === undefined
    ? 'a deployment for this device that it was not offered yet; it has to poll first'
    : 'a deployment that is no longer in the history of this device';
}
