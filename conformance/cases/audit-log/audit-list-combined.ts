/**
 * Cases: the parameters of the list combined, by a covering array: each pair of values of two
 * parameters is in one request, and each filter that matches nothing is beside every other one.
 * Spec: Audit logs, "GET /logs"
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import type { coveringArray } from '../../suite/covering.ts';
import { describeValue, ExpectationFailure } from '../../target/expectations.ts';
import {
  combinationsOf,
  combinedFilters,
  type DeploymentWithEntries,
  deploymentWithEntries,
  filterStates,
  givenFilters,
  nonMatchingRequests,
  queryOf,
} from './audit-combinations.ts';
import type { FilterParameter } from './audit-filters.ts';
import { entryKeys } from './audit-paging.ts';
import { type AuditQuery, entriesIn, list } from './audit-reading.ts';

/** The parts of a list of two entries that a request may select. */
const slices = {
  all: {},
  large: { per_page: 20 },
  whole: { per_page: 2, page: 1 },
  first: { per_page: 1 },
  second: { per_page: 1, page: 2 },
} as const;

/** The parameters of the list with the values that are combined. */
export const listParameters = {
  slice: ['all', 'large', 'whole', 'first', 'second'],
  sort: ['', 'asc', 'desc'],
  ...filterStates,
} as const;
type Parameters = ReturnType<typeof coveringArray<typeof listParameters>>[number];

/** One request, and the entries that its response must have, as identifying texts. */
interface CombinedRequest {
  readonly query: AuditQuery;
  readonly filters: readonly FilterParameter[];
  readonly expected: readonly string[];
}

function requestOf(parameters: Parameters, arranged: DeploymentWithEntries): CombinedRequest {
  const { slice, sort } = parameters;
  const filters = givenFilters(parameters);
  const ordered = entryKeys(
    sort === 'asc' ? arranged.createAndAbortEntries.toReversed() : arranged.createAndAbortEntries,
  );
  const expected =
    slice === 'first' ? ordered.slice(0, 1) : ordered.slice(slice === 'second' ? 1 : 0);
  const query = { ...queryOf(filters, arranged), ...slices[slice], ...(sort && { sort }) };
  return { query, filters, expected };
}

function requestsOf(context: TestContext, arranged: DeploymentWithEntries) {
  return combinationsOf(listParameters, context).map((each) => requestOf(each, arranged));
}

/** Asserts that the list has exactly the expected entries, in order, and the total of both. */
async function expectList(context: TestContext, request: CombinedRequest): Promise<void> {
  const { query, filters, expected } = request;
  const response = await list(context, query);
  const keys = entryKeys(entriesIn(response));
  const ofFilters = ['audit.filters-combine' as const, ...filters.map(({ ofList }) => ofList)];
  const total = response.headers['x-total-count'];
  if (keys.join() !== expected.join()) {
    const violatesFilters = total !== '2' || keys.length === 0;
    const violated = violatesFilters ? ofFilters : pageRequirements(keys, request);
    throw failure(describeValue(expected), describeValue(keys), query, violated);
  }
  if (total !== '2') {
    throw failure('X-Total-Count: 2', `X-Total-Count: ${total}`, query, ['audit.total']);
  }
}

function pageRequirements(
  keys: readonly string[],
  { query, expected }: CombinedRequest,
): readonly RequirementId[] {
  if (keys.length !== expected.length) return ['audit.per-page'];
  const order: RequirementId =
    query.sort === undefined
      ? 'audit.newest-first'
      : query.sort === 'asc'
        ? 'audit.sort-asc'
        : 'audit.sort-desc';
  return keys.length === 1 ? ['audit.pages', order] : [order];
}

function failure(
  expected: string,
  actual: string,
  query: AuditQuery,
  violated: readonly RequirementId[],
): ExpectationFailure {
  return new ExpectationFailure(`${expected} for ${JSON.stringify(query)}`, actual, violated);
}

/** Spec: Audit logs, "GET /logs" */
export const auditListCombinedCases = defineScenario<DeploymentWithEntries>({
  area: 'audit-log',
  name: 'Combined parameters',
  start: 'a user who has created a deployment and aborted it',
  effect: 'write',
  needs: ['user'],
  arrange: deploymentWithEntries,
  cases: [
    {
      id: 'parameters-apply-together',
      title:
        'Page, order and filters of one request all apply, and the total is that of the filters.',
      requirements: [
        'audit.pages',
        'audit.per-page',
        'audit.total',
        'audit.newest-first',
        'audit.sort-asc',
        'audit.sort-desc',
        'audit.filters-combine',
        ...combinedFilters.map(({ ofList }) => ofList),
      ],
      run: async (arranged, context) => {
        for (const request of requestsOf(context, arranged)) await expectList(context, request);
      },
    },
    {
      id: 'no-filter-is-ignored-beside-another',
      title: 'A filter that matches nothing lists nothing, whichever parameters are beside it.',
      requirements: ['audit.filters-combine', ...combinedFilters.map(({ ofList }) => ofList)],
      run: async (arranged, context) => {
        for (const { query, filter } of nonMatchingRequests(
          requestsOf(context, arranged),
          arranged,
        )) {
          const { page: _, ...firstPage } = query;
          const { length } = entriesIn(await list(context, firstPage));
          if (length === 0) continue;
          throw failure('no entries', `${length} entries`, firstPage, [filter.ofList]);
        }
      },
    },
  ],
});
