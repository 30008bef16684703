/** Cases: alerts and monitor configuration of a device. Spec: Device monitor */
import { defineScenario } from '../case.ts';
import {
  expectEach,
  expectEqual,
  expectNoBody,
  expectPresent,
  expectStatus,
  observedAnswer,
} from '../expectations.ts';
import { acceptedDevice } from '../stage/start-states.ts';
import type { SuiteDevice } from '../stage/suite-device.ts';
import type { Answer } from '../target/target.ts';

const subject = { name: 'sshd', type: 'systemd.unit', status: 'not-running' };
const alert = {
  name: 'SSH is down',
  level: 'CRITICAL',
  subject,
  timestamp: '2026-01-31T12:00:00Z',
};
const details = {
  description: 'the log names a failure',
  lines_before: [{ line_number: 41, data: 'before' }],
  line_matching: { line_number: 42, data: 'failure' },
  lines_after: [{ line_number: 43, data: 'after' }],
};
const service = { name: 'sshd', status: 'enabled', type: 'service' };

function send(device: SuiteDevice, ...alerts: unknown[]): Promise<Answer> {
  return device.call('post-alerts', { body: alerts });
}

function configure(device: SuiteDevice, ...entries: unknown[]): Promise<Answer> {
  return device.call('post-monitor-configuration', { body: entries });
}

/** The members of an object but one. */
function but(name: string, members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([each]) => each !== name));
}

const alerts = defineScenario({
  area: 'monitor',
  name: 'Alerts',
  start: 'an accepted device',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'alerts-are-204',
      title: 'Alerts of level CRITICAL and of level OK are answered 204 without a body.',
      requirements: ['alerts.are-accepted'],
      covers: ['post-alerts 204'],
      run: async (device) => {
        const answer = await send(device, alert, { ...alert, level: 'OK' });
        expectStatus(answer, 204);
        expectNoBody(answer);
      },
    },
    {
      id: 'details-are-204',
      title: 'A subject may carry details: a description, and log lines with their numbers.',
      requirements: ['alerts.details'],
      run: async (device) =>
        expectStatus(await send(device, { ...alert, subject: { ...subject, details } }), 204),
    },
    {
      id: 'alert-is-shown',
      title: 'Users read the alert that the device sent.',
      requirements: ['alerts.are-shown'],
      run: async (device, stage) => {
        await send(device, alert);
        const shown = await stage.settled(
          () => stage.operator.alerts(device.id),
          (found) => found.length > 0,
        );
        const [first] = shown;
        expectEqual('name', expectPresent('an alert', first).name, alert.name);
      },
    },
    {
      id: 'missing-field-is-400',
      title: 'An alert without its name, level, subject or timestamp is answered 400.',
      requirements: ['alerts.fields-are-required'],
      covers: ['post-alerts 400'],
      run: async (device) => {
        const fields = { name: 'name', level: 'level', subject: 'subject', timestamp: 'timestamp' };
        await expectEach(400, fields, (field) => send(device, but(field, alert)));
      },
    },
    {
      id: 'missing-subject-field-is-400',
      title: 'An alert whose subject lacks its name, type or status is answered 400.',
      requirements: ['alerts.subject-fields-are-required'],
      run: async (device) => {
        const fields = { name: 'name', type: 'type', status: 'status' };
        await expectEach(400, fields, (field) =>
          send(device, { ...alert, subject: but(field, subject) }),
        );
      },
    },
    {
      id: 'missing-line-field-is-400',
      title: 'A log line without its number or its data is answered 400.',
      requirements: ['alerts.line-fields-are-required'],
      run: async (device) => {
        const lines = {
          'no line_number': { line_matching: { data: 'failure' } },
          'no data': { line_matching: { line_number: 42 } },
          'no data in lines_before': { lines_before: [{ line_number: 41 }] },
        };
        await expectEach(400, lines, (line) =>
          send(device, { ...alert, subject: { ...subject, details: line } }),
        );
      },
    },
    {
      id: 'other-level-is-400',
      title: 'A level other than OK and CRITICAL, or in another spelling, is answered 400.',
      requirements: ['alerts.levels'],
      run: async (device) => {
        const levels = { WARNING: 'WARNING', critical: 'critical', 'an empty text': '' };
        await expectEach(400, levels, (level) => send(device, { ...alert, level }));
      },
    },
    {
      id: 'malformed-timestamp-is-400',
      title: 'A timestamp that is no date-time is answered 400.',
      requirements: ['alerts.timestamp'],
      run: async (device) => {
        const timestamps = { 'a word': 'yesterday', 'a number': 1_769_860_800 };
        await expectEach(400, timestamps, (timestamp) => send(device, { ...alert, timestamp }));
      },
    },
    {
      id: 'malformed-alerts-are-400',
      title: 'A body that is no JSON array of alerts is answered 400.',
      requirements: ['alerts.malformed-is-400'],
      run: async (device) => {
        const bodies = {
          'no JSON': '[{"name":',
          'one alert': JSON.stringify(alert),
          'an array of texts': '["alert"]',
          'a text as subject': JSON.stringify([{ ...alert, subject: 'sshd' }]),
        };
        await expectEach(400, bodies, (raw) => device.call('post-alerts', { raw }));
      },
    },
    {
      id: 'no-alerts',
      title: 'An empty array of alerts.',
      requirements: ['alerts.empty'],
      observe: async (device) => observedAnswer(await send(device)),
    },
  ],
});

const configuration = defineScenario({
  area: 'monitor',
  name: 'Monitor configuration',
  start: 'an accepted device',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'configuration-is-204',
      title: 'The monitor configuration is answered 204 without a body.',
      requirements: ['monitor.is-accepted'],
      covers: ['post-monitor-configuration 204'],
      run: async (device) => {
        const answer = await configure(device, service);
        expectStatus(answer, 204);
        expectNoBody(answer);
      },
    },
    {
      id: 'configuration-is-stored',
      title: 'Users read the configuration that the device sent last.',
      requirements: ['monitor.is-stored'],
      run: async (device, stage) => {
        await configure(device, service);
        await configure(device, { ...service, status: 'disabled' });
        const [shown] = await stage.settled(
          () => stage.operator.monitorConfiguration(device.id),
          ([first]) => first?.status === 'disabled',
        );
        expectEqual('status', shown?.status, 'disabled');
      },
    },
    {
      id: 'missing-configuration-field-is-400',
      title: 'A monitor configuration without its name, status or type is answered 400.',
      requirements: ['monitor.fields-are-required'],
      covers: ['post-monitor-configuration 400'],
      run: async (device) => {
        const fields = { name: 'name', status: 'status', type: 'type' };
        await expectEach(400, fields, (field) => configure(device, but(field, service)));
      },
    },
    {
      id: 'malformed-configuration-is-400',
      title: 'A body that is no JSON array of monitor configurations is answered 400.',
      requirements: ['monitor.malformed-is-400'],
      run: async (device) => {
        const bodies = {
          'no JSON': '[{"name":',
          'one configuration': JSON.stringify(service),
          'a number as name': JSON.stringify([{ ...service, name: 7 }]),
        };
        await expectEach(400, bodies, (raw) => device.call('post-monitor-configuration', { raw }));
      },
    },
  ],
});

/** Spec: Device monitor */
export const monitorCases = [...alerts, ...configuration];
