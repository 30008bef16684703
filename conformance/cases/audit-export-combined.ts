/**
 * Cases: the parameters of the export combined, by a covering array: each pair of values of two
 * parameters is in one request, and each filter that matches nothing is beside every other one.
 * Spec: Audit logs, "GET /logs/export"
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import {
  abortedDeployment,
  needAnswer,
  type OfferedDeployment,
  StartStateMissed,
} from '../context/start-states.ts';
import type { TestContext } from '../context/test-context.ts';
import { defineScenario } from '../suite/case.ts';
import { coveringPairs } from '../suite/covering.ts';
import { readCsv } from '../target/csv.ts';
import { ExpectationFailure, shown, sorted } from '../target/expectations.ts';
import { auditFilters, type FilterParameter } from './audit-filters.ts';
import {
  type AuditQuery,
  at,
  entriesOn,
  needCreateAndAbort,
  nobody,
  type ReceivedEntry,
  textAt,
} from './audit-reading.ts';

/** A deployment with its two entries as listed, newest first. */
interface DeploymentWithEntries extends OfferedDeployment {
  readonly both: readonly ReceivedEntry[];
}

async function recorded(context: TestContext): Promise<DeploymentWithEntries> {
  const arranged = await abortedDeployment(context);
  const both = await entriesOn(context, arranged.deploymentId, 2);
  needCreateAndAbort(both.map((entry) => textAt(entry, 'action') ?? ''));
  return { ...arranged, both };
}

const onObject: FilterParameter = {
  title: 'With object_id only entries on that object',
  ofList: 'audit.object-filters',
  ofExport: 'audit.export-object-id',
  fits: (_, both) => ({ object_id: textAt(both[0] ?? {}, 'object.id') ?? '' }),
  misses: () => [{ object_id: nobody }],
};

/** Every filter but `object_id`, which is in each request, since a log may have other entries. */
const filters = Object.entries(auditFilters);
const filterStates = Object.fromEntries(
  filters.map(([name]) => [name, ['absent', 'given']] as const),
);

const combinations = coveringPairs({
  separator: ['.', '/', '__', ' & ', 'ä'],
  ignore: ['', 'action', 'change', 'nested'],
  limit: [0, 1, 2, 100],
  sort: ['', 'asc', 'desc'],
  ...filterStates,
});
type Parameters = (typeof combinations)[number];

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
  const states: Readonly<Record<string, unknown>> = parameters;
  const given = filters.filter(([name]) => states[name] === 'given').map(([, filter]) => filter);
  const fits = [onObject, ...given].map((filter) => filter.fits(arranged, arranged.both));
  // Whether nested names are given with dots or with the separator is left open.
  const nested = separator === '.' ? 'actor.id' : 'time';
  const ignored = ignore === 'nested' ? nested : ignore;
  const ordered = sort === 'asc' ? arranged.both.toReversed() : arranged.both;
  return {
    query: Object.assign({}, ...fits, {
      format_separator: separator,
      ...(ignored && { ignore: ignored }),
      ...(limit > 0 && { limit }),
      ...(sort && { sort }),
    }),
    separator,
    ignored,
    filters: [onObject, ...given],
    expected: limit > 0 ? ordered.slice(0, limit) : ordered,
  };
}

/** A request with one filter that matches nothing, beside parameters that match. */
interface MissingRequest {
  readonly query: AuditQuery;
  readonly filter: FilterParameter;
}

/** Returns requests in which each filter that matches nothing is beside each other parameter. */
function missesOf(arranged: DeploymentWithEntries): readonly MissingRequest[] {
  const tried = new Set<string>();
  return combinations.flatMap((parameters) => {
    const { query, filters: given } = requestOf(parameters, arranged);
    return given.flatMap((filter): MissingRequest[] => {
      const [missing = {}] = filter.misses(arranged.both, arranged);
      const pairs = Object.keys(query).map((name) => `${filter.ofExport} ${name}`);
      if (pairs.every((pair) => tried.has(pair))) return [];
      for (const pair of pairs) tried.add(pair);
      return [{ query: { ...query, ...missing }, filter }];
    });
  });
}

interface Table {
  readonly names: readonly string[];
  readonly records: readonly (readonly string[])[];
}

async function exportedTable(context: TestContext, query: AuditQuery): Promise<Table> {
  const headers = { accept: 'text/csv' };
  const answer = await context.admin.caller.call('export-audit-logs', { query, headers });
  needAnswer('export-audit-logs', answer, 200);
  const [names = [], ...records] = readCsv(answer.text);
  return { names, records };
}

/** Asserts that the document has the names of the fields in the requested form, and no others. */
function expectNames(table: Table, request: CombinedRequest, fields: readonly string[]): void {
  const { query, separator, ignored } = request;
  const kept = fields.filter((name) => name !== ignored);
  const wanted = kept.map((name) => name.replaceAll('.', separator));
  const surplus = table.names.find((name) => !wanted.includes(name));
  // A server may leave out the fields that none of the exported entries has.
  const missing =
    table.records.length < 2 ? undefined : wanted.find((name) => !table.names.includes(name));
  if (surplus === undefined && missing === undefined) return;
  const isIgnored = surplus === ignored && ignored !== '';
  const isWhole = fields.includes(missing ?? '');
  const missed = isIgnored || isWhole ? 'audit.export-ignore' : 'audit.export-separator';
  throw failure(`the fields ${shown(wanted)}`, shown(table.names), { query, missed: [missed] });
}

/** The fields whose values are compared with those of the listed entries. */
const compared = [
  'action',
  'actor.id',
  'actor.type',
  'object.id',
  'object.type',
  'object.deployment.name',
] as const;

/** Returns a text for each record or entry, from its value at each compared path. */
function marks<Item>(items: readonly Item[], valueAt: (item: Item, path: string) => unknown) {
  return items.map((item) => compared.map((path) => String(valueAt(item, path) ?? '')).join(' | '));
}

/** Asserts that the document has exactly the expected entries, in order. */
function expectRecords(table: Table, request: CombinedRequest): void {
  const { query, separator, expected } = request;
  const column = (path: string) => table.names.indexOf(path.replaceAll('.', separator));
  const isThere = (path: string) => column(path) >= 0;
  const inExport = marks(table.records, (record, path) => record[column(path)]);
  const inList = marks(expected, (entry, path) => (isThere(path) ? at(entry, path) : ''));
  if (inExport.join('\n') === inList.join('\n')) return;
  throw failure(shown(inList), shown(inExport), {
    query,
    missed: missedBy(inExport, inList, request),
  });
}

function missedBy(
  inExport: readonly string[],
  inList: readonly string[],
  { query, filters: given }: CombinedRequest,
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
    ...given.map(({ ofExport }) => ofExport),
  ];
}

function orderRequirement({ sort }: AuditQuery): RequirementId {
  if (sort === undefined) return 'audit.export-newest-first';
  return sort === 'asc' ? 'audit.export-sort-asc' : 'audit.export-sort-desc';
}

function failure(
  expected: string,
  actual: string,
  { query, missed }: { readonly query: AuditQuery; readonly missed: readonly RequirementId[] },
): ExpectationFailure {
  return new ExpectationFailure(`${expected} for ${JSON.stringify(query)}`, actual, missed);
}

/** Returns the fields of the deployment's entries, whose nested names are joined by dots. */
async function fieldsOf(
  context: TestContext,
  { deploymentId }: OfferedDeployment,
): Promise<readonly string[]> {
  const table = await exportedTable(context, { object_id: deploymentId, format_separator: '.' });
  if (table.names.includes('actor.id') && table.records.length === 2) return table.names;
  throw new StartStateMissed('an export of two entries with their fields', shown(table));
}

/** Spec: Audit logs, "GET /logs/export" */
export const auditExportCombinedCases = defineScenario<DeploymentWithEntries>({
  area: 'audit-export',
  name: 'Combined parameters',
  start: 'a user who has created a deployment and aborted it',
  risk: 'write',
  needs: ['operator'],
  arrange: recorded,
  cases: [
    {
      id: 'parameters-apply-together',
      title: 'Separator, ignored field, limit, order and filters of one request all apply.',
      requirements: [
        'audit.export-separator',
        'audit.export-ignore',
        'audit.export-limit',
        'audit.export-newest-first',
        'audit.export-sort-asc',
        'audit.export-sort-desc',
        'audit.export-same-entries',
        ...[onObject, ...Object.values(auditFilters)].map(({ ofExport }) => ofExport),
      ],
      run: async (arranged, context) => {
        const fields = await fieldsOf(context, arranged);
        for (const parameters of combinations) {
          const request = requestOf(parameters, arranged);
          const found = await exportedTable(context, request.query);
          expectNames(found, request, fields);
          expectRecords(found, request);
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
        for (const { query, filter } of missesOf(arranged)) {
          const { records } = await exportedTable(context, query);
          if (records.length === 0) continue;
          const combined = { query, missed: [filter.ofExport] };
          throw failure('no entries', `${records.length} entries`, combined);
        }
      },
    },
  ],
});
