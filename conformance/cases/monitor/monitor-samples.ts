/** Valid alerts and monitor configurations, which the monitor cases modify. */
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { HttpResponse } from '../../target/response.ts';

/** The subject of the sample alert: a systemd unit that does not run. */
export const subject = { name: 'sshd', type: 'systemd.unit', status: 'not-running' };

/** An alert without optional fields. */
export const alert = {
  name: 'SSH is down',
  level: 'CRITICAL',
  subject,
  timestamp: '2026-01-31T12:00:00Z',
};

/** A line of a log. */
export const line = { line_number: 42, data: 'failure' };

/** One entry of a monitor configuration. */
export const service = { name: 'sshd', status: 'enabled', type: 'service' };

/** Returns the alert with these details. */
export function withDetails(details: unknown): object {
  return { ...alert, subject: { ...subject, details } };
}

/** Sends alerts as a JSON array. */
export function sendAlerts(
  device: SuiteDevice,
  ...alerts: readonly unknown[]
): Promise<HttpResponse> {
  return device.call('post-alerts', { body: alerts });
}

/** Sends a monitor configuration as a JSON array. */
export function sendConfiguration(
  device: SuiteDevice,
  ...entries: readonly unknown[]
): Promise<HttpResponse> {
  return device.call('post-monitor-configuration', { body: entries });
}
