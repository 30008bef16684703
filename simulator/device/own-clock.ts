/** The time that a device believes it is. */
import type { Device } from './device.ts';
import type { DeviceEnvironment } from './environment.ts';

/** Milliseconds since the Unix epoch by the device's own clock. */
export function ownTimeMs(device: Device, { clock }: Pick<DeviceEnvironment, 'clock'>): number {
  const { hooks, parameters } = device.behaviour;
  return clock.now() + (hooks.clockSkewMs?.(parameters) ?? 0);
}
