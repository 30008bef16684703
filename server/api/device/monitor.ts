/** Receives alerts and the monitor configuration from devices. Spec: Device monitor */
import { limits } from '../../../fixtures/contract/limits.ts';
import type { Alert } from '../../../fixtures/contract/resources.ts';
import { timestampMs } from '../../../fixtures/contract/text.ts';
import { type DeviceContext, defineEndpoint } from '../../pipeline/endpoint.ts';

export const postAlerts = defineEndpoint('post-alerts', ({ body }, context) => {
  const { store, device, random } = context;
  const alerts = body.map((alert) => {
    const issuedMs = timestampMs(alert.timestamp);
    const timestamp = new Date(issuedMs).toISOString();
    return { id: random.uuid(), alert: { ...alert, timestamp }, issuedMs };
  });
  store.monitor.appendAlerts(device.id, alerts);
  if (store.tenantSettings.sendsAlertEmails()) {
    const everybody = { id: [], email: [] };
    const page = { page: 1, perPage: limits.alertMailRecipientsMax };
    const recipients = store.users.list(everybody, page).map(({ email }) => email);
    for (const { alert } of alerts) notifyRecipients(context, alert, recipients);
  }
  return { status: 204 };
});

/**
 * Sends an email for each alert to each user, also for resolved alerts, as the reference
 * implementation does.
 */
function notifyRecipients(
  { tenant, outbox, device, nowMs }: DeviceContext,
  { name, level, subject, timestamp }: Alert,
  recipients: readonly string[],
): void {
  const mail = {
    tenantId: tenant.id,
    deviceId: device.id,
    subject: `${level}: ${name}`,
    text: `${subject.name} (${subject.type}) has been ${subject.status} since ${timestamp}`,
    createdMs: nowMs,
  };
  for (const to of recipients) outbox.postAlert({ ...mail, to });
}

export const postMonitorConfiguration = defineEndpoint(
  'post-monitor-configuration',
  ({ body }, { store, device }) => {
    store.monitor.saveConfiguration(device.id, body);
    return { status: 204 };
  },
);
