/** Defects in the audit log as a list, parameter by parameter. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import {
  isSuccess,
  listOf,
  ownResponse,
  queryOf,
  withHeaders,
  withJson,
  withQuery,
} from '../alter.ts';
import {
  bodyBecomes,
  headersBecome,
  parameterBecomes,
  requestBecomes,
  responseBecomes,
  statusBecomes,
} from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';
import { isUnfilteredAsc } from './audit-export.ts';

const operations = ['list-audit-logs'] as const;

/** Matches requests with the parameter, and with that value if one is given. */
function has(name: string, value?: string): (request: ProxiedRequest) => boolean {
  return (request) => {
    const filterValue = queryOf(request).get(name);
    return value === undefined ? filterValue !== null : filterValue === value;
  };
}

/** Shifts a Unix time (seconds) in the query. */
function shifted(name: string, bySeconds: number): () => Alteration {
  return requestBecomes(
    (request) =>
      withQuery(request, { [name]: String(Number(queryOf(request).get(name)) + bySeconds) }),
    has(name),
  );
}

/** Changes the links of a response. */
function linksBecome(change: (links: string) => string): () => Alteration {
  return responseBecomes((response) =>
    withHeaders(response, { link: change(response.headers.link ?? '') }),
  );
}

/** A defect that omits the link with this relation from the `Link` header. */
function withoutRelation(name: string): () => Alteration {
  return linksBecome((links) =>
    links
      .split(/,\s*(?=<)/)
      .filter((link) => !link.includes(`rel="${name}"`) && !link.endsWith(`rel=${name}`))
      .join(', '),
  );
}

/** Adds a relation to every page. */
function alwaysRelation(name: string): () => Alteration {
  return linksBecome((links) =>
    links.includes(`rel="${name}"`) ? links : `${links}, </nowhere?page=1>; rel="${name}"`,
  );
}

/** Filters that violate one requirement when ignored. */
const filters: Readonly<Record<string, Defect['violates']>> = {
  created_after: ['audit.time-bounds'],
  created_before: ['audit.created-before'],
  actor_id: ['audit.actor-filters', 'audit.filters-combine'],
  actor_type: ['audit.actor-type-filter'],
  actor_email: ['audit.actor-email-filter'],
  object_id: ['audit.object-filters', 'audit.filters-combine'],
  object_type: ['audit.object-type-filter'],
  object_deployment_name: ['audit.object-deployment-name-filter'],
};

function ignored([name, violates]: [string, Defect['violates']]): Defect {
  return {
    id: `audit-log-ignores-${name.replaceAll('_', '-')}`,
    title: `The list ignores the parameter \`${name}\`.`,
    violates,
    operations,
    alter: parameterBecomes(name, undefined),
  };
}

function orderDefect(
  id: string,
  title: string,
  [requirement, alter]: readonly [RequirementId, () => Alteration],
): Defect {
  return { id, title, violates: [requirement], operations, alter };
}

/** All defects of the list. */
export const auditLogDefects: readonly Defect[] = [
  ...Object.entries(filters).map(ignored),
  {
    id: 'audit-log-is-wrapped',
    title: 'The list is wrapped in an object.',
    violates: ['audit.list'],
    operations,
    alter: bodyBecomes((entries) => ({ entries })),
  },
  {
    id: 'audit-log-is-202',
    title: 'The list is answered with 202.',
    violates: ['audit.list', 'audit.object-type-values', 'tokens.login-opens-management'],
    operations,
    alter: statusBecomes(200, 202),
  },
  orderDefect(
    'audit-log-is-oldest-first',
    'Without `sort`, the list has the oldest entries first.',
    ['audit.newest-first', parameterBecomes('sort', 'asc', (request) => !has('sort')(request))],
  ),
  orderDefect('audit-log-ignores-asc', 'With sort=asc, the list has the newest entries first.', [
    'audit.sort-asc',
    parameterBecomes('sort', 'desc', has('sort', 'asc')),
  ]),
  orderDefect(
    'unfiltered-audit-log-ignores-asc',
    'Without a filter, the list with sort=asc has the newest entries first.',
    ['audit.sort-asc', parameterBecomes('sort', 'desc', isUnfilteredAsc)],
  ),
  orderDefect('audit-log-ignores-desc', 'With sort=desc, the list has the oldest entries first.', [
    'audit.sort-desc',
    parameterBecomes('sort', 'asc', has('sort', 'desc')),
  ]),
  {
    id: 'audit-log-ignores-the-page',
    title: 'Every page holds the first entries.',
    violates: ['audit.pages', 'audit.link-next', 'audit.link-prev'],
    operations,
    alter: parameterBecomes('page', undefined),
  },
  {
    id: 'audit-log-counts-pages-from-zero',
    title: 'Pages are counted from zero, so that the first is skipped.',
    violates: [
      'audit.pages',
      'audit.link-next',
      'audit.link-prev',
      'audit.per-page',
      'audit.first-page',
      'audit.total',
    ],
    operations,
    alter: requestBecomes(
      (request) => withQuery(request, { page: String(Number(queryOf(request).get('page')) + 1) }),
      has('page'),
    ),
  },
  {
    id: 'audit-log-ignores-the-page-size',
    title: 'Every page has the default size.',
    violates: [
      'audit.per-page',
      'audit.pages',
      'audit.link-next',
      'audit.links-work',
      'audit.total',
    ],
    operations,
    alter: parameterBecomes('per_page', undefined),
  },
  {
    id: 'audit-pages-are-one-too-long',
    title: 'A page has one entry more than requested.',
    violates: ['audit.per-page', 'audit.total', 'audit.one-entry-per-action'],
    operations,
    alter: responseBecomes((response) => {
      const entries = listOf(response);
      return entries.length > 0 ? withJson(response, [...entries, entries[0]]) : response;
    }, has('per_page')),
  },
  {
    id: 'audit-log-starts-at-its-second-page',
    title: 'Without `page`, the second page is returned.',
    violates: ['audit.pages', 'audit.first-page'],
    operations,
    alter: parameterBecomes(
      'page',
      '2',
      (request) => has('per_page', '1')(request) && has('sort')(request) && !has('page')(request),
    ),
  },
  {
    id: 'audit-total-is-the-page',
    title: 'X-Total-Count gives the number of entries on the page.',
    violates: ['audit.total'],
    operations,
    alter: responseBecomes((response) =>
      withHeaders(response, { 'x-total-count': String(listOf(response).length) }),
    ),
  },
  {
    id: 'audit-total-is-missing',
    title: 'X-Total-Count is missing.',
    violates: ['audit.total'],
    operations,
    alter: headersBecome({ 'x-total-count': undefined }),
  },
  {
    id: 'audit-total-is-0-past-the-last-page',
    title: 'X-Total-Count is 0 on a page after the last one.',
    violates: ['audit.total'],
    operations,
    alter: responseBecomes((response) =>
      isSuccess(response) && listOf(response).length === 0
        ? withHeaders(response, { 'x-total-count': '0' })
        : response,
    ),
  },
  {
    id: 'audit-links-are-missing',
    title: 'Link is missing.',
    violates: ['audit.links', 'audit.link-next', 'audit.link-prev'],
    operations,
    alter: headersBecome({ link: undefined }),
  },
  {
    id: 'audit-link-without-first',
    title: 'Link does not name the first page.',
    violates: ['audit.links'],
    operations,
    alter: withoutRelation('first'),
  },
  {
    id: 'audit-link-without-next',
    title: 'Link does not name the next page.',
    violates: ['audit.link-next'],
    operations,
    alter: withoutRelation('next'),
  },
  {
    id: 'audit-link-without-prev',
    title: 'Link does not name the previous page.',
    violates: ['audit.link-prev'],
    operations,
    alter: withoutRelation('prev'),
  },
  {
    id: 'audit-link-always-names-prev',
    title: 'Link names a previous page on the first page too.',
    violates: ['audit.link-prev'],
    operations,
    alter: alwaysRelation('prev'),
  },
  {
    id: 'audit-link-always-names-next',
    title: 'Link names a next page on the last page too.',
    violates: ['audit.link-next'],
    operations,
    alter: alwaysRelation('next'),
  },
  {
    id: 'audit-links-forget-the-filters',
    title: 'The links lead to pages of the unfiltered log.',
    violates: ['audit.links-work'],
    operations,
    alter: linksBecome((links) => links.replaceAll(/object_id=[^&>]*&?/g, '')),
  },
  {
    id: 'audit-after-is-exclusive',
    title: '`created_after` excludes entries of that second.',
    violates: ['audit.time-bounds', 'audit.filters-combine'],
    operations,
    alter: shifted('created_after', 1),
  },
  {
    id: 'audit-after-begins-early',
    title: '`created_after` starts a second early.',
    violates: ['audit.time-bounds'],
    operations,
    alter: shifted('created_after', -1),
  },
  {
    id: 'audit-before-ends-early',
    title: '`created_before` ends two seconds early.',
    violates: ['audit.created-before', 'audit.filters-combine'],
    operations,
    alter: shifted('created_before', -2),
  },
  {
    id: 'audit-log-knows-no-tenants',
    title: 'A filter by the type tenant is answered with 400.',
    violates: ['audit.object-type-values'],
    operations,
    alter: () => ({
      request: (request) =>
        has('object_type', 'tenant')(request) ? ownResponse(400, { error: 'no type' }) : request,
    }),
  },
];
