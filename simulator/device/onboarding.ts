/** The steps of a device after the server has accepted it and before its first poll. */
import type { ClientSession } from '../api-client/session.ts';
import type { SimulatedDevice } from './device.ts';
import { deviceTimeMs } from './device-time.ts';
import type { DeviceEnvironment } from './environment.ts';

/** One onboarding step. It throws ClientError when a request fails. */
type OnboardingStep = (
  device: SimulatedDevice,
  session: ClientSession,
  environment: DeviceEnvironment,
) => Promise<void>;

/** All onboarding steps, in the order in which they run. */
export const onboardingSteps: readonly OnboardingStep[] = [
  sendMonitorConfiguration,
  raiseAlert,
  clearAlert,
  adoptConfiguration,
];

const subject = { name: 'telemetry.service', type: 'systemd.unit' } as const;

async function sendMonitorConfiguration(
  _device: SimulatedDevice,
  session: ClientSession,
  { client }: DeviceEnvironment,
): Promise<void> {
  await client.postMonitorConfiguration(session, [{ ...subject, status: 'enabled' }]);
}

function raiseAlert(
  device: SimulatedDevice,
  session: ClientSession,
  environment: DeviceEnvironment,
): Promise<void> {
  return postAlert('CRITICAL', device, { session, environment });
}

function clearAlert(
  device: SimulatedDevice,
  session: ClientSession,
  environment: DeviceEnvironment,
): Promise<void> {
  return postAlert('OK', device, { session, environment });
}

async function postAlert(
  level: 'OK' | 'CRITICAL',
  device: SimulatedDevice,
  {
    session,
    environment,
  }: { readonly session: ClientSession; readonly environment: DeviceEnvironment },
): Promise<void> {
  const status = level === 'OK' ? 'running' : 'not-running';
  const timestamp = new Date(deviceTimeMs(device, environment)).toISOString();
  const alert = { name: 'Telemetry service', level, subject: { ...subject, status }, timestamp };
  await environment.client.postAlerts(session, [alert]);
}

/** Fetches the configuration, applies it and reports it. */
async function adoptConfiguration(
  device: SimulatedDevice,
  session: ClientSession,
  { client }: DeviceEnvironment,
): Promise<void> {
  device.configuration = await client.configuration(session);
  await client.reportConfiguration(session, device.configuration);
}
