/** Time as a device has it: its own clock, and waits after which something of it falls due. */
import type { Device } from './device.ts';
import type { DeviceEnvironment } from './environment.ts';

/** Milliseconds since the Unix epoch by the device's own clock. */
export function ownTimeMs(device: Device, { clock }: Pick<DeviceEnvironment, 'clock'>): number {
  const { hooks, parameters } = device.behaviour;
  return clock.now() + (hooks.clockSkewMs?.(parameters) ?? 0);
}

/** Waits; what the device then sends counts from that moment. @throws FleetStopped when the run ends first */
export async function restUntilDue(
  device: Device,
  environment: DeviceEnvironment,
  waitMs: number,
): Promise<void> {
  if (device.session) device.session.plannedMs = environment.clock.monotonicMs() + waitMs;
  await environment.rest(waitMs);
}
