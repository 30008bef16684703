/** A device without power: it sends nothing, and its connections and token are gone. */
import type { Device } from './device.ts';
import type { DeviceEnvironment } from './environment.ts';

/**
 * Cuts the device's power for a time that also applies in the next run of the simulator.
 * @throws FleetStopped when the run ends first
 */
export function losePower(
  device: Device,
  environment: DeviceEnvironment,
  offMs: number,
): Promise<void> {
  // A permanent cut has no end time for the next run to wait for.
  if (Number.isFinite(offMs)) device.offUntilMs = environment.clock.now() + offMs;
  return withoutPower(device, environment, offMs);
}

/**
 * Keeps the device silent for a time; it then has to sign in again.
 * @throws FleetStopped when the run ends first
 */
export async function withoutPower(
  device: Device,
  environment: DeviceEnvironment,
  offMs: number,
): Promise<void> {
  const { session } = device;
  device.off = true;
  if (session) session.token = undefined;
  environment.losesSocket(device);
  const upAtMs = environment.clock.monotonicMs() + offMs;
  // Nothing is due in the meantime.
  if (session) session.plannedMs = upAtMs;
  environment.changed(device);
  await environment.rest(offMs);
  device.off = false;
  device.offUntilMs = undefined;
}

/** Returns how much longer the device has no power; 0 when it has. */
export function powerlessForMs({ offUntilMs }: Device, environment: DeviceEnvironment): number {
  return offUntilMs === undefined ? 0 : Math.max(0, offUntilMs - environment.clock.now());
}
