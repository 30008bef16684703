/** Alerts and monitor configuration of devices. Spec: Device monitor */
import { timestampMs } from '../../fixtures/contract/text.ts';
import { defineEndpoint } from '../http/endpoint.ts';

export const postAlerts = defineEndpoint('post-alerts', ({ body }, { store, device, random }) => {
  const alerts = body.map((alert) => {
    const issuedMs = timestampMs(alert.timestamp);
    const timestamp = new Date(issuedMs).toISOString();
    return { id: random.uuid(), alert: { ...alert, timestamp }, issuedMs };
  });
  store.monitor.appendAlerts(device.id, alerts);
  return { status: 204 };
});

export const postMonitorConfiguration = defineEndpoint(
  'post-monitor-configuration',
  ({ body }, { store, device }) => {
    store.monitor.saveConfiguration(device.id, body);
    return { status: 204 };
  },
);
