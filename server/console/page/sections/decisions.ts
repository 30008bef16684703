/** Changes the authentication status of devices through the management API. */
import type { Device } from '../../../../fixtures/contract/management/devices.ts';
import { callManagement, manageJson } from '../api/management.ts';

type DecisionStatus = 'accepted' | 'rejected' | 'pending';

/** Sets the status of one authentication set. */
export function decideSet(
  deviceId: string,
  setId: string,
  status: DecisionStatus,
): Promise<unknown> {
  const parameters = { id: deviceId, aid: setId };
  return callManagement('set-auth-set-status', { parameters, json: { status } });
}

/**
 * Changes the status of a device through its newest pending authentication set, or through its
 * newest set if none is pending.
 */
export async function decideDevice(deviceId: string, status: DecisionStatus): Promise<void> {
  const device = await manageJson<Device>('get-device', { parameters: { id: deviceId } });
  const sets = device.auth_sets;
  const authSet = sets.findLast((each) => each.status === 'pending') ?? sets.at(-1);
  if (authSet) await decideSet(deviceId, authSet.id, status);
}

/** Decommissions a device: deletes it and all its data. */
export function decommission(deviceId: string): Promise<unknown> {
  return callManagement('decommission-device', { parameters: { id: deviceId } });
}
