/** Lets users read the alerts and monitor configurations of devices. */
import { timestampMs } from '../../../fixtures/contract/text.ts';
import { JsonList } from '../../http/json-list.ts';
import { Refusal } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { audit, userActor } from '../../tenants/audit.ts';
import { ifGiven } from '../optional.ts';
import { pagedResponse } from '../paging.ts';
import { visibleDevice } from './visible-devices.ts';

export const listAlerts = defineEndpoint('list-alerts', ({ parameters, query }, context) => {
  const { store } = context;
  const device = visibleDevice(context, parameters.id);
  if (device instanceof Refusal) return device;
  const filter = {
    issuedAfterMs: ifGiven(query.issued_after, timestampMs),
    issuedBeforeMs: ifGiven(query.issued_before, timestampMs),
  };
  const order = query.sort ?? (query.sort_ascending === 'true' ? 'asc' : 'desc');
  return pagedResponse(context, query, {
    total: store.monitor.countAlerts(device.id, filter),
    list: (page) =>
      JsonList.ofEach(
        store.monitor.alerts(device.id, { ...filter, order }, page),
        (seq) => store.monitor.findAlert(seq),
        context,
      ),
  });
});

export const listLatestAlerts = defineEndpoint(
  'list-latest-alerts',
  async ({ parameters, query }, context) => {
    const { monitor } = context.store;
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    // CRITICAL is the higher of the two levels, so the filter OK selects all subjects.
    const level = query.level_from === 'CRITICAL' ? query.level_from : undefined;
    const subjects = monitor.subjects(device.id, level);
    const last = (subject: (typeof subjects)[number]) => monitor.findLatest(device.id, subject);
    return { status: 200, body: await JsonList.ofEach(subjects, last, context) };
  },
);

export const showMonitorConfiguration = defineEndpoint(
  'show-monitor-configuration',
  ({ parameters }, context) => {
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    return { status: 200, body: context.store.monitor.findConfiguration(device.id) ?? [] };
  },
);

export const switchAlertEmails = defineEndpoint('switch-alert-emails', ({ body }, context) => {
  const { store, tenant, user } = context;
  if (store.tenantSettings.sendsAlertEmails() === body.enabled) return { status: 204 };
  store.tenantSettings.setAlertEmails(body.enabled);
  audit(context, {
    actor: userActor(user),
    action: 'update',
    object: { id: tenant.id, type: 'tenant', tenant: { id: tenant.id, name: tenant.name } },
    change: `alerts by email: ${body.enabled ? 'on' : 'off'}`,
  });
  return { status: 204 };
});
