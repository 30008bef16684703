/** A device without power: it says nothing, its connections are gone, and so is its token. */
import type { Device } from './device.ts';
import type { World } from './world.ts';

/**
 * Lets the device be silent for so long; it then has to sign in anew.
 * @throws FleetStopped when the run ends first
 */
export async function withoutPower(device: Device, world: World, offMs: number): Promise<void> {
  const { session } = device;
  device.off = true;
  if (session) session.token = undefined;
  world.losesSocket(device);
  const upAtMs = world.clock.monotonicMs() + offMs;
  // Nothing is due meanwhile.
  if (session) session.plannedMs = upAtMs;
  await world.rest(offMs);
  device.off = false;
}
