/** Cases: the audit log as a paged list, parameter by parameter. Spec: Audit logs, "GET /logs" */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { withdrawnDeployment } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectPresent,
  expectStatus,
  expectThat,
  observationOf,
  observedResponse,
} from '../../target/expectations.ts';
import { relationsOf } from '../../target/link-header.ts';
import { arrangeTwoEntries, type DeploymentWithEntries } from './audit-combinations.ts';
import { auditFilters, emptyQueries, type FilterParameter } from './audit-filters.ts';
import {
  type AuditQuery,
  actionsOf,
  at,
  entries,
  entriesIn,
  list,
  listIn,
  objectTypes,
  textAt,
  unknownId,
} from './audit-reading.ts';

/** Malformed parameters for which the contract does not define the response. */
const unfitQueries: Readonly<Record<string, AuditQuery>> = {
  'page 0': { page: 0 },
  'page -1': { page: -1 },
  'page x': { page: 'x' },
  'an empty page': { page: '' },
  'per_page 0': { per_page: 0 },
  'per_page x': { per_page: 'x' },
  'per_page 1.5': { per_page: '1.5' },
  'sort sideways': { sort: 'sideways' },
  'an empty sort': { sort: '' },
  'created_after x': { created_after: 'x' },
  'created_before of a date-time': { created_before: '2026-01-01T00:00:00Z' },
  'object_type cat': { object_type: 'cat' },
  'actor_type cat': { actor_type: 'cat' },
  'page twice': { page: ['1', '2'] },
};

const user = defineScenario({
  area: 'audit-log',
  name: 'The list',
  start: 'a user with a token',
  effect: 'read',
  needs: ['user'],
  arrange: (context) => context,
  cases: [
    {
      id: 'list-is-200',
      title: 'The audit log is answered with 200 and an array.',
      requirements: ['audit.list', 'tokens.login-opens-management'],
      covers: ['list-audit-logs 200'],
      run: async (context) => {
        const response = await list(context);
        expectStatus(response, 200);
        expectThat(listIn(response) !== undefined, 'an array', describeValue(response.text));
      },
    },
    {
      id: 'object-types-are-known',
      title: 'A filter by each of the five object types is answered with 200.',
      requirements: ['audit.object-type-values'],
      run: async (context) => {
        for (const type of objectTypes) {
          const response = await list(context, { object_type: type });
          expectEqual(`status for ${type}`, response.status, 200);
          entriesIn(response);
        }
      },
    },
    {
      id: 'offered-to-this-user',
      title: 'Whether the plan of this target includes the audit log.',
      requirements: ['audit.offered'],
      observe: async (context) =>
        observationOf(`the list is answered with ${(await list(context)).status}`),
    },
    {
      id: 'page-sizes',
      title: 'How many entries a page has by default, and whether 500 or 501 are too many.',
      requirements: ['audit.page-sizes'],
      observe: async (context) => {
        const byDefault = listIn(await list(context))?.length;
        const [many, more] = [
          await list(context, { per_page: 500 }),
          await list(context, { per_page: 501 }),
        ];
        return observationOf(`${byDefault} by default; 500: ${many.status}; 501: ${more.status}`);
      },
    },
    {
      id: 'page-past-the-end',
      title: 'What a page past the end of the list holds.',
      requirements: ['audit.past-the-end'],
      observe: async (context) => observedResponse(await list(context, { page: 1_000_000 })),
    },
    {
      id: 'bad-parameters',
      title: 'How malformed parameters are answered.',
      requirements: ['audit.bad-parameters'],
      observe: async (context) => {
        const responses = Object.entries(unfitQueries).map(
          async ([name, query]) => `${name}: ${(await list(context, query)).status}`,
        );
        return observationOf((await Promise.all(responses)).join(', '));
      },
    },
  ],
});

/** Returns the actions that a query for the deployment's two entries lists, in order. */
async function orderBy(
  context: TestContext,
  { deploymentId, createAndAbortEntries }: DeploymentWithEntries,
  query: AuditQuery,
) {
  actionsOf(createAndAbortEntries);
  const listedEntries = await entries(context, { object_id: deploymentId, ...query });
  return actionsOf(listedEntries);
}

function orderCase(
  id: string,
  {
    query,
    requirement,
    title,
    order,
  }: {
    readonly query: AuditQuery;
    readonly requirement: RequirementId;
    readonly title: string;
    readonly order: readonly string[];
  },
): JudgingCase<DeploymentWithEntries> {
  return {
    id,
    title,
    requirements: [requirement],
    run: async (arranged, context) => {
      expectEqual('actions', await orderBy(context, arranged, query), order);
    },
  };
}

/**
 * Requests a page of the deployment's two entries, oldest first, so that no later entry moves it.
 */
function page(context: TestContext, { deploymentId }: DeploymentWithEntries, query: AuditQuery) {
  return list(context, { object_id: deploymentId, sort: 'asc', ...query });
}

/** Returns the relations of the Link header on a page of one entry. */
async function relations(context: TestContext, arranged: DeploymentWithEntries, number: number) {
  const response = await page(context, arranged, { per_page: 1, page: number });
  entriesIn(response);
  return relationsOf(response.headers.link);
}

const rows = defineScenario({
  area: 'audit-log',
  name: 'Pages and order',
  start: 'a user who has created a deployment and aborted it',
  effect: 'write',
  needs: ['user'],
  arrange: arrangeTwoEntries,
  cases: [
    orderCase('newest-comes-first', {
      query: {},
      requirement: 'audit.newest-first',
      title: 'Without `sort`, the list has the newest entries first.',
      order: ['abort', 'create'],
    }),
    orderCase('desc-is-newest-first', {
      query: { sort: 'desc' },
      requirement: 'audit.sort-desc',
      title: 'With sort=desc, the list has the newest entries first.',
      order: ['abort', 'create'],
    }),
    orderCase('asc-is-oldest-first', {
      query: { sort: 'asc' },
      requirement: 'audit.sort-asc',
      title: 'With sort=asc, the list has the oldest entries first.',
      order: ['create', 'abort'],
    }),
    {
      id: 'per-page-bounds-a-page',
      title: 'With per_page=1 a page has one entry, with per_page=2 it has two.',
      requirements: ['audit.per-page'],
      run: async (arranged, context) => {
        for (const size of [1, 2]) {
          const listedEntries = entriesIn(await page(context, arranged, { per_page: size }));
          expectEqual(`entries with per_page=${size}`, listedEntries.length, size);
        }
      },
    },
    {
      id: 'pages-divide-the-list',
      title: 'With one entry per page, the second page holds the other entry.',
      requirements: ['audit.pages'],
      run: async (arranged, context) => {
        const firstPage = entriesIn(await page(context, arranged, { per_page: 1, page: 1 }));
        const secondPage = entriesIn(await page(context, arranged, { per_page: 1, page: 2 }));
        const actions = [...firstPage, ...secondPage].map((entry) => textAt(entry, 'action') ?? '');
        actionsOf(arranged.createAndAbortEntries);
        expectThat(new Set(actions).size === 2, 'another entry on page 2', describeValue(actions));
      },
    },
    {
      id: 'list-starts-at-its-first-page',
      title: 'Without `page`, the first page is returned.',
      requirements: ['audit.first-page'],
      run: async (arranged, context) => {
        const firstPage = entriesIn(await page(context, arranged, { per_page: 1, page: 1 }));
        const defaultPage = entriesIn(await page(context, arranged, { per_page: 1 }));
        const [one, two] = [firstPage, defaultPage].map((listedEntries) =>
          listedEntries.map((e) => textAt(e, 'action')),
        );
        expectEqual('actions', two, one);
      },
    },
    {
      id: 'total-is-counted',
      title: 'X-Total-Count gives the number of matching entries, also on a page that holds fewer.',
      requirements: ['audit.total'],
      run: async ({ deploymentId, createAndAbortEntries }, context) => {
        const response = await list(context, { object_id: deploymentId, per_page: 1 });
        entriesIn(response);
        expectEqual(
          'X-Total-Count',
          response.headers['x-total-count'],
          String(createAndAbortEntries.length),
        );
      },
    },
    {
      id: 'link-names-the-first-page',
      title: 'Link names the first page on page one and on page two.',
      requirements: ['audit.links'],
      run: async (arranged, context) => {
        for (const number of [1, 2]) {
          const listedEntries = Object.keys(await relations(context, arranged, number));
          expectThat(
            listedEntries.includes('first'),
            `first on page ${number}`,
            describeValue(listedEntries),
          );
        }
      },
    },
    {
      id: 'link-names-the-next-page',
      title: 'Link names the next page on page one of two, and no next page on page two.',
      requirements: ['audit.link-next'],
      run: async (arranged, context) => {
        const one = Object.keys(await relations(context, arranged, 1));
        const relationsOfPage2 = Object.keys(await relations(context, arranged, 2));
        expectThat(one.includes('next'), 'next on page 1', describeValue(one));
        expectThat(
          !relationsOfPage2.includes('next'),
          'no next on page 2',
          describeValue(relationsOfPage2),
        );
      },
    },
    {
      id: 'link-names-the-previous-page',
      title: 'Link names the previous page on page two, and no previous page on page one.',
      requirements: ['audit.link-prev'],
      run: async (arranged, context) => {
        const one = Object.keys(await relations(context, arranged, 1));
        const relationsOfPage2 = Object.keys(await relations(context, arranged, 2));
        expectThat(
          relationsOfPage2.includes('prev'),
          'prev on page 2',
          describeValue(relationsOfPage2),
        );
        expectThat(!one.includes('prev'), 'no prev on page 1', describeValue(one));
      },
    },
    {
      id: 'links-keep-the-filters',
      title: 'The link to the next page keeps filters and page size.',
      requirements: ['audit.links-work'],
      run: async (arranged, context) => {
        const { next: nextLink } = await relations(context, arranged, 1);
        if (nextLink === undefined) return;
        const { searchParams } = new URL(nextLink, 'http://target.invalid');
        const linkParameters = Object.fromEntries(searchParams);
        expectEqual('object_id', linkParameters.object_id, arranged.deploymentId);
        expectEqual('per_page', linkParameters.per_page, '1');
        expectEqual('page', linkParameters.page, '2');
      },
    },
    {
      id: 'filters-combine',
      title: 'An entry that matches one filter but not another is not listed.',
      requirements: ['audit.filters-combine'],
      run: async ({ deploymentId }, context) => {
        const query = { object_id: deploymentId, actor_id: unknownId };
        expectEqual('entries', (await entries(context, query)).length, 0);
      },
    },
  ],
});

function filterCase([name, filter]: [string, FilterParameter]): JudgingCase<DeploymentWithEntries> {
  return {
    id: `${name}-filters`,
    title: `${filter.title} are listed.`,
    requirements: [filter.ofList],
    run: async (arranged, context) => {
      const query = { object_id: arranged.deploymentId };
      const matchingQuery = filter.matchingQuery(arranged, arranged.createAndAbortEntries);
      const listedEntries = await entries(context, { ...query, ...matchingQuery });
      expectEqual(
        'entries that match',
        listedEntries.length,
        arranged.createAndAbortEntries.length,
      );
      for (const nonMatchingQuery of filter.nonMatchingQueries(
        arranged.createAndAbortEntries,
        arranged,
      )) {
        const missingEntries = await entries(context, { ...query, ...nonMatchingQuery });
        expectEqual(`entries with ${describeValue(nonMatchingQuery)}`, missingEntries.length, 0);
      }
    },
  };
}

function filteredPageCase([name, filter]: [
  string,
  FilterParameter,
]): JudgingCase<DeploymentWithEntries> {
  return {
    id: `${name}-filters-before-pages`,
    title: `${filter.title} fill the pages and make up the total.`,
    requirements: [filter.ofList, 'audit.total'],
    run: async (arranged, context) => {
      const matchingQuery = filter.matchingQuery(arranged, arranged.createAndAbortEntries);
      const query = {
        object_id: arranged.deploymentId,
        ...matchingQuery,
        per_page: 1,
        sort: 'asc',
      };
      for (const number of [1, 2]) {
        const response = await list(context, { ...query, page: number });
        expectEqual(`entries on page ${number}`, entriesIn(response).length, 1);
        const total = response.headers['x-total-count'];
        expectEqual('X-Total-Count', total, String(arranged.createAndAbortEntries.length));
      }
    },
  };
}

/** Asserts that a filter by object lists only entries on that object. */
async function expectOwn(context: TestContext, objectId: string): Promise<void> {
  const listedEntries = await entries(context, { object_id: objectId });
  const ids = listedEntries.map((entry) => at(entry, 'object.id'));
  const otherId = ids.find((id) => id !== objectId && id !== undefined);
  if (otherId === undefined) return;
  throw new ExpectationFailure(`entries on ${objectId}`, `one on ${describeValue(otherId)}`);
}

const filterCases = defineScenario({
  area: 'audit-log',
  name: 'Filters',
  start: 'a user who has created a deployment and aborted it',
  effect: 'write',
  needs: ['user'],
  arrange: arrangeTwoEntries,
  cases: Object.entries(auditFilters).flatMap((row) => [filterCase(row), filteredPageCase(row)]),
});

const byObject = defineScenario({
  area: 'audit-log',
  name: 'The filter by object',
  start: 'two deployments, each created and aborted by a user',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => [
    await withdrawnDeployment(context),
    await withdrawnDeployment(context),
  ],
  cases: [
    {
      id: 'object-id-filters',
      title: 'With object_id, only the entries on that object are listed.',
      requirements: ['audit.object-filters'],
      run: async (deployments, context) => {
        const recent = await entries(context, { per_page: 100 });
        for (const { deploymentId } of deployments) {
          await expectOwn(context, deploymentId);
          const isThere = recent.some((entry) => at(entry, 'object.id') === deploymentId);
          const listedEntries = await entries(context, { object_id: deploymentId });
          if (isThere) expectPresent(`an entry on ${deploymentId}`, listedEntries[0]);
        }
        for (const query of emptyQueries('object_id')) {
          expectEqual(
            `entries with ${describeValue(query)}`,
            (await entries(context, query)).length,
            0,
          );
        }
      },
    },
  ],
});

export const auditLogCases = [...user, ...rows, ...filterCases, ...byObject];
