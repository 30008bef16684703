/** A device without power: it says nothing, its connections are gone, and so is its token. */
import type { Device } from './device.ts';
import type { DeviceEnvironment } from './environment.ts';

/**
 * Takes the device's power away for so long, which also the next run of the simulator keeps to.
 * @throws FleetStopped when the run ends first
 */
export function losePower(
  device: Device,
  environment: DeviceEnvironment,
  offMs: number,
): Promise<void> {
  // What never returns in this run has no moment that the next could wait for.
  if (Number.isFinite(offMs)) device.offUntilMs = environment.clock.now() + offMs;
  return withoutPower(device, environment, offMs);
}

/**
 * Lets the device be silent for so long; it then has to sign in anew.
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
  // Nothing is due meanwhile.
  if (session) session.plannedMs = upAtMs;
  environment.changed(device);
  await environment.rest(offMs);
  device.off = false;
  device.offUntilMs = undefined;
}

/** How much longer the device has no power; zero when it has. */
export function powerlessForMs({ offUntilMs }: Device, environment: DeviceEnvironment): number {
  return offUntilMs === undefined ? 0 : Math.max(0, offUntilMs - environment.clock.now());
}
