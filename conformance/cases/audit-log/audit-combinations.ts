/**
 * Combinations of parameters in one request for the list or the export of the audit log: filters
 * that match, and filters that match nothing, beside every other parameter. Spec: Audit logs
 */
import { type DeviceInDeployment, withdrawnDeployment } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { coveringArray } from '../../suite/covering.ts';
import { auditFilters, type FilterParameter } from './audit-filters.ts';
import {
  type AuditQuery,
  entriesOn,
  type ReceivedEntry,
  requireCreateAndAbort,
  textAt,
  unknownId,
} from './audit-reading.ts';

/** A deployment with its two entries as listed, newest first. */
export interface DeploymentWithEntries extends DeviceInDeployment {
  readonly createAndAbortEntries: readonly ReceivedEntry[];
}

/** Arranges a deployment that has exactly two entries, whatever their actions. */
export async function arrangeTwoEntries(context: TestContext): Promise<DeploymentWithEntries> {
  const arranged = await withdrawnDeployment(context);
  return { ...arranged, createAndAbortEntries: await entriesOn(context, arranged.deploymentId, 2) };
}

/** Arranges a deployment whose two entries are its creation and its abort. */
export async function deploymentWithEntries(context: TestContext): Promise<DeploymentWithEntries> {
  const arranged = await arrangeTwoEntries(context);
  const { createAndAbortEntries } = arranged;
  requireCreateAndAbort(createAndAbortEntries.map((entry) => textAt(entry, 'action') ?? ''));
  return arranged;
}

/** In each request, since a log may have other entries. */
const onObject: FilterParameter = {
  title: 'With object_id only entries on that object',
  ofList: 'audit.object-filters',
  ofExport: 'audit.export-object-id',
  matchingQuery: (_, createAndAbortEntries) => ({
    object_id: textAt(createAndAbortEntries[0] ?? {}, 'object.id') ?? '',
  }),
  nonMatchingQueries: () => [{ object_id: unknownId }],
};

/** Every filter of the log. */
export const combinedFilters = [onObject, ...Object.values(auditFilters)];

/** The states of each filter but `object_id`, as parameters of a covering array. */
export const filterStates = Object.fromEntries(
  Object.keys(auditFilters).map((name) => [name, ['absent', 'given']] as const),
);

/** Returns the combinations of a run: those of pairs, or those of triples in a thorough one. */
export function combinationsOf<const Values extends Readonly<Record<string, readonly unknown[]>>>(
  values: Values,
  { model }: Pick<TestContext, 'model'>,
) {
  return coveringArray(values, model.thorough ? 3 : 2);
}

/** Returns the filters that a combination has. */
export function givenFilters(
  parameters: Readonly<Record<string, unknown>>,
): readonly FilterParameter[] {
  const usedFilters = Object.entries(auditFilters).filter(([name]) => parameters[name] === 'given');
  return [onObject, ...usedFilters.map(([, filter]) => filter)];
}

/** Returns a query in which each of the filters matches the deployment's entries. */
export function queryOf(
  filters: readonly FilterParameter[],
  arranged: DeploymentWithEntries,
): AuditQuery {
  return Object.assign(
    {},
    ...filters.map((filter) => filter.matchingQuery(arranged, arranged.createAndAbortEntries)),
  );
}

interface CombinedQuery {
  readonly query: AuditQuery;
  readonly filters: readonly FilterParameter[];
}

/** A request with one filter that matches nothing, beside parameters that match. */
interface NonMatchingRequest {
  readonly query: AuditQuery;
  readonly filter: FilterParameter;
}

/** Returns requests in which each filter that matches nothing is beside each other parameter. */
export function nonMatchingRequests(
  requests: readonly CombinedQuery[],
  arranged: DeploymentWithEntries,
): readonly NonMatchingRequest[] {
  const triedPairs = new Set<string>();
  return requests.flatMap(({ query, filters }) =>
    filters.flatMap((filter): NonMatchingRequest[] => {
      const [nonMatchingQuery = {}] = filter.nonMatchingQueries(
        arranged.createAndAbortEntries,
        arranged,
      );
      const pairs = Object.keys(query).map((name) => `${filter.ofExport} ${name}`);
      if (pairs.every((pair) => triedPairs.has(pair))) return [];
      for (const pair of pairs) triedPairs.add(pair);
      return [{ query: { ...query, ...nonMatchingQuery }, filter }];
    }),
  );
}
