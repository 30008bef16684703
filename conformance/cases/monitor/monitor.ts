/**
 * Cases: alerts and monitor configuration of a device.
 * Spec: Device monitor; MonitorConfiguration
 */
import { acceptedDevice, requireResponse } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { defineScenario } from '../../suite/case.ts';
import { type InputTable, inputCases, otherThanString } from '../../suite/input-table.ts';
import {
  describeValue,
  expectEach,
  expectEqual,
  expectNoBody,
  expectStatus,
  expectThat,
  observationOf,
  observedResponse,
} from '../../target/expectations.ts';
import {
  alert,
  sendAlerts,
  sendConfiguration,
  service,
  subject,
  withDetails,
} from './monitor-samples.ts';

/** Bodies that are not a list of alerts. */
export const alertBodies: InputTable = {
  'malformed-alerts-are-400': {
    title: 'A body that is not a JSON array of alerts is answered with 400.',
    requirement: 'alerts.malformed-is-400',
    field: '',
    refused: {
      'JSON that is cut off': '[{"name":',
      'one alert': JSON.stringify(alert),
      'an array of strings': '["alert"]',
      'an array of null': '[null]',
      'an array of arrays': '[[]]',
      'a string': '"alert"',
      null: 'null',
    },
    covers: ['post-alerts 400'],
  },
  'alerts-without-body-are-400': {
    title: 'An alert request without a body is answered with 400.',
    requirement: 'alerts.body-is-required',
    field: '',
    refused: ['missing'],
  },
};

/** Every field of a monitor configuration, and the body. */
export const configurationInputs: InputTable = {
  'configuration-name-is-checked': {
    title: 'A monitor configuration whose name is missing or not a string is answered with 400.',
    requirement: 'monitor.name',
    field: '[].name',
    refused: ['missing', ...otherThanString],
  },
  'configuration-status-is-checked': {
    title: 'A monitor configuration whose status is missing or not a string is answered with 400.',
    requirement: 'monitor.status',
    field: '[].status',
    refused: ['missing', ...otherThanString],
  },
  'configuration-type-is-checked': {
    title: 'A monitor configuration whose type is missing or not a string is answered with 400.',
    requirement: 'monitor.type',
    field: '[].type',
    refused: ['missing', ...otherThanString],
  },
  'configuration-without-fields-is-400': {
    title:
      'A monitor configuration without any field, even after a valid one, is answered with 400.',
    requirement: 'monitor.fields-are-required',
    field: '',
    refused: { alone: '[{}]', 'after a valid one': JSON.stringify([service, {}]) },
  },
  'malformed-configuration-is-400': {
    title: 'A body that is not a JSON array of monitor configurations is answered with 400.',
    requirement: 'monitor.malformed-is-400',
    field: '',
    refused: {
      'JSON that is cut off': '[{"name":',
      'one configuration': JSON.stringify(service),
      'an array of strings': '["sshd"]',
      'an array of null': '[null]',
      'an array of arrays': '[[]]',
      'a string': '"sshd"',
      null: 'null',
    },
    covers: ['post-monitor-configuration 400'],
  },
  'configuration-without-body-is-400': {
    title: 'A monitor configuration request without a body is answered with 400.',
    requirement: 'monitor.body-is-required',
    field: '',
    refused: ['missing'],
  },
};

const alerts = defineScenario({
  area: 'monitor',
  name: 'Alerts',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'alerts-are-204',
      title: 'An array of alerts is answered with 204.',
      requirements: ['alerts.are-accepted'],
      covers: ['post-alerts 204'],
      run: async (device) => expectStatus(await sendAlerts(device, alert, alert), 204),
    },
    {
      id: 'critical-is-204',
      title: 'An alert of level CRITICAL is answered with 204.',
      requirements: ['alerts.level-critical'],
      run: async (device) =>
        expectStatus(await sendAlerts(device, { ...alert, level: 'CRITICAL' }), 204),
    },
    {
      id: 'ok-is-204',
      title: 'An alert of level OK, the return to normal, is answered with 204.',
      requirements: ['alerts.level-ok'],
      run: async (device) => expectStatus(await sendAlerts(device, { ...alert, level: 'OK' }), 204),
    },
    {
      id: 'alerts-have-no-response-body',
      title: 'The response to alerts has no body.',
      requirements: ['alerts.response-has-no-body'],
      run: async (device) => {
        const response = await sendAlerts(device, alert);
        requireResponse('post-alerts', response, 204);
        expectNoBody(response);
      },
    },
    {
      id: 'alerts-unauthenticated-is-401',
      title: 'Alerts without a token, or with a malformed one, are answered with 401.',
      requirements: ['alerts.need-a-token'],
      covers: ['post-alerts 401'],
      run: async (_, context) => {
        const callers = { 'no token': context.caller(), 'a word as token': context.caller('word') };
        await expectEach(401, callers, (caller) => caller.call('post-alerts', { body: [alert] }));
      },
    },
    {
      id: 'alert-is-shown',
      title: 'Users read the alert that the device sent.',
      requirements: ['alerts.are-shown'],
      run: async (device, context) => {
        await sendAlerts(device, alert);
        const shownAlerts = await context.eventually(
          () => context.admin.alerts(device.id),
          (all) => all.length > 0,
        );
        expectEqual('names', [...new Set(shownAlerts.map(({ name }) => name))], [alert.name]);
      },
    },
    {
      id: 'return-to-normal-is-shown',
      title: 'Users read the alert of level OK that follows one of level CRITICAL.',
      requirements: ['alerts.both-levels-are-shown'],
      run: async (device, context) => {
        await sendAlerts(device, alert, {
          ...alert,
          level: 'OK',
          timestamp: '2026-01-31T12:00:01Z',
        });
        const shownAlerts = await context.eventually(
          () => context.admin.alerts(device.id),
          (all) => all.length > 1,
        );
        const levels = shownAlerts.map(({ level }) => level).sort();
        expectEqual('levels', levels, ['CRITICAL', 'OK']);
      },
    },
    {
      id: 'alerts-of-one-moment-are-shown',
      title:
        'Users read each of several alerts with the same timestamp, sent together or one by one.',
      requirements: ['alerts.are-shown'],
      run: async (device, context) => {
        const [firstAlert, secondAlert, thirdAlert] = ['sshd', 'ntpd', 'cron'].map((name) => ({
          ...alert,
          name: `${name} is down`,
          subject: { ...subject, name },
        }));
        const responses = [
          await sendAlerts(device, firstAlert, secondAlert),
          await sendAlerts(device, thirdAlert),
        ];
        for (const response of responses) requireResponse('post-alerts', response, 204);
        const shownAlerts = await context.eventually(
          () => context.admin.alerts(device.id),
          (all) => all.length > 2,
        );
        const names = [firstAlert, secondAlert, thirdAlert].map((each) => each?.name);
        expectEqual('names', shownAlerts.map(({ name }) => name).sort(), names.sort());
      },
    },
    ...inputCases<SuiteDevice>(alertBodies, {
      body: [alert],
      send: (device, { raw }) => device.call('post-alerts', { raw }),
      accepted: [204],
    }),
    {
      id: 'no-alerts',
      title: 'How an empty array of alerts is answered.',
      requirements: ['alerts.empty'],
      observe: async (device) => observedResponse(await sendAlerts(device)),
    },
    {
      id: 'empty-strings-in-alerts',
      title: 'How an alert with an empty name, or an empty subject name, is answered.',
      requirements: ['alerts.empty-strings'],
      observe: async (device) => {
        const name = await sendAlerts(device, { ...alert, name: '' });
        const nested = { ...alert, subject: { ...subject, name: '' } };
        return observationOf(
          `name ${name.status}, in subject ${(await sendAlerts(device, nested)).status}`,
        );
      },
    },
    {
      id: 'large-alert',
      title: 'How alerts with a description of 30 KiB and of 40 KiB are answered.',
      requirements: ['alerts.size'],
      observe: async (device) => {
        const ofKib = (kib: number) => withDetails({ description: 'x'.repeat(kib * 1024) });
        const { status: small } = await sendAlerts(device, ofKib(30));
        return observationOf(
          `30 KiB: ${small}, 40 KiB: ${(await sendAlerts(device, ofKib(40))).status}`,
        );
      },
    },
    {
      id: 'null-details',
      title: 'How an alert with null details, or a null description, is answered.',
      requirements: ['alerts.null-details'],
      observe: async (device) => {
        const details = await sendAlerts(device, withDetails(null));
        const description = await sendAlerts(device, withDetails({ description: null }));
        return observationOf(`details ${details.status}, description ${description.status}`);
      },
    },
  ],
});

const configuration = defineScenario({
  area: 'monitor',
  name: 'Monitor configuration',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'configuration-is-204',
      title: 'A monitor configuration of two entries is answered with 204.',
      requirements: ['monitor.is-accepted'],
      covers: ['post-monitor-configuration 204'],
      run: async (device) => {
        const otherService = { ...service, name: 'ntpd' };
        expectStatus(await sendConfiguration(device, service, otherService), 204);
      },
    },
    {
      id: 'configuration-has-no-response-body',
      title: 'The response to a monitor configuration has no body.',
      requirements: ['monitor.response-has-no-body'],
      run: async (device) => {
        const response = await sendConfiguration(device, service);
        requireResponse('post-monitor-configuration', response, 204);
        expectNoBody(response);
      },
    },
    {
      id: 'configuration-unauthenticated-is-401',
      title:
        'A monitor configuration without a token, or with a malformed one, is answered with 401.',
      requirements: ['monitor.needs-a-token'],
      covers: ['post-monitor-configuration 401'],
      run: async (_, context) => {
        const callers = { 'no token': context.caller(), 'a word as token': context.caller('word') };
        await expectEach(401, callers, (caller) =>
          caller.call('post-monitor-configuration', { body: [service] }),
        );
      },
    },
    {
      id: 'configuration-is-stored',
      title: 'Users read every field of the configuration that the device sent.',
      requirements: ['monitor.is-stored'],
      run: async (device, context) => {
        await sendConfiguration(device, service);
        const [firstMonitor] = await context.eventually(
          () => context.admin.monitorConfiguration(device.id),
          (shownAlerts) => shownAlerts.length > 0,
        );
        const { name, status, type } = firstMonitor ?? {};
        expectEqual('configuration', { name, status, type }, service);
      },
    },
    {
      id: 'configuration-is-the-last-one',
      title: 'Users read the configuration that the device sent last.',
      requirements: ['monitor.is-current'],
      run: async (device, context) => {
        requireResponse(
          'post-monitor-configuration',
          await sendConfiguration(device, service),
          204,
        );
        await sendConfiguration(device, { ...service, status: 'disabled' });
        const shownAlerts = await context.eventually(
          () => context.admin.monitorConfiguration(device.id),
          (all) => all.length === 1 && all[0]?.status === 'disabled',
        );
        const statuses = shownAlerts.map((entry) => entry.status);
        expectThat(statuses.join() === 'disabled', 'the last one only', describeValue(statuses));
      },
    },
    ...inputCases<SuiteDevice>(configurationInputs, {
      body: [service],
      send: (device, { raw }) => device.call('post-monitor-configuration', { raw }),
      accepted: [204],
    }),
    {
      id: 'no-configuration',
      title: 'An empty array of monitor configurations is answered with 204.',
      requirements: ['monitor.empty'],
      run: async (device) => expectStatus(await sendConfiguration(device), 204),
    },
    {
      id: 'empty-strings-in-configuration',
      title: 'How a monitor configuration with an empty name is answered.',
      requirements: ['monitor.empty-strings'],
      observe: async (device) =>
        observedResponse(await sendConfiguration(device, { ...service, name: '' })),
    },
  ],
});

export const monitorCases = [...alerts, ...configuration];
