/** Subtle defects of audit logs, which look valid: in the links, the CSV and single fields. */
import { isObject, type JsonObject } from '../../../fixtures/base/json.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { readCsv } from '../../target/csv.ts';
import { changedAt, isSuccess, queryOf, withHeaders, withText } from '../alter.ts';
import { bodyBecomes, responseBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';

/** Length of the day in a date-time. */
const DAY_LENGTH = 10;

const list = ['list-audit-logs'] as const;
const csv = ['export-audit-logs'] as const;

/** Changes the URL in each link of a page. */
function linksBecome(change: (url: string, relation: string) => string): () => Alteration {
  return responseBecomes((response) => {
    const { link } = response.headers;
    if (link === undefined) return response;
    const changedLink = link.replace(
      /<([^>]*)>; rel="(\w+)"/g,
      (_, url: string, relation: string) => {
        return `<${change(url, relation)}>; rel="${relation}"`;
      },
    );
    return withHeaders(response, { link: changedLink });
  });
}

/** Returns a URL without a parameter, or with another value for a parameter that it has. */
function urlWith(url: string, name: string, value?: string): string {
  const [path = '', query = ''] = url.split('?');
  const parameters = new URLSearchParams(query);
  if (value === undefined) parameters.delete(name);
  else if (parameters.has(name)) parameters.set(name, value);
  return `${path}?${parameters}`;
}

const linkRequirements = ['audit.links-work', 'audit.link-next', 'audit.pages'] as const;

/** A defect for each parameter of the list: the links of a page omit the parameter. */
const forgetful: readonly Defect[] = Object.keys(operations['list-audit-logs'].query)
  .filter((name) => name !== 'page')
  .map((name) => ({
    id: `audit-links-forget-${name.replaceAll('_', '-')}`,
    title: `The links of a page of the audit log drop the parameter \`${name}\`.`,
    violates: linkRequirements,
    operations: list,
    alter: linksBecome((url) => urlWith(url, name)),
  }));

const leading: readonly Defect[] = [
  {
    id: 'audit-link-next-leads-to-its-own-page',
    title: 'The link `next` leads to the second page on every page.',
    violates: ['audit.links-work', 'audit.link-next'],
    operations: list,
    alter: linksBecome((url, relation) => (relation === 'next' ? urlWith(url, 'page', '2') : url)),
  },
  {
    id: 'audit-link-prev-leads-to-the-first-page',
    title: 'The link `prev` leads to the first page on every page.',
    violates: ['audit.links-work', 'audit.link-prev'],
    operations: list,
    alter: linksBecome((url, relation) => (relation === 'prev' ? urlWith(url, 'page', '1') : url)),
  },
  {
    id: 'audit-link-first-leads-to-its-own-page',
    title: 'From the third page on, the link `first` leads to the third page.',
    violates: ['audit.links-work', 'audit.links'],
    operations: list,
    alter: responseBecomes((response, request) => {
      const { link } = response.headers;
      const page = queryOf(request).get('page');
      if (link === undefined || page !== '3') return response;
      return withHeaders(response, {
        link: link.replace(/([?&]page=)1(?=[^>]*>; rel="first")/, '$13'),
      });
    }),
  },
  {
    id: 'audit-total-shrinks',
    title: 'From the third page on, X-Total-Count counts only the remaining entries.',
    violates: ['audit.total'],
    operations: list,
    alter: responseBecomes(
      (response) => {
        const total = Number(response.headers['x-total-count'] ?? 0) - 1;
        return withHeaders(response, { 'x-total-count': String(total) });
      },
      (request) => Number(queryOf(request).get('page')) > 2,
    ),
  },
];

const recordedActions = ['create', 'abort', 'reject', 'decommission'] as const;

function isEntryOf(action: string): (entry: unknown) => entry is JsonObject {
  return (entry): entry is JsonObject => isObject(entry) && entry.action === action;
}

function alterEntries(
  change: (entries: readonly unknown[]) => readonly unknown[],
): () => Alteration {
  return bodyBecomes((body) => (Array.isArray(body) ? change(body) : body));
}

/** Defects in the entries of one action only. */
const actionDefects: readonly Defect[] = recordedActions.flatMap((action): Defect[] => {
  const isOfIt = isEntryOf(action);
  return [
    {
      id: `audit-records-${action}-twice`,
      title: `The action \`${action}\` is recorded twice.`,
      violates: [
        'audit.one-entry-per-action',
        'audit.pages',
        'audit.per-page',
        'audit.total',
        'audit.export-same-entries',
      ],
      operations: list,
      alter: alterEntries((entries) =>
        entries.flatMap((each) => (isOfIt(each) ? [each, each] : [each])),
      ),
    },
    {
      id: `audit-actor-of-${action}-is-the-object`,
      title: `The actor of the action \`${action}\` has the ID of the object.`,
      violates: ['audit.actor-id', 'audit.actor-filters', 'audit.export-same-entries'],
      operations: list,
      alter: alterEntries((entries) =>
        entries.map((each) => {
          const object = isOfIt(each) && isObject(each.object) ? each.object : undefined;
          return object ? changedAt(each, 'actor.id', () => object.id) : each;
        }),
      ),
    },
    {
      id: `audit-time-of-${action}-is-local`,
      title: `The time of the action \`${action}\` is local time labelled as UTC.`,
      violates: ['audit.time-of-the-act', 'audit.export-same-entries', 'audit.time-bounds'],
      operations: list,
      alter: alterEntries((entries) =>
        entries.map((each) => (isOfIt(each) ? changedAt(each, 'time', twoHoursLater) : each)),
      ),
    },
  ];
});

function twoHoursLater(time: unknown): unknown {
  return new Date(Date.parse(String(time)) + 7_200_000).toISOString();
}

/** Fields of the entries that the cases of the export compare. */
const exportedFields = [
  'action',
  'time',
  'actor.id',
  'actor.type',
  'actor.email',
  'object.id',
  'object.type',
  'object.deployment.name',
  'object.deployment.artifact_name',
  'object.device.id',
  'object.device.identity_data',
] as const;

/** Changes the document of a successful export. */
function documentBecomes(
  change: (text: string) => string,
  appliesTo?: (request: ProxiedRequest) => boolean,
): () => Alteration {
  return responseBecomes(
    (response) =>
      isSuccess(response) ? withText(response, change(response.body.toString())) : response,
    appliesTo,
  );
}

function quoted(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Changes the values of one column. */
function columnBecomes(name: string, change: (value: string) => string): () => Alteration {
  return documentBecomes((text) => {
    const [names = [], ...records] = readCsv(text);
    const index = names.indexOf(name);
    const changedRecords = records.map((record) =>
      record.map((value, at) => (at === index ? change(value) : value)),
    );
    return [names, ...changedRecords]
      .map((record) => `${record.map(quoted).join(',')}\r\n`)
      .join('');
  });
}

const exportRequirements: readonly [RequirementId, ...RequirementId[]] = [
  'audit.export-same-entries',
  'audit.export-fields-are-quoted',
  'audit.export-is-csv',
  'audit.export-object-id',
];

const columns: readonly Defect[] = exportedFields.map((name) => ({
  id: `export-cuts-${name.replaceAll(/[._]/g, '-')}`,
  title: `The export cuts off the end of \`${name}\`.`,
  violates: exportRequirements,
  operations: csv,
  alter: columnBecomes(name, (value) => value.slice(0, name === 'time' ? DAY_LENGTH : -1)),
}));

const documents: readonly Defect[] = [
  {
    id: 'export-escapes-quotes-with-backslashes',
    title: 'The export escapes a quote within a field with a backslash.',
    violates: exportRequirements,
    operations: csv,
    alter: documentBecomes((text) => text.replace(/(?<=[^,\r\n])""(?=[^,\r\n])/g, '\\"')),
  },
  {
    id: 'export-doubles-no-quotes',
    title: 'The export quotes a field but does not double the quotes within it.',
    violates: exportRequirements,
    operations: csv,
    alter: documentBecomes((text) => text.replace(/(?<=[^,\r\n])""(?=[^,\r\n])/g, '"')),
  },
  {
    id: 'export-loses-quotes',
    title: 'The export removes quotes from values.',
    violates: exportRequirements,
    operations: csv,
    alter: documentBecomes((text) => text.replaceAll('""', '')),
  },
  {
    id: 'export-loses-line-ends',
    title: 'The export replaces line breaks in a value by spaces.',
    violates: exportRequirements,
    operations: csv,
    alter: columnBecomes('object.deployment.name', (value) => value.replace(/[\r\n]+/g, ' ')),
  },
  ...[100, 250].map(
    (count): Defect => ({
      id: `export-stops-at-${count}`,
      title: `The export stops after ${count} entries.`,
      violates: [...exportRequirements, 'audit.export-limit'],
      operations: csv,
      alter: documentBecomes((text) =>
        text
          .split('\r\n')
          .slice(0, count + 1)
          .join('\r\n')
          .concat('\r\n'),
      ),
    }),
  ),
];

/** Spec: Audit logs; AuditLog entry */
export const nearMissAuditDefects: readonly Defect[] = [
  ...forgetful,
  ...leading,
  ...actionDefects,
  ...columns,
  ...documents,
];
