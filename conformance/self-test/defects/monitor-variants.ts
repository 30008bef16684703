/** Defects in how users see alerts and particular monitor configurations. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { membersOf } from '../../target/json-members.ts';
import { changedAt, changedJson, isSuccess, listOf, withJson } from '../alter.ts';
import { fieldBecomes, requestBecomes, responseBecomes } from '../alterations.ts';
import type { Defect } from '../defect.ts';

const alertReads = ['list-alerts'] as const;
const storageRequirements: readonly [RequirementId, ...RequirementId[]] = [
  'service.legal-values-are-kept',
  'alerts.are-shown',
];

function lines(change: (lines: readonly unknown[]) => readonly unknown[]) {
  return (value: unknown): unknown => (Array.isArray(value) ? change(value) : value);
}

function numberOf(line: unknown): number {
  return Number(membersOf(line).line_number);
}

/** Shows only the first alert of each key. */
function onlyFirstOf(keyOf: (alert: unknown) => unknown) {
  return responseBecomes((response) =>
    isSuccess(response)
      ? changedJson(response, (body) => {
          const all = Array.isArray(body) ? body : [];
          const keys = all.map((alert) => JSON.stringify(keyOf(alert)));
          return all.filter((_, index) => keys.indexOf(keys[index] ?? '') === index);
        })
      : response,
  );
}

export const monitorVariantDefects: readonly Defect[] = [
  {
    id: 'alert-lines-are-a-set',
    title: 'Users see each line before the matching one once, however often it was sent.',
    violates: storageRequirements,
    operations: alertReads,
    alter: fieldBecomes(
      '*.subject.details.lines_before',
      lines((all) => [...new Map(all.map((line) => [numberOf(line), line])).values()]),
    ),
  },
  {
    id: 'alert-lines-are-sorted',
    title: 'Users see the lines before the matching one sorted by number.',
    violates: storageRequirements,
    operations: alertReads,
    alter: fieldBecomes(
      '*.subject.details.lines_before',
      lines((all) => all.toSorted((one, other) => numberOf(one) - numberOf(other))),
    ),
  },
  {
    id: 'alert-loses-the-lines-after',
    title: 'Users do not see the lines after the matching one.',
    violates: storageRequirements,
    operations: alertReads,
    alter: fieldBecomes('*.subject.details.lines_after', () => undefined),
  },
  {
    id: 'alert-line-numbers-are-strings',
    title: 'Users see the number of the matching line as a string.',
    violates: storageRequirements,
    operations: alertReads,
    alter: fieldBecomes('*.subject.details.line_matching.line_number', String),
  },
  {
    id: 'alert-status-is-always-the-same',
    title: 'Users see every subject with the status not-running.',
    violates: storageRequirements,
    operations: alertReads,
    alter: fieldBecomes('*.subject.status', () => 'not-running'),
  },
  {
    id: 'alert-offset-is-ignored',
    title: 'The offset of a timestamp is ignored: it is treated as UTC.',
    violates: storageRequirements,
    operations: ['post-alerts'],
    alter: requestBecomes((request) =>
      changedJson(request, (body) =>
        changedAt(body, '*.timestamp', (time) =>
          String(time).replace(/(T[\d:]{8}(?:\.\d+)?)[+-]\d\d:\d\d$/, '$1Z'),
        ),
      ),
    ),
  },
  {
    id: 'one-alert-for-each-subject',
    title: 'Users see one alert for each subject and level.',
    violates: storageRequirements,
    operations: alertReads,
    alter: onlyFirstOf((alert) => {
      const { level, subject } = membersOf(alert);
      return [level, membersOf(subject).name, membersOf(subject).type];
    }),
  },
  {
    id: 'one-monitor-for-each-name',
    title: 'Of monitor configurations with the same name, only the first is stored.',
    violates: ['monitor.is-stored', 'service.legal-values-are-kept'],
    operations: ['post-monitor-configuration'],
    alter: requestBecomes((request) => {
      const all = listOf(request);
      const names = all.map((entry) => membersOf(entry).name);
      const isWhole = names.every((name) => typeof name === 'string');
      const distinctMonitors = all.filter((_, index) => names.indexOf(names[index]) === index);
      return isWhole && distinctMonitors.length < all.length
        ? withJson(request, distinctMonitors)
        : request;
    }),
  },
  {
    id: 'monitor-type-is-in-small-letters',
    title: 'The type of a monitor configuration is stored in small letters.',
    violates: ['monitor.is-stored', 'service.legal-values-are-kept'],
    operations: ['post-monitor-configuration'],
    alter: requestBecomes((request) =>
      changedJson(request, (body) =>
        changedAt(body, '*.type', (type) => (typeof type === 'string' ? type.toLowerCase() : type)),
      ),
    ),
  },
];
