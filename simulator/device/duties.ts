/** What a device does once after it has been let in, before it polls for the first time. */
import type { Session } from '../client/session.ts';
import type { Device } from './device.ts';
import type { World } from './world.ts';

/** One thing to do; it may fail with ClientError. */
type Duty = (device: Device, session: Session, world: World) => Promise<void>;

/** In the order in which they are done. */
export const duties: readonly Duty[] = [
  sendMonitorConfiguration,
  raiseAlert,
  clearAlert,
  adoptConfiguration,
];

const subject = { name: 'telemetry.service', type: 'systemd.unit' } as const;

async function sendMonitorConfiguration(
  _device: Device,
  session: Session,
  { client }: World,
): Promise<void> {
  await client.postMonitorConfiguration(session, [{ ...subject, status: 'enabled' }]);
}

function raiseAlert(_device: Device, session: Session, world: World): Promise<void> {
  return postAlert('CRITICAL', session, world);
}

function clearAlert(_device: Device, session: Session, world: World): Promise<void> {
  return postAlert('OK', session, world);
}

async function postAlert(
  level: 'OK' | 'CRITICAL',
  session: Session,
  { client, clock }: World,
): Promise<void> {
  const status = level === 'OK' ? 'running' : 'not-running';
  const timestamp = new Date(clock.now()).toISOString();
  const alert = { name: 'Telemetry service', level, subject: { ...subject, status }, timestamp };
  await client.postAlerts(session, [alert]);
}

/** Fetches the settings, makes them its own and tells so. */
async function adoptConfiguration(
  device: Device,
  session: Session,
  { client }: World,
): Promise<void> {
  device.configuration = await client.configuration(session);
  await client.reportConfiguration(session, device.configuration);
}
