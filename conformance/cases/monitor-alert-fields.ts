/** Cases: each field of an alert. Spec: Alert */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { acceptedDevice } from '../context/start-states.ts';
import type { SuiteDevice } from '../context/suite-device.ts';
import { defineScenario, type JudgingCase } from '../suite/case.ts';
import { expectEach } from '../target/expectations.ts';
import { alert, detailed, line, notAText, sendAlerts, subject } from './monitor-samples.ts';

/**
 * One field: alerts that are accepted for each allowed value of it, and alerts that are refused.
 */
interface FieldRow {
  readonly id: string;
  readonly words: string;
  readonly requirement: RequirementId;
  readonly refused: Readonly<Record<string, object>>;
  readonly accepted?: Readonly<Record<string, object>>;
}

function inSubject(subjects: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  const entries = Object.entries(subjects);
  return Object.fromEntries(entries.map(([name, one]) => [name, { ...alert, subject: one }]));
}

function inDetails(details: Readonly<Record<string, unknown>>): Readonly<Record<string, object>> {
  const entries = Object.entries(details);
  return Object.fromEntries(entries.map(([name, one]) => [name, detailed(one)]));
}

/** Returns a line at each of the three places where one is allowed. */
function asLine(lines: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(lines).flatMap(([name, one]) => [
      [`${name} in lines_before`, detailed({ lines_before: [line, one] })],
      [`${name} in line_matching`, detailed({ line_matching: one })],
      [`${name} in lines_after`, detailed({ lines_after: [one] })],
    ]),
  );
}

function notALine(member: string): Readonly<Record<string, unknown>> {
  return {
    [`a text as ${member}`]: { [member]: 'failure' },
    [`a number as ${member}`]: { [member]: 42 },
    [`a list as ${member}`]: { [member]: [line] },
  };
}

function notALineList(member: string): Readonly<Record<string, unknown>> {
  return {
    [`one line as ${member}`]: { [member]: line },
    [`a text as ${member}`]: { [member]: 'failure' },
    [`a number as ${member}`]: { [member]: 42 },
    [`texts in ${member}`]: { [member]: ['failure'] },
    [`null in ${member}`]: { [member]: [null] },
  };
}

const alertRows: readonly FieldRow[] = [
  {
    id: 'alert-name',
    words: 'the name of an alert',
    requirement: 'alerts.name',
    refused: notAText('name', alert),
    accepted: { 'any script': { ...alert, name: 'SSH 鍵 🗝 "down"' } },
  },
  {
    id: 'alert-level',
    words: 'the level of an alert',
    requirement: 'alerts.level',
    refused: notAText('level', alert),
  },
  {
    id: 'alert-level-value',
    words: 'a level other than OK and CRITICAL, or in another spelling,',
    requirement: 'alerts.levels',
    refused: Object.fromEntries(
      ['WARNING', 'critical', 'Ok', 'CRITICAL ', ' OK', 'ERROR', ''].map((level) => [
        `the level "${level}"`,
        { ...alert, level },
      ]),
    ),
  },
  {
    id: 'alert-subject',
    words: 'the subject of an alert',
    requirement: 'alerts.subject',
    refused: {
      'no subject': { name: alert.name, level: alert.level, timestamp: alert.timestamp },
      'null as subject': { ...alert, subject: null },
      'a text as subject': { ...alert, subject: 'sshd' },
      'a number as subject': { ...alert, subject: 7 },
      'an array as subject': { ...alert, subject: [subject] },
    },
  },
  {
    id: 'alert-timestamp',
    words: 'the timestamp of an alert',
    requirement: 'alerts.timestamp',
    refused: {
      ...notAText('timestamp', alert),
      'a word': { ...alert, timestamp: 'yesterday' },
      'an empty text': { ...alert, timestamp: '' },
      'Unix seconds': { ...alert, timestamp: '1769860800' },
      'a day that does not exist': { ...alert, timestamp: '2026-02-30T12:00:00Z' },
    },
    accepted: {
      'a fraction': { ...alert, timestamp: '2026-01-31T12:00:00.123456Z' },
      'an offset': { ...alert, timestamp: '2026-01-31T12:00:00+05:30' },
    },
  },
  {
    id: 'alert-without-fields',
    words: 'an alert without any field',
    requirement: 'alerts.fields-are-required',
    refused: { 'an empty object': {} },
  },
];

const subjectRows: readonly FieldRow[] = [
  {
    id: 'subject-name',
    words: 'the name of a subject',
    requirement: 'alerts.subject-name',
    refused: inSubject(notAText('name', subject)),
  },
  {
    id: 'subject-type',
    words: 'the type of a subject',
    requirement: 'alerts.subject-type',
    refused: inSubject(notAText('type', subject)),
    accepted: inSubject({ 'a log': { ...subject, type: 'log' } }),
  },
  {
    id: 'subject-status',
    words: 'the status of a subject',
    requirement: 'alerts.subject-status',
    refused: inSubject(notAText('status', subject)),
    accepted: inSubject({ running: { ...subject, status: 'running' } }),
  },
  {
    id: 'subject-without-fields',
    words: 'a subject without any field',
    requirement: 'alerts.subject-fields-are-required',
    refused: inSubject({ 'an empty subject': {} }),
  },
];

const detailRows: readonly FieldRow[] = [
  {
    id: 'subject-details',
    words: 'the details of a subject',
    requirement: 'alerts.details',
    refused: inDetails({
      'a text as details': 'the log names a failure',
      'a number as details': 7,
      'an array as details': [{ description: 'text' }],
    }),
    accepted: inDetails({ 'empty details': {} }),
  },
  {
    id: 'details-description',
    words: 'the description in details',
    requirement: 'alerts.details-description',
    refused: inDetails({
      'a number as description': { description: 7 },
      'a boolean as description': { description: true },
      'an object as description': { description: {} },
      'an array as description': { description: ['text'] },
    }),
    accepted: inDetails({ 'a text': { description: 'the log names a failure' } }),
  },
  {
    id: 'details-lines-before',
    words: 'the lines before the matching one',
    requirement: 'alerts.lines-before',
    refused: inDetails(notALineList('lines_before')),
    accepted: inDetails({ 'no line': { lines_before: [] }, lines: { lines_before: [line, line] } }),
  },
  {
    id: 'details-line-matching',
    words: 'the matching line',
    requirement: 'alerts.line-matching',
    refused: inDetails(notALine('line_matching')),
    accepted: inDetails({ 'a line': { line_matching: line } }),
  },
  {
    id: 'details-lines-after',
    words: 'the lines after the matching one',
    requirement: 'alerts.lines-after',
    refused: inDetails(notALineList('lines_after')),
    accepted: inDetails({ 'no line': { lines_after: [] }, lines: { lines_after: [line, line] } }),
  },
  {
    id: 'line-number',
    words: 'the number of a line',
    requirement: 'alerts.line-number',
    refused: asLine({
      'no line_number': { data: 'failure' },
      'null as line_number': { ...line, line_number: null },
      'a text as line_number': { ...line, line_number: '42' },
      'a fraction as line_number': { ...line, line_number: 42.5 },
      'a boolean as line_number': { ...line, line_number: true },
      'an array as line_number': { ...line, line_number: [42] },
    }),
    accepted: asLine({ 'a large number': { ...line, line_number: 2_147_483_647 } }),
  },
  {
    id: 'line-data',
    words: 'the data of a line',
    requirement: 'alerts.line-data',
    refused: asLine(notAText('data', line)),
    accepted: asLine({ 'an empty line': { ...line, data: '' } }),
  },
  {
    id: 'line-without-fields',
    words: 'a line without any field',
    requirement: 'alerts.line-fields-are-required',
    refused: asLine({ 'an empty line': {} }),
  },
];

/** Every field of an alert, with accepted and refused values. */
export const alertFieldRows = [...alertRows, ...subjectRows, ...detailRows];

function casesOf(row: FieldRow): readonly JudgingCase<SuiteDevice>[] {
  const { id, words, requirement, refused, accepted } = row;
  const refusal: JudgingCase<SuiteDevice> = {
    id: `${id}-is-checked`,
    title: `An alert is answered 400 for ${words} when it is missing or not as it has to be.`,
    requirements: [requirement],
    covers: ['post-alerts 400'],
    run: async (device) => expectEach(400, refused, (one) => sendAlerts(device, one)),
  };
  if (!accepted) return [refusal];
  const acceptance: JudgingCase<SuiteDevice> = {
    id: `${id}-is-accepted`,
    title: `An alert is answered 204 for ${words} in each of the forms that are allowed.`,
    requirements: [requirement],
    run: async (device) => expectEach(204, accepted, (one) => sendAlerts(device, one)),
  };
  return [refusal, acceptance];
}

/** Spec: Alert */
export const monitorAlertFieldCases = defineScenario({
  area: 'monitor',
  name: 'Fields of an alert',
  start: 'an accepted device whose alerts are accepted',
  risk: 'write',
  needs: ['operator'],
  arrange: async (context) => {
    const device = await acceptedDevice(context);
    await expectEach(204, { 'a good alert': alert }, (good) => sendAlerts(device, good));
    return device;
  },
  cases: alertFieldRows.flatMap(casesOf),
});
