/** Waits after which something of the device falls due: what it then sends counts from that moment. */
import type { Device } from './device.ts';
import type { World } from './environment.ts';

/** @throws FleetStopped when the run ends first */
export async function restUntilDue(device: Device, world: World, waitMs: number): Promise<void> {
  if (device.session) device.session.plannedMs = world.clock.monotonicMs() + waitMs;
  await world.rest(waitMs);
}
