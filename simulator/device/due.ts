/** Waits after which something of the device falls due: what it then sends counts from that moment. */
import type { Device } from './device.ts';
import type { DeviceEnvironment } from './environment.ts';

/** @throws FleetStopped when the run ends first */
export async function restUntilDue(
  device: Device,
  environment: DeviceEnvironment,
  waitMs: number,
): Promise<void> {
  if (device.session) device.session.plannedMs = environment.clock.monotonicMs() + waitMs;
  await environment.rest(waitMs);
}
