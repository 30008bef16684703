/** Cases: each field of an alert. Spec: Alert */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { acceptedDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  type InputRow,
  type InputTable,
  inputCases,
  namedValues,
  otherThanString,
} from '../../suite/input-table.ts';
import { expectEach } from '../../target/expectations.ts';
import { alert, line, sendAlerts } from './monitor-samples.ts';

type Values = Readonly<Record<string, unknown>>;

/** One field: its refused values, and its accepted values, which form a separate case. */
interface AlertField {
  readonly label: string;
  readonly requirement: RequirementId;
  readonly field: string;
  readonly refused: Values;
  readonly accepted?: Values;
}

const notAString = namedValues('missing', ...otherThanString);

const notALine = { 'a string': 'failure', 'a number': 42, 'an array': [line] };

const notALineList = {
  'one line': line,
  'a string': 'failure',
  'a number': 42,
  'an array of a string': ['failure'],
  'an array of null': [null],
};

const lineLists = { 'no line': [], lines: [line, line] };

/** Returns alert details with each line at each of the three places where a line is allowed. */
function detailsWith(lines: Values): Values {
  return Object.fromEntries(
    Object.entries(lines).flatMap(([name, one]) => [
      [`${name} in lines_before`, { lines_before: [line, one] }],
      [`${name} in line_matching`, { line_matching: one }],
      [`${name} in lines_after`, { lines_after: [one] }],
    ]),
  );
}

/** Returns alert details with lines whose member has each of the values; undefined omits it. */
function detailsWithMember(member: keyof typeof line, values: Values): Values {
  const lines = Object.entries(values).map(([name, value]) => [name, { ...line, [member]: value }]);
  return detailsWith(Object.fromEntries(lines));
}

const fields: Readonly<Record<string, AlertField>> = {
  'alert-name': {
    label: 'the name of an alert',
    requirement: 'alerts.name',
    field: '[].name',
    refused: notAString,
    accepted: { 'any script': 'SSH 鍵 🗝 "down"' },
  },
  'alert-level': {
    label: 'the level of an alert',
    requirement: 'alerts.level',
    field: '[].level',
    refused: notAString,
  },
  'alert-level-value': {
    label: 'a level other than OK and CRITICAL, or in another spelling,',
    requirement: 'alerts.levels',
    field: '[].level',
    refused: Object.fromEntries(
      ['WARNING', 'critical', 'Ok', 'CRITICAL ', ' OK', 'ERROR', ''].map((level) => [
        `"${level}"`,
        level,
      ]),
    ),
  },
  'alert-subject': {
    label: 'the subject of an alert',
    requirement: 'alerts.subject',
    field: '[].subject',
    refused: { ...namedValues('missing', 'null', 'string', 'number'), 'an array': [alert.subject] },
  },
  'alert-timestamp': {
    label: 'the timestamp of an alert',
    requirement: 'alerts.timestamp',
    field: '[].timestamp',
    refused: {
      ...notAString,
      'a word': 'yesterday',
      'an empty string': '',
      'Unix seconds': '1769860800',
      'a day that does not exist': '2026-02-30T12:00:00Z',
    },
    accepted: {
      'a fraction': '2026-01-31T12:00:00.123456Z',
      'an offset': '2026-01-31T12:00:00+05:30',
      'long ago': '1970-01-01T00:00:00Z',
      'a clock that is ahead': '2099-12-31T23:59:59Z',
    },
  },
  'alert-without-fields': {
    label: 'an alert without any field',
    requirement: 'alerts.fields-are-required',
    field: '[]',
    refused: namedValues('object'),
  },
  'subject-name': {
    label: 'the name of a subject',
    requirement: 'alerts.subject-name',
    field: '[].subject.name',
    refused: notAString,
  },
  'subject-type': {
    label: 'the type of a subject',
    requirement: 'alerts.subject-type',
    field: '[].subject.type',
    refused: notAString,
    accepted: { 'a log': 'log' },
  },
  'subject-status': {
    label: 'the status of a subject',
    requirement: 'alerts.subject-status',
    field: '[].subject.status',
    refused: notAString,
    accepted: { running: 'running' },
  },
  'subject-without-fields': {
    label: 'a subject without any field',
    requirement: 'alerts.subject-fields-are-required',
    field: '[].subject',
    refused: namedValues('object'),
  },
  'subject-details': {
    label: 'the details of a subject',
    requirement: 'alerts.details',
    field: '[].subject.details',
    refused: { ...namedValues('string', 'number'), 'an array': [{ description: 'text' }] },
    accepted: namedValues('object'),
  },
  'details-description': {
    label: 'the description in details',
    requirement: 'alerts.details-description',
    field: '[].subject.details.description',
    refused: namedValues('number', 'boolean', 'object', 'array'),
    accepted: { 'a string': 'the log names a failure' },
  },
  'details-lines-before': {
    label: 'the lines before the matching one',
    requirement: 'alerts.lines-before',
    field: '[].subject.details.lines_before',
    refused: notALineList,
    accepted: lineLists,
  },
  'details-line-matching': {
    label: 'the matching line',
    requirement: 'alerts.line-matching',
    field: '[].subject.details.line_matching',
    refused: notALine,
    accepted: { 'a line': line },
  },
  'details-lines-after': {
    label: 'the lines after the matching one',
    requirement: 'alerts.lines-after',
    field: '[].subject.details.lines_after',
    refused: notALineList,
    accepted: lineLists,
  },
  'line-number': {
    label: 'the number of a line',
    requirement: 'alerts.line-number',
    field: '[].subject.details',
    refused: detailsWithMember('line_number', {
      ...namedValues('missing', 'null', 'boolean', 'array'),
      'a string': '42',
      'a fraction': 42.5,
    }),
    accepted: detailsWithMember('line_number', { zero: 0, 'a large number': 2_147_483_647 }),
  },
  'line-data': {
    label: 'the data of a line',
    requirement: 'alerts.line-data',
    field: '[].subject.details',
    refused: detailsWithMember('data', notAString),
    accepted: detailsWithMember('data', { 'an empty line': '' }),
  },
  'line-without-fields': {
    label: 'a line without any field',
    requirement: 'alerts.line-fields-are-required',
    field: '[].subject.details',
    refused: detailsWith({ 'an empty line': {} }),
  },
};

/** Returns a row for the refused values of a field, and one for the accepted values. */
function rowsOf([id, row]: [string, AlertField]): readonly [string, InputRow][] {
  const { label, requirement, field, refused, accepted } = row;
  const isChecked: InputRow = {
    title: `An alert is answered with 400 if ${label} is missing or invalid.`,
    requirement,
    field,
    refused,
    covers: ['post-alerts 400'],
  };
  if (!accepted) return [[`${id}-is-checked`, isChecked]];
  const title = `An alert is answered with 204 for each allowed form of ${label}.`;
  return [
    [`${id}-is-checked`, isChecked],
    [`${id}-is-accepted`, { title, requirement, field, accepted }],
  ];
}

/** Every field of an alert. */
export const alertInputs: InputTable = Object.fromEntries(Object.entries(fields).flatMap(rowsOf));

export const monitorAlertFieldCases = defineScenario({
  area: 'monitor',
  name: 'Fields of an alert',
  start: 'an accepted device whose alerts are accepted',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const device = await acceptedDevice(context);
    await expectEach(204, { 'a valid alert': alert }, (validAlert) =>
      sendAlerts(device, validAlert),
    );
    return device;
  },
  cases: inputCases<SuiteDevice>(alertInputs, {
    body: [alert],
    send: (device, { raw }) => device.call('post-alerts', { raw }),
    accepted: [204],
  }),
});
