/**
 * Cases: users read alerts and monitor configurations of every kind as the device sent them.
 * Spec: Device monitor; Alert; MonitorConfiguration
 */
import { acceptedDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { ShownAlert } from '../../context/target-admin.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectStatus,
  sorted,
} from '../../target/expectations.ts';
import { type Members, membersOf } from '../../target/json-members.ts';
import { alert, sendAlerts, sendConfiguration, service, subject } from './monitor-samples.ts';

/** Tolerated rounding of a time, whose fraction a server may cut. */
const ROUNDED_MS = 1000;

function line(line_number: number, data = `line ${line_number}`): object {
  return { line_number, data };
}

function manyLines(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => line(index + 1));
}

/** Details in every combination of members, with lists of none, one, many, and a double. */
const details: readonly (object | undefined)[] = [
  undefined,
  {},
  { description: 'größer <i>als</i> "7"  ' },
  { line_matching: line(1, '') },
  { lines_before: [line(3), line(1), line(3)] },
  { lines_after: [line(9), line(2_147_483_647), line(9)] },
  { line_matching: line(0, 'zero'), lines_before: manyLines(11), lines_after: manyLines(60) },
  { description: 'both', lines_before: [], lines_after: [line(4)] },
  {
    description: 'all',
    lines_before: [line(5, 'same'), line(6, 'same')],
    line_matching: line(7, '日本 😀'),
    lines_after: [line(8, '\ttab')],
  },
];

/** Alerts of which some differ from the first in one member alone. */
const variants: readonly object[] = [
  ...details.map((each) => (each ? { ...alert, subject: { ...subject, details: each } } : alert)),
  { ...alert, level: 'OK' },
  { ...alert, subject: { ...subject, name: 'SSHD' } },
  { ...alert, subject: { ...subject, type: 'größer ☃' } },
  { ...alert, subject: { ...subject, status: 'running' } },
  { ...alert, timestamp: '2026-01-31T17:30:30+05:30' },
  { ...alert, timestamp: '2026-01-31T01:00:45.75-11:00' },
  // By devices whose clock is wrong.
  { ...alert, timestamp: '1970-01-01T00:00:10Z' },
  { ...alert, timestamp: '2099-12-31T23:59:59Z' },
];

/** The variants, each with a name of its own. */
const sentAlerts = variants.map((variant, index) => ({
  ...alert,
  ...variant,
  name: `variant ${index} é`,
}));

/** Returns an alert without empty lists, which a server may omit, and with its time as a number. */
function contentOf(shownAlert: ShownAlert | (typeof sentAlerts)[number] | undefined): Members {
  const { name, level, timestamp, subject: origin } = membersOf(shownAlert);
  const { details, ...named } = membersOf(origin);
  const filled = Object.entries(membersOf(details)).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  );
  return {
    name,
    level,
    subject: Object.fromEntries(Object.entries(named).sort()),
    second: Math.floor(Date.parse(String(timestamp)) / ROUNDED_MS),
    details: Object.fromEntries(filled.sort()),
  };
}

const alerts = defineScenario<SuiteDevice>({
  area: 'monitor',
  name: 'Alerts of every form',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'alerts-of-every-form-are-shown-whole',
      title: 'Users read every member of alerts that differ in one member, sent in two requests.',
      requirements: ['alerts.are-shown', 'service.legal-values-are-kept'],
      run: async (device, context) => {
        const half = Math.ceil(sentAlerts.length / 2);
        for (const part of [sentAlerts.slice(0, half), sentAlerts.slice(half)]) {
          expectStatus(await sendAlerts(device, ...part), 204);
        }
        const shownAlerts = await context.eventually(
          () => context.admin.alerts(device.id),
          ({ length }) => length >= sentAlerts.length,
        );
        for (const each of sentAlerts) {
          const namesakes = shownAlerts.filter(({ name }) => name === each.name);
          if (namesakes.length !== 1) {
            const times = `${namesakes.length} times`;
            throw new ExpectationFailure(`once ${describeValue(each)}`, times, [
              'alerts.are-shown',
            ]);
          }
          expectEqual('alert', contentOf(namesakes[0]), contentOf(each));
        }
      },
    },
  ],
});

/** Lists of monitors, which share some entries; some differ in one member alone. */
const lists = [
  [service, { ...service, type: 'log' }, { ...service, name: 'größer "☃"' }],
  [{ ...service, name: 'b' }, service, { ...service, name: 'a' }, { ...service, name: 'B' }],
  [{ ...service, status: 'disabled' }],
  [service, { ...service, status: 'disabled' }],
  [service, { ...service, type: 'Service' }],
] as const;

const monitors = defineScenario<SuiteDevice>({
  area: 'monitor',
  name: 'Monitor configurations of every form',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'configurations-follow-one-another-whole',
      title:
        'Users read exactly the entries of the last configuration, whatever it shares with others.',
      requirements: ['monitor.is-stored', 'monitor.is-current', 'service.legal-values-are-kept'],
      run: async (device, context) => {
        for (const list of lists) {
          expectStatus(await sendConfiguration(device, ...list), 204);
          const expectedMonitors = sorted(
            list.map(({ name, status, type }) => ({ name, status, type })),
          );
          const readEntries = async () => {
            const all = await context.admin.monitorConfiguration(device.id);
            return sorted(all.map(({ name, status, type }) => ({ name, status, type })));
          };
          const shownMonitors = await context.eventually(
            readEntries,
            (all) => describeValue(all) === describeValue(expectedMonitors),
          );
          expectEqual('monitors', shownMonitors, expectedMonitors);
        }
      },
    },
  ],
});

/** Spec: Device monitor; Alert; MonitorConfiguration */
export const monitorVariantCases = [...alerts, ...monitors];
