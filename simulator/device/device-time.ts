/** Time on a device: its own clock, and waits until its next request is due. */
import type { SimulatedDevice } from './device.ts';
import type { DeviceEnvironment } from './environment.ts';

/** Returns milliseconds since the Unix epoch by the device's own clock. */
export function deviceTimeMs(
  device: SimulatedDevice,
  { clock }: Pick<DeviceEnvironment, 'clock'>,
): number {
  const { hooks, parameters } = device.behaviour;
  return clock.now() + (hooks.clockSkewMs?.(parameters) ?? 0);
}

/**
 * Waits. The latency of the device's next request counts from the end of the wait.
 * @throws FleetStopped when the run ends first
 */
export async function sleepUntilDue(
  device: SimulatedDevice,
  environment: DeviceEnvironment,
  waitMs: number,
): Promise<void> {
  if (device.session) device.session.dueMs = environment.clock.monotonicMs() + waitMs;
  await environment.sleep(waitMs);
}
