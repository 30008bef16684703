/** Decisions about devices, made by the management API. */
import type { Device } from '../../../../fixtures/contract/management/devices.ts';
import { manage, manageJson } from '../api/management.ts';

type Status = 'accepted' | 'rejected' | 'pending';

/** Sets the status of one authentication set. */
export function decideSet(deviceId: string, setId: string, status: Status): Promise<unknown> {
  const parameters = { id: deviceId, aid: setId };
  return manage('set-auth-set-status', { parameters, json: { status } });
}

/** Accepts or rejects the device by its newest set that is undecided, or by the newest of all. */
export async function decideDevice(deviceId: string, status: Status): Promise<void> {
  const device = await manageJson<Device>('get-device', { parameters: { id: deviceId } });
  const sets = device.auth_sets;
  const set = sets.findLast((each) => each.status === 'pending') ?? sets.at(-1);
  if (set) await decideSet(deviceId, set.id, status);
}

/** Forgets a device with all that hangs on it. */
export function decommission(deviceId: string): Promise<unknown> {
  return manage('decommission-device', { parameters: { id: deviceId } });
}
