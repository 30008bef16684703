/**
 * Power losses of devices. A device without power sends nothing and has neither connections nor a
 * token.
 */
import type { SimulatedDevice } from './device.ts';
import type { DeviceEnvironment } from './environment.ts';

/**
 * Switches the device off for a time that also counts across runs of the simulator.
 * @throws FleetStopped when the run ends first
 */
export function losePower(
  device: SimulatedDevice,
  environment: DeviceEnvironment,
  offMs: number,
): Promise<void> {
  // A permanent power loss has no end that the next run could wait for.
  if (Number.isFinite(offMs)) device.offUntilMs = environment.clock.now() + offMs;
  return keepOff(device, environment, offMs);
}

/**
 * Keeps the device off for a time; afterwards it must authenticate again.
 * @throws FleetStopped when the run ends first
 */
export async function keepOff(
  device: SimulatedDevice,
  environment: DeviceEnvironment,
  offMs: number,
): Promise<void> {
  const { session } = device;
  device.off = true;
  if (session) session.token = undefined;
  environment.dropSocket(device);
  const upAtMs = environment.clock.monotonicMs() + offMs;
  // The device's next request is due when the power returns.
  if (session) session.dueMs = upAtMs;
  environment.recordChange(device);
  await environment.sleep(offMs);
  device.off = false;
  device.offUntilMs = undefined;
}

/** Returns for how many more milliseconds the device has no power; 0 when it has power. */
export function powerOffRemainingMs(
  { offUntilMs }: SimulatedDevice,
  environment: DeviceEnvironment,
): number {
  return offUntilMs === undefined ? 0 : Math.max(0, offUntilMs - environment.clock.now());
}
