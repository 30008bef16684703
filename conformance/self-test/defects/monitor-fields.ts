/**
 * Defects in the fields of alerts and of monitor configurations: requirements that are not
 * enforced.
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { entriesOf, isMap, type Members, membersOf } from '../../target/json-members.ts';
import { listOf } from '../alter.ts';
import { statusBecomes } from '../alterations.ts';
import type { Defect, ProxiedRequest } from '../defect.ts';

/** The operation that accepts alerts. */
export const alerts = ['post-alerts'] as const;
/** The operation that accepts monitor configurations. */
export const configurations = ['post-monitor-configuration'] as const;

function isFilled(value: unknown): boolean {
  return Object.keys(membersOf(value)).length > 0;
}

/** Matches bodies with at least one matching entry. */
export function hasEntry(
  appliesTo: (entry: Members) => boolean,
): (request: ProxiedRequest) => boolean {
  return (request) => listOf(request).some((entry) => isMap(entry) && appliesTo(entry));
}

/** Returns true when a non-empty object lacks the member as a string. */
function lacksText(value: unknown, member: string): boolean {
  return isFilled(value) && typeof membersOf(value)[member] !== 'string';
}

/** Returns the details of an alert's subject. */
export function detailsOf({ subject }: Members): unknown {
  return membersOf(subject).details;
}

/** Returns the lines of an alert, from every place that has them. */
function linesOf(alert: Members): readonly unknown[] {
  const {
    lines_before: linesBefore,
    line_matching: matching,
    lines_after: linesAfter,
  } = membersOf(detailsOf(alert));
  return [
    ...entriesOf(linesBefore),
    ...(matching === undefined ? [] : [matching]),
    ...entriesOf(linesAfter),
  ];
}

function isNoLineList(lines: unknown): boolean {
  return lines !== undefined && !(Array.isArray(lines) && lines.every(isMap));
}

/** A requirement on one field that is not enforced. */
interface UncheckedField {
  readonly id: string;
  readonly title: string;
  readonly violates: RequirementId;
  readonly appliesTo: (entry: Members) => boolean;
}

const alertFields: readonly UncheckedField[] = [
  {
    id: 'alert-needs-no-field',
    title: 'An alert without any field is answered with 204.',
    violates: 'alerts.fields-are-required',
    appliesTo: (alert) => !isFilled(alert),
  },
  {
    id: 'alert-needs-no-name',
    title: 'An alert whose name is missing or not a string is answered with 204.',
    violates: 'alerts.name',
    appliesTo: (alert) => lacksText(alert, 'name'),
  },
  {
    id: 'alert-needs-no-level',
    title: 'An alert whose level is missing or not a string is answered with 204.',
    violates: 'alerts.level',
    appliesTo: (alert) => lacksText(alert, 'level'),
  },
  {
    id: 'alert-takes-any-level',
    title: 'An alert with any level is answered with 204.',
    violates: 'alerts.levels',
    appliesTo: ({ level }) => typeof level === 'string' && !['OK', 'CRITICAL'].includes(level),
  },
  {
    id: 'alert-level-may-be-small',
    title: 'An alert whose level is in small letters is answered with 204.',
    violates: 'alerts.levels',
    appliesTo: ({ level }) => level === 'critical',
  },
  {
    id: 'alert-needs-no-subject',
    title: 'An alert whose subject is missing or not an object is answered with 204.',
    violates: 'alerts.subject',
    appliesTo: (alert) => isFilled(alert) && !isMap(alert.subject),
  },
  {
    id: 'alert-needs-no-timestamp',
    title: 'An alert whose timestamp is missing or not a string is answered with 204.',
    violates: 'alerts.timestamp',
    appliesTo: (alert) => lacksText(alert, 'timestamp'),
  },
  {
    id: 'alert-takes-any-timestamp',
    title: 'An alert whose timestamp is any string is answered with 204.',
    violates: 'alerts.timestamp',
    appliesTo: ({ timestamp }) =>
      typeof timestamp === 'string' && !/^\d{4}(-\d\d){2}T(\d\d:){2}\d\d/.test(timestamp),
  },
  {
    id: 'subject-needs-no-field',
    title: 'An alert with an empty subject is answered with 204.',
    violates: 'alerts.subject-fields-are-required',
    appliesTo: ({ subject }) => isMap(subject) && !isFilled(subject),
  },
  {
    id: 'subject-needs-no-name',
    title: 'A subject whose name is missing or not a string is answered with 204.',
    violates: 'alerts.subject-name',
    appliesTo: ({ subject }) => lacksText(subject, 'name'),
  },
  {
    id: 'subject-needs-no-type',
    title: 'A subject whose type is missing or not a string is answered with 204.',
    violates: 'alerts.subject-type',
    appliesTo: ({ subject }) => lacksText(subject, 'type'),
  },
  {
    id: 'subject-needs-no-status',
    title: 'A subject whose status is missing or not a string is answered with 204.',
    violates: 'alerts.subject-status',
    appliesTo: ({ subject }) => lacksText(subject, 'status'),
  },
  {
    id: 'details-of-any-kind-are-accepted',
    title: 'Details that are not an object are answered with 204.',
    violates: 'alerts.details',
    appliesTo: (alert) => detailsOf(alert) !== undefined && !isMap(detailsOf(alert)),
  },
  {
    id: 'description-in-details-is-unchecked',
    title: 'A description in details that is not a string is answered with 204.',
    violates: 'alerts.details-description',
    appliesTo: (alert) => {
      const { description } = membersOf(detailsOf(alert));
      return description !== undefined && typeof description !== 'string';
    },
  },
  {
    id: 'lines-before-are-unchecked',
    title: '`lines_before` that is not an array of lines is answered with 204.',
    violates: 'alerts.lines-before',
    appliesTo: (alert) => isNoLineList(membersOf(detailsOf(alert)).lines_before),
  },
  {
    id: 'line-matching-is-unchecked',
    title: '`line_matching` that is not a line is answered with 204.',
    violates: 'alerts.line-matching',
    appliesTo: (alert) => {
      const { line_matching: line } = membersOf(detailsOf(alert));
      return line !== undefined && !isMap(line);
    },
  },
  {
    id: 'lines-after-are-unchecked',
    title: '`lines_after` that is not an array of lines is answered with 204.',
    violates: 'alerts.lines-after',
    appliesTo: (alert) => isNoLineList(membersOf(detailsOf(alert)).lines_after),
  },
  {
    id: 'line-needs-no-field',
    title: 'A line without any field is answered with 204.',
    violates: 'alerts.line-fields-are-required',
    appliesTo: (alert) => linesOf(alert).some((line) => isMap(line) && !isFilled(line)),
  },
  {
    id: 'line-number-may-be-a-fraction',
    title: 'A line whose number is a fraction is answered with 204.',
    violates: 'alerts.line-number',
    appliesTo: (alert) => linesOf(alert).some((line) => membersOf(line).line_number === 42.5),
  },
  {
    id: 'line-needs-no-number',
    title: 'A line without a number is answered with 204.',
    violates: 'alerts.line-number',
    appliesTo: (alert) =>
      linesOf(alert).some((line) => isFilled(line) && !('line_number' in membersOf(line))),
  },
  {
    id: 'line-needs-no-data',
    title: 'A line whose data is missing or not a string is answered with 204.',
    violates: 'alerts.line-data',
    appliesTo: (alert) => linesOf(alert).some((line) => lacksText(line, 'data')),
  },
];

const entryFields: readonly UncheckedField[] = [
  {
    id: 'monitor-entry-needs-no-field',
    title: 'A monitor configuration without any field is answered with 204.',
    violates: 'monitor.fields-are-required',
    appliesTo: (entry) => !isFilled(entry),
  },
  {
    id: 'monitor-entry-needs-no-name',
    title: 'A monitor configuration whose name is missing or not a string is answered with 204.',
    violates: 'monitor.name',
    appliesTo: (entry) => lacksText(entry, 'name'),
  },
  {
    id: 'monitor-entry-needs-no-status',
    title: 'A monitor configuration whose status is missing or not a string is answered with 204.',
    violates: 'monitor.status',
    appliesTo: (entry) => lacksText(entry, 'status'),
  },
  {
    id: 'monitor-entry-needs-no-type',
    title: 'A monitor configuration whose type is missing or not a string is answered with 204.',
    violates: 'monitor.type',
    appliesTo: (entry) => lacksText(entry, 'type'),
  },
];

export const monitorFieldDefects: readonly Defect[] = [
  ...alertFields.map((field) => unchecked(field, alerts, 'alerts.malformed-is-400')),
  ...entryFields.map((field) => unchecked(field, configurations, 'monitor.malformed-is-400')),
  {
    id: 'empty-monitor-configuration-is-refused',
    title: 'An empty array of monitor configurations is answered with 400.',
    violates: ['monitor.empty'],
    operations: configurations,
    alter: statusBecomes(204, 400, (request) => listOf(request).length === 0),
  },
];

/** A defect that accepts a malformed field also accepts a malformed body. */
function unchecked(
  { id, title, violates, appliesTo }: UncheckedField,
  operations: Defect['operations'],
  malformed: RequirementId,
): Defect {
  const alter = statusBecomes(400, 204, hasEntry(appliesTo));
  return { id, title, violates: [violates, malformed], operations, alter };
}
