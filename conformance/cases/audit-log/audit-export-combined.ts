/**
 * Cases: the parameters of the export combined, by a covering array: each pair of values of two
 * parameters is in one request, and each filter that matches nothing is beside every other one.
 * Spec: Audit logs, "GET /logs/export"
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { type DeviceInDeployment, StartStateNotReached } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import type { coveringArray } from '../../suite/covering.ts';
import { describeValue, ExpectationFailure, sorted } from '../../target/expectations.ts';
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
import { type ExportTable, exportedTable, findIrregularRecord } from './audit-export-table.ts';
import { auditFilters, type FilterParameter } from './audit-filters.ts';
import { type AuditQuery, at, type ReceivedEntry } from './audit-reading.ts';

/** The parameters of the export with the values that are combined. */
export const exportParameters = {
  separator: ['.', '/', '__', ' & ', 'ä'],
  ignore: ['', 'action', 'change', 'nested'],
  limit: [0, 1, 2, 100],
  sort: ['', 'asc', 'desc'],
  ...filterStates,
} as const;
type Parameters = ReturnType<typeof coveringArray<typeof exportParameters>>[number];

/** The field that is omitted by its nested name. */
const nestedField = 'actor.id';

/** One request, and what its document must have. */
interface CombinedRequest {
  readonly query: AuditQuery;
  readonly separator: string;
  readonly ignored: string;
  readonly filters: readonly FilterParameter[];
  /** The expected entries, in order. */
  readonly expected: readonly ReceivedEntry[];
}

function requestOf(parameters: Parameters, arranged: DeploymentWithEntries): CombinedRequest {
  const { separator, ignore, limit, sort } = parameters;
  const usedFilters = givenFilters(parameters);
  // Another case checks nested names beside another separator.
  const nested = separator === '.' ? nestedField : 'time';
  const ignored = ignore === 'nested' ? nested : ignore;
  const ordered =
    sort === 'asc' ? arranged.createAndAbortEntries.toReversed() : arranged.createAndAbortEntries;
  return {
    query: {
      ...queryOf(usedFilters, arranged),
      format_separator: separator,
      ...(ignored && { ignore: ignored }),
      ...(limit > 0 && { limit }),
      ...(sort && { sort }),
    },
    separator,
    ignored,
    filters: usedFilters,
    expected: limit > 0 ? ordered.slice(0, limit) : ordered,
  };
}

/** Asserts that the document has the names of the fields in the requested form, and no others. */
function expectNames(
  table: ExportTable,
  request: CombinedRequest,
  fields: readonly string[],
): void {
  const { query, separator, ignored } = request;
  const keptFields = fields.filter((name) => name !== ignored);
  const expectedNames = keptFields.map((name) => name.replaceAll('.', separator));
  const surplus = table.names.find((name) => !expectedNames.includes(name));
  // A server may leave out the fields that none of the exported entries has.
  const missingName =
    table.records.length < 2
      ? undefined
      : expectedNames.find((name) => !table.names.includes(name));
  if (surplus === undefined && missingName === undefined) return;
  const isIgnored = surplus === ignored && ignored !== '';
  const isWhole = fields.includes(missingName ?? '');
  const violated = isIgnored || isWhole ? 'audit.export-ignore' : 'audit.export-separator';
  throw failure(`the fields ${describeValue(expectedNames)}`, describeValue(table.names), {
    query,
    violated: [violated],
  });
}

/** The fields whose values are compared with those of the listed entries. */
const comparedFields = [
  'action',
  'actor.id',
  'actor.type',
  'object.id',
  'object.type',
  'object.deployment.name',
] as const;

/** Returns a text for each record or entry, from its value at each compared path. */
function marks<Item>(items: readonly Item[], valueAt: (item: Item, path: string) => unknown) {
  return items.map((item) =>
    comparedFields.map((path) => String(valueAt(item, path) ?? '')).join(' | '),
  );
}

/** Asserts that the document has exactly the expected entries, in order. */
function expectRecords(table: ExportTable, request: CombinedRequest): void {
  const { query, separator, ignored, expected } = request;
  const irregularRecord = findIrregularRecord(table);
  if (irregularRecord !== undefined) {
    const violated = [
      ignored === '' ? 'audit.export-fields-are-quoted' : 'audit.export-ignore',
    ] as const;
    throw failure(
      `a value for each of ${describeValue(table.names)}`,
      describeValue(irregularRecord),
      { query, violated },
    );
  }
  const column = (path: string) => table.names.indexOf(path.replaceAll('.', separator));
  const isThere = (path: string) => column(path) >= 0;
  const inExport = marks(table.records, (record, path) => record[column(path)]);
  const inList = marks(expected, (entry, path) => (isThere(path) ? at(entry, path) : ''));
  if (inExport.join('\n') === inList.join('\n')) return;
  throw failure(describeValue(inList), describeValue(inExport), {
    query,
    violated: violatedBy(inExport, inList, request),
  });
}

function violatedBy(
  inExport: readonly string[],
  inList: readonly string[],
  { query, filters: usedFilters }: CombinedRequest,
): readonly RequirementId[] {
  if (sorted(inExport).join() === sorted(inList).join()) return [orderRequirement(query)];
  if (query.limit !== undefined) {
    if (inExport.length > Number(query.limit)) return ['audit.export-limit'];
    // Another order shows another entry when only one is exported.
    if (inExport.length === inList.length) return [orderRequirement(query)];
  }
  if (inExport.length >= inList.length) return ['audit.export-same-entries'];
  return [
    'audit.export-same-entries',
    ...(query.limit === undefined ? [] : (['audit.export-limit'] as const)),
    ...usedFilters.map(({ ofExport }) => ofExport),
  ];
}

function orderRequirement({ sort }: AuditQuery): RequirementId {
  if (sort === undefined) return 'audit.export-newest-first';
  return sort === 'asc' ? 'audit.export-sort-asc' : 'audit.export-sort-desc';
}

function failure(
  expected: string,
  actual: string,
  { query, violated }: { readonly query: AuditQuery; readonly violated: readonly RequirementId[] },
): ExpectationFailure {
  return new ExpectationFailure(`${expected} for ${JSON.stringify(query)}`, actual, violated);
}

/** Returns the fields of the deployment's entries, whose nested names are joined by dots. */
async function fieldsOf(
  context: TestContext,
  { deploymentId }: DeviceInDeployment,
): Promise<readonly string[]> {
  const table = await exportedTable(context, { object_id: deploymentId, format_separator: '.' });
  if (table.names.includes('actor.id') && table.records.length === 2) return table.names;
  throw new StartStateNotReached(
    'an export of two entries with their fields',
    describeValue(table),
  );
}

/** Spec: Audit logs, "GET /logs/export" */
export const auditExportCombinedCases = defineScenario<DeploymentWithEntries>({
  area: 'audit-export',
  name: 'Combined parameters',
  start: 'a user who has created a deployment and aborted it',
  effect: 'write',
  needs: ['user'],
  arrange: deploymentWithEntries,
  cases: [
    {
      id: 'parameters-apply-together',
      title: 'Separator, ignored field, limit, order and filters of one request all apply.',
      requirements: [
        'audit.export-separator',
        'audit.export-ignore',
        'audit.export-fields-are-quoted',
        'audit.export-limit',
        'audit.export-newest-first',
        'audit.export-sort-asc',
        'audit.export-sort-desc',
        'audit.export-same-entries',
        ...combinedFilters.map(({ ofExport }) => ofExport),
      ],
      run: async (arranged, context) => {
        const fields = await fieldsOf(context, arranged);
        for (const parameters of combinationsOf(exportParameters, context)) {
          const request = requestOf(parameters, arranged);
          const exportTable = await exportedTable(context, request.query);
          expectNames(exportTable, request, fields);
          expectRecords(exportTable, request);
        }
      },
    },
    {
      id: 'ignored-field-beside-a-separator',
      title:
        'A field that `ignore` names with a dot is omitted, whichever separator joins the names.',
      requirements: ['audit.export-ignore-form', 'audit.export-ignore'],
      run: async (arranged, context) => {
        for (const separator of exportParameters.separator) {
          const query = {
            object_id: arranged.deploymentId,
            format_separator: separator,
            ignore: nestedField,
          };
          const { names } = await exportedTable(context, query);
          const joinedName = nestedField.replaceAll('.', separator);
          if (!names.includes(joinedName)) continue;
          throw failure(`no field ${joinedName}`, describeValue(names), {
            query,
            violated: ['audit.export-ignore-form', 'audit.export-ignore'],
          });
        }
      },
    },
    {
      id: 'no-filter-is-ignored-beside-another',
      title: 'A filter that matches nothing exports nothing, whichever parameters are beside it.',
      requirements: [
        'audit.export-object-id',
        ...Object.values(auditFilters).map(({ ofExport }) => ofExport),
      ],
      run: async (arranged, context) => {
        const requests = combinationsOf(exportParameters, context).map((parameters) =>
          requestOf(parameters, arranged),
        );
        for (const { query, filter } of nonMatchingRequests(requests, arranged)) {
          const { records } = await exportedTable(context, query);
          if (records.length === 0) continue;
          const combined = { query, violated: [filter.ofExport] };
          throw failure('no entries', `${records.length} entries`, combined);
        }
      },
    },
  ],
});
