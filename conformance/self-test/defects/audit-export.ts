/** Defects in the audit log as CSV, parameter by parameter. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { isSuccess, ownResponse, queryOf, withHeaders, withQuery, withText } from '../alter.ts';
import {
  headersBecome,
  parameterBecomes,
  requestBecomes,
  responseBecomes,
  statusBecomes,
} from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';

const operations = ['export-audit-logs'] as const;

function has(name: string, value?: string): (request: ProxiedRequest) => boolean {
  return (request) => {
    const filterValue = queryOf(request).get(name);
    return value === undefined ? filterValue !== null : filterValue === value;
  };
}

/** Changes the document of a successful response. */
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

const unfilteredNames = ['sort', 'page', 'per_page', 'limit', 'format_separator', 'ignore'];

/** Matches requests for the whole log, oldest entries first. */
export function isUnfilteredAsc(request: ProxiedRequest): boolean {
  const isWhole = [...queryOf(request).keys()].every((name) => unfilteredNames.includes(name));
  return isWhole && has('sort', 'asc')(request);
}

/** Shifts a Unix time (seconds) in the query. */
function shifted(name: string, bySeconds: number): () => Alteration {
  return requestBecomes(
    (request) =>
      withQuery(request, { [name]: String(Number(queryOf(request).get(name)) + bySeconds) }),
    has(name),
  );
}

/** Parameters that violate one requirement when ignored. */
const parameters: Readonly<Record<string, RequirementId>> = {
  limit: 'audit.export-limit',
  created_after: 'audit.export-created-after',
  created_before: 'audit.export-created-before',
  actor_id: 'audit.export-actor-id',
  actor_type: 'audit.export-actor-type',
  actor_email: 'audit.export-actor-email',
  object_id: 'audit.export-object-id',
  object_type: 'audit.export-object-type',
  object_deployment_name: 'audit.export-object-deployment-name',
  format_separator: 'audit.export-separator',
  ignore: 'audit.export-ignore',
};

function ignored([name, requirement]: [string, RequirementId]): Defect {
  return {
    id: `export-ignores-${name.replaceAll('_', '-')}`,
    title: `The export ignores the parameter \`${name}\`.`,
    violates: [requirement],
    operations,
    alter: parameterBecomes(
      name,
      undefined,
      // Other cases find their own entries by `object_id`, with a small limit or none.
      (request) => name !== 'object_id' || has('limit', '100')(request),
    ),
  };
}

/** Index of the line after the field names and two pages of a hundred entries. */
const LARGE = 201;

/** Parameters of which the first is ignored in a request that has the second one too. */
const ignoredBeside: readonly (readonly [ignored: string, beside: string])[] = [
  ['limit', 'object_type'],
  ['limit', 'ignore'],
  ['created_after', 'created_before'],
  ['created_before', 'limit'],
  ['actor_id', 'actor_email'],
  ['actor_type', 'sort'],
  ['actor_email', 'object_deployment_name'],
  ['object_type', 'ignore'],
  ['object_type', 'object_deployment_name'],
  ['object_deployment_name', 'actor_type'],
  ['format_separator', 'ignore'],
  ['ignore', 'object_type'],
  ['ignore', 'sort'],
];

function ignoredBesideAnother([name, otherName]: readonly [string, string]): Defect {
  return {
    id: `export-ignores-${name}-beside-${otherName}`.replaceAll('_', '-'),
    title: `The export ignores \`${name}\` when \`${otherName}\` is given too.`,
    violates: [parameters[name] ?? 'audit.export-form'],
    operations,
    alter: parameterBecomes(name, undefined, has(otherName)),
  };
}

/** All defects of the export. */
export const auditExportDefects: readonly Defect[] = [
  ...Object.entries(parameters).map(ignored),
  ...ignoredBeside.map(ignoredBesideAnother),
  {
    id: 'export-ignores-dotted-names-beside-a-separator',
    title: 'With another separator, the export knows names with that separator only.',
    violates: ['audit.export-ignore-form'],
    operations,
    alter: parameterBecomes('ignore', undefined, (request) => {
      const query = queryOf(request);
      const isOther = ![null, '.'].includes(query.get('format_separator'));
      return isOther && query.getAll('ignore').some((name) => name.includes('.'));
    }),
  },
  {
    id: 'export-is-made-whole',
    title: 'The export is built first and sent with a Content-Length.',
    violates: ['audit.export-is-streamed'],
    operations,
    alter: responseBecomes((response) => withHeaders(response, { 'transfer-encoding': undefined })),
  },
  {
    id: 'export-is-202',
    title: 'The export is answered with 202.',
    violates: ['audit.export-is-csv', 'audit.export-object-type-values'],
    operations,
    alter: statusBecomes(200, 202),
  },
  {
    id: 'export-has-no-names',
    title: 'The export has no field names.',
    violates: ['audit.export-is-csv'],
    operations,
    alter: documentBecomes((text) => text.slice(text.indexOf('\n') + 1)),
  },
  {
    id: 'empty-export-has-no-names',
    title: 'An export without entries has no field names either.',
    violates: ['audit.export-is-csv'],
    operations,
    alter: documentBecomes((text) => (text.trim().includes('\n') ? text : '')),
  },
  {
    id: 'export-is-labelled-as-text',
    title: 'The export is labelled text/plain.',
    violates: ['audit.export-media-type'],
    operations,
    alter: headersBecome({ 'content-type': 'text/plain' }),
  },
  {
    id: 'export-has-other-values',
    title: 'The export has the IDs of actors in capital letters.',
    violates: ['audit.export-same-entries'],
    operations,
    alter: documentBecomes((text) =>
      text.replaceAll(/(?<=^(?:create|abort),)[^,]*/gm, (id) => id.toUpperCase()),
    ),
  },
  {
    id: 'export-loses-an-entry',
    title: 'The export lacks its last entry.',
    violates: ['audit.export-same-entries', 'audit.export-fields-are-quoted'],
    operations,
    alter: documentBecomes(
      (text) => text.replace(/\r?\n[^\r\n]+(\r?\n)?$/, '\r\n'),
      (request) => has('format_separator', '.')(request) && !has('limit')(request),
    ),
  },
  {
    id: 'large-export-repeats-an-entry',
    title: 'An export of more than 200 entries repeats one of them and omits another.',
    violates: ['audit.export-same-entries'],
    operations,
    alter: documentBecomes((text) => {
      const lines = text.split('\r\n');
      const precedingLine = lines[LARGE - 1] ?? '';
      return lines.map((line, index) => (index === LARGE ? precedingLine : line)).join('\r\n');
    }),
  },
  {
    id: 'export-limit-is-one-more',
    title: 'The export holds one entry more than the limit.',
    violates: ['audit.export-limit'],
    operations,
    alter: requestBecomes(
      (request) => withQuery(request, { limit: String(Number(queryOf(request).get('limit')) + 1) }),
      has('limit'),
    ),
  },
  {
    id: 'export-separator-is-cut',
    title: 'Only the first character of a separator is used.',
    violates: ['audit.export-separator'],
    operations,
    alter: requestBecomes((request) => {
      const [firstCharacter = ''] = queryOf(request).get('format_separator') ?? '';
      return withQuery(request, { format_separator: firstCharacter });
    }, has('format_separator')),
  },
  {
    id: 'export-ignores-only-the-name',
    title: '`ignore` omits the name of the field; the lines keep its value.',
    violates: ['audit.export-ignore'],
    operations,
    alter: responseBecomes(async (response, request, send) => {
      const fullExport = await send(withQuery(request, { ignore: undefined }));
      const [names = ''] = response.body.toString().split('\n', 1);
      const text = fullExport.body.toString();
      return isSuccess(response) && isSuccess(fullExport)
        ? withText(response, names + text.slice(text.indexOf('\n')))
        : response;
    }, has('ignore')),
  },
  {
    id: 'export-ignores-more-than-requested',
    title: '`ignore` also omits the type of the actor.',
    violates: ['audit.export-ignore'],
    operations,
    alter: requestBecomes(
      (request) => ({ ...request, query: `${request.query}&ignore=actor.type` }),
      has('ignore'),
    ),
  },
  {
    id: 'export-is-oldest-first',
    title: 'Without `sort`, the export has the oldest entries first.',
    violates: ['audit.export-newest-first', 'audit.export-same-entries'],
    operations,
    alter: parameterBecomes('sort', 'asc', (request) => !has('sort')(request)),
  },
  {
    id: 'export-ignores-asc',
    title: 'With sort=asc, the export has the newest entries first.',
    violates: ['audit.export-sort-asc'],
    operations,
    alter: parameterBecomes('sort', 'desc', has('sort', 'asc')),
  },
  {
    id: 'unfiltered-export-ignores-asc',
    title: 'Without a filter, the export with sort=asc has the newest entries first.',
    violates: ['audit.export-sort-asc'],
    operations,
    alter: parameterBecomes('sort', 'desc', isUnfilteredAsc),
  },
  {
    id: 'export-ignores-desc',
    title: 'With sort=desc, the export has the oldest entries first.',
    violates: ['audit.export-sort-desc'],
    operations,
    alter: parameterBecomes('sort', 'asc', has('sort', 'desc')),
  },
  {
    id: 'export-after-is-exclusive',
    title: '`created_after` of the export excludes entries of that second.',
    violates: ['audit.export-created-after'],
    operations,
    alter: shifted('created_after', 1),
  },
  {
    id: 'export-after-begins-early',
    title: '`created_after` of the export starts a second early.',
    violates: ['audit.export-created-after'],
    operations,
    alter: shifted('created_after', -1),
  },
  {
    id: 'export-before-ends-early',
    title: '`created_before` of the export ends two seconds early.',
    violates: ['audit.export-created-before'],
    operations,
    alter: shifted('created_before', -2),
  },
  {
    id: 'export-does-not-quote',
    title: 'The export writes values with commas without quotes.',
    violates: ['audit.export-fields-are-quoted', 'audit.export-is-csv'],
    operations,
    alter: documentBecomes((text) => text.replaceAll('"', '')),
  },
  {
    id: 'export-knows-no-users',
    title: 'An export of users is answered with 400.',
    violates: ['audit.export-object-type-values'],
    operations,
    alter: () => ({
      request: (request) =>
        has('object_type', 'user')(request) && !has('object_id')(request)
          ? ownResponse(400, { error: 'no type' })
          : request,
    }),
  },
  {
    id: 'export-ignores-sort-beside-limit',
    title: 'An export with a limit has the newest entries, whichever order is requested.',
    violates: ['audit.export-sort-asc'],
    operations,
    alter: parameterBecomes('sort', undefined, has('limit')),
  },
  {
    id: 'export-separator-is-in-ascii',
    title: 'A separator with letters beyond ASCII is replaced by a dot.',
    violates: ['audit.export-separator'],
    operations,
    alter: parameterBecomes('format_separator', '.', (request) =>
      /[^ -~]/.test(queryOf(request).get('format_separator') ?? ''),
    ),
  },
  {
    id: 'limited-export-has-a-length',
    title: 'An export with a limit is sent with a Content-Length.',
    violates: ['audit.export-is-streamed'],
    operations,
    alter: responseBecomes(
      (response) => withHeaders(response, { 'transfer-encoding': undefined }),
      (request) => queryOf(request).has('limit'),
    ),
  },
  {
    id: 'nested-field-is-not-ignored-beside-a-separator',
    title: 'With another separator than a dot, a nested field is not omitted.',
    violates: ['audit.export-ignore'],
    operations,
    alter: requestBecomes((request) => {
      const query = queryOf(request);
      const isOther = (query.get('format_separator') ?? '.') !== '.';
      return isOther && query.get('ignore')?.startsWith('actor')
        ? withQuery(request, { ignore: undefined })
        : request;
    }),
  },
];
