/** Cases: the audit log as CSV. Spec: Audit logs, "GET /logs/export" */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import {
  acceptedDevice,
  requireResponse,
  StartStateNotReached,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import { readCsv } from '../../target/csv.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectStatus,
  expectThat,
  observationOf,
} from '../../target/expectations.ts';
import { arrangeTwoEntries, type DeploymentWithEntries } from './audit-combinations.ts';
import {
  type ExportTable,
  expectNames,
  exportedTable,
  findIrregularRecord,
  requestExport,
} from './audit-export-table.ts';
import { auditFilters, emptyQueries, type FilterParameter } from './audit-filters.ts';
import {
  type AuditQuery,
  actionsOf,
  at,
  entriesOn,
  exportedTypes,
  type ReceivedEntry,
  requireCreateAndAbort,
} from './audit-reading.ts';

/**
 * Returns the field names and the records; throws StartStateNotReached if a record has more or
 * fewer fields than there are names.
 */
async function table(context: TestContext, query: AuditQuery): Promise<ExportTable> {
  const exportTable = await exportedTable(context, query);
  expectNames(exportTable);
  if (findIrregularRecord(exportTable) === undefined) return exportTable;
  throw new StartStateNotReached(
    'an export with as many fields as names',
    describeValue(exportTable),
  );
}

/** Returns the values of the field, one per record. */
function column({ names, records }: ExportTable, name: string): readonly string[] {
  const index = names.indexOf(name);
  if (index < 0)
    throw new StartStateNotReached(`a field ${name}`, `the fields are ${describeValue(names)}`);
  return records.map((record) => record[index] ?? '');
}

/** Returns the number of records that a query finds. */
async function count(context: TestContext, query: AuditQuery): Promise<number> {
  return (await table(context, query)).records.length;
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
    run: async ({ deploymentId, createAndAbortEntries }, context) => {
      actionsOf(createAndAbortEntries);
      const exportTable = await table(context, { object_id: deploymentId, ...query });
      const actions = column(exportTable, 'action');
      requireCreateAndAbort(actions);
      expectEqual('actions', actions, order);
    },
  };
}

/** Required fields of an entry, which a CSV of the same entries must have too. */
const requiredPaths = ['actor.id', 'actor.type', 'time', 'action', 'object.id', 'object.type'];
const deploymentPaths = ['object.deployment.name', 'object.deployment.artifact_name'];

/** Asserts that the record has the same field values as the entry. */
function expectSame(entry: ReceivedEntry, exportTable: ExportTable, row: number): void {
  for (const path of [...requiredPaths, ...deploymentPaths, 'actor.email', 'change']) {
    const expectedValue = at(entry, path);
    const index = exportTable.names.indexOf(path);
    if (typeof expectedValue !== 'string' || (index < 0 && !requiredPaths.includes(path))) continue;
    const value = exportTable.records[row]?.[index];
    const isSame =
      path === 'time'
        ? Date.parse(value ?? '') === Date.parse(expectedValue)
        : value === expectedValue;
    if (isSame) continue;
    throw new ExpectationFailure(
      `${path} ${describeValue(expectedValue)}`,
      describeValue(value ?? 'nothing'),
    );
  }
}

const document = defineScenario({
  area: 'audit-export',
  name: 'The export',
  start: 'a user who has created a deployment and aborted it',
  effect: 'write',
  needs: ['user'],
  arrange: arrangeTwoEntries,
  cases: [
    {
      id: 'export-is-csv',
      title:
        'The export is answered with 200 and CSV: the field names, then records of as many fields.',
      requirements: ['audit.export-is-csv'],
      covers: ['export-audit-logs 200'],
      run: async ({ deploymentId }, context) => {
        const response = await requestExport(context, { object_id: deploymentId });
        expectStatus(response, 200);
        const [names = [], ...records] = readCsv(response.text);
        expectThat(names.includes('action'), 'names of fields first', describeValue(response.text));
        const irregularRecord = records.find(({ length }) => length !== names.length);
        expectThat(
          irregularRecord === undefined,
          `records of ${names.length} fields`,
          describeValue(irregularRecord),
        );
      },
    },
    {
      id: 'export-is-labelled-csv',
      title: 'The export has the Content-Type text/csv.',
      requirements: ['audit.export-media-type'],
      run: async ({ deploymentId }, context) => {
        const response = await requestExport(context, { object_id: deploymentId });
        requireResponse('export-audit-logs', response, 200);
        const type = response.headers['content-type'] ?? '';
        expectThat(/^text\/csv\s*(;|$)/i.test(type), 'text/csv', describeValue(type));
      },
    },
    {
      id: 'export-holds-the-entries-of-the-list',
      title: 'The export holds the same entries as the list, with the same values.',
      requirements: ['audit.export-same-entries'],
      run: async ({ deploymentId, createAndAbortEntries }, context) => {
        const query = { object_id: deploymentId, format_separator: '.' };
        const exportTable = await table(context, query);
        expectEqual('records', exportTable.records.length, createAndAbortEntries.length);
        const rows = column(exportTable, 'action');
        if (!rows.includes('create') || actionsOf(createAndAbortEntries)[0] === rows[0]) {
          for (const [row, entry] of createAndAbortEntries.entries())
            expectSame(entry, exportTable, row);
        }
      },
    },
    {
      id: 'export-is-streamed',
      title: 'The export is sent in chunks, without a Content-Length.',
      requirements: ['audit.export-is-streamed'],
      run: async ({ deploymentId }, context) => {
        const response = await requestExport(context, { object_id: deploymentId });
        requireResponse('export-audit-logs', response, 200);
        const { 'transfer-encoding': coding, 'content-length': length } = response.headers;
        // A gateway with HTTP/1.0 cannot use chunks, and closes the connection after a stream.
        const isStreamed = coding === 'chunked' || (coding === undefined && length === undefined);
        expectThat(isStreamed, 'Transfer-Encoding: chunked', describeValue(response.headers));
      },
    },
    {
      id: 'export-limit-is-kept',
      title: 'With limit=1 one of two entries is exported, with limit=2 or more both.',
      requirements: ['audit.export-limit'],
      run: async ({ deploymentId }, context) => {
        for (const [limit, records] of [
          [1, 1],
          [2, 2],
          [3, 2],
        ] as const) {
          const exportTable = await count(context, { object_id: deploymentId, limit });
          expectEqual(`records with limit=${limit}`, exportTable, records);
        }
      },
    },
    {
      id: 'export-separator-is-used',
      title: 'With format_separator, the names of nested fields are joined by it.',
      requirements: ['audit.export-separator'],
      run: async ({ deploymentId }, context) => {
        for (const separator of ['/', '.', '__', ' > ']) {
          const query = { object_id: deploymentId, format_separator: separator };
          const { names } = await table(context, query);
          const name = `actor${separator}id`;
          expectThat(names.includes(name), `a field ${name}`, describeValue(names));
        }
      },
    },
    {
      id: 'ignored-field-is-omitted',
      title: 'With ignore, that field and its values are missing, and no other.',
      requirements: ['audit.export-ignore'],
      run: async ({ deploymentId }, context) => {
        const query = { object_id: deploymentId, format_separator: '.' };
        const fullTable = await table(context, query);
        for (const ignore of ['actor.id', 'action']) {
          const exportTable = await exportedTable(context, { ...query, ignore });
          const irregularRecord = findIrregularRecord(exportTable);
          const expectedValues = `a value for each of ${describeValue(exportTable.names)}`;
          expectThat(irregularRecord === undefined, expectedValues, describeValue(irregularRecord));
          const expected = fullTable.names.filter((name) => name !== ignore);
          expectEqual(
            `names without ${ignore}`,
            [...exportTable.names].sort(),
            [...expected].sort(),
          );
        }
      },
    },
    orderCase('export-is-newest-first', {
      query: {},
      requirement: 'audit.export-newest-first',
      title: 'Without `sort`, the export lists the newest entries first.',
      order: ['abort', 'create'],
    }),
    orderCase('export-desc-is-newest-first', {
      query: { sort: 'desc' },
      requirement: 'audit.export-sort-desc',
      title: 'With sort=desc, the export lists the newest entries first.',
      order: ['abort', 'create'],
    }),
    orderCase('export-asc-is-oldest-first', {
      query: { sort: 'asc' },
      requirement: 'audit.export-sort-asc',
      title: 'With sort=asc, the export lists the oldest entries first.',
      order: ['create', 'abort'],
    }),
    {
      id: 'export-values-are-quoted',
      title: 'A value or a name with quotes and commas, such as an identity, is one CSV field.',
      requirements: ['audit.export-fields-are-quoted'],
      run: async ({ device }, context) => {
        await context.admin.decide(device.id, device.key, 'rejected');
        await entriesOn(context, device.id, 1);
        const query = { object_id: device.id, format_separator: '.' };
        const plain = await exportedTable(context, query);
        expectNames(plain);
        const irregularRecord = findIrregularRecord(plain);
        const fields = `records of ${plain.names.length} fields`;
        expectThat(irregularRecord === undefined, fields, describeValue(irregularRecord));
        for (const separator of [',', '"']) {
          const response = await requestExport(context, { ...query, format_separator: separator });
          // A server may refuse such a separator.
          if (response.status >= 400 && response.status < 500) continue;
          const [names = []] = readCsv(response.text);
          // Other cases check that the separator is used.
          if (names.join() === plain.names.join()) continue;
          const expectedNames = plain.names.map((name) => name.replaceAll('.', separator));
          expectEqual(`names with the separator ${separator}`, names, expectedNames);
        }
      },
    },
    {
      id: 'object-types-are-known',
      title: 'An export of users, deployments, artifacts or devices is answered with 200.',
      requirements: ['audit.export-object-type-values'],
      run: async (_, context) => {
        for (const type of exportedTypes) {
          const { status } = await requestExport(context, { object_type: type, limit: 1 });
          expectEqual(`status for ${type}`, status, 200);
        }
      },
    },
    {
      id: 'form-of-the-export',
      title: 'Which fields the export has by default, in which order and with which separator.',
      requirements: ['audit.export-form'],
      observe: async ({ deploymentId }, context) => {
        const { names, records } = await table(context, { object_id: deploymentId });
        const isEmpty = (index: number): boolean => records.every((record) => record[index] === '');
        const emptyFields = names.filter((_, index) => isEmpty(index));
        return observationOf(
          `${names.join(', ')}; empty for a deployment: ${emptyFields.join(', ')}`,
        );
      },
    },
    {
      id: 'ignored-field-by-its-name-in-the-header',
      title: 'Whether ignore takes names with dots, with the separator, or both.',
      requirements: ['audit.export-form'],
      observe: async ({ deploymentId }, context) => {
        const keptNames = async (ignore: string): Promise<string> => {
          const query = { object_id: deploymentId, format_separator: '/', ignore };
          const isThere = (await table(context, query)).names.includes('actor/id');
          return isThere ? 'is there' : 'is omitted';
        };
        return observationOf(
          `actor/id ${await keptNames('actor/id')}, actor.id ${await keptNames('actor.id')}`,
        );
      },
    },
  ],
});

const formula = defineScenario({
  area: 'audit-export',
  name: 'A value that looks like a formula',
  start: 'a user who has deployed a release whose name starts with an equals sign',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const device = await acceptedDevice(context);
    const name = `=${context.newName()}`;
    await ownArtifact(context, { name, content: Buffer.from('named as a formula') });
    const { id } = await context.deploy({ artifact_name: name, devices: [device.id] });
    await entriesOn(context, id, 1);
    return { deploymentId: id, name };
  },
  cases: [
    {
      id: 'formulas',
      title: 'How the export writes a value that starts like a spreadsheet formula.',
      requirements: ['audit.export-form'],
      observe: async ({ deploymentId, name }, context) => {
        const exportTable = await table(context, {
          object_id: deploymentId,
          format_separator: '.',
        });
        const [value = ''] = column(exportTable, 'object.deployment.artifact_name');
        return observationOf(
          value === name ? 'as it is' : `as ${describeValue(value.replace(name, '=name'))}`,
        );
      },
    },
  ],
});

function filterCase([name, filter]: [string, FilterParameter]): JudgingCase<DeploymentWithEntries> {
  return {
    id: `${name}-filters`,
    title: `${filter.title} are exported.`,
    requirements: [filter.ofExport],
    run: async (arranged, context) => {
      const query = { object_id: arranged.deploymentId, format_separator: '.' };
      const ids = column(await table(context, query), 'object.id');
      if (ids.length === 0 || ids.some((id) => id !== arranged.deploymentId)) {
        throw new StartStateNotReached(
          'records of the deployment only',
          `they are on ${describeValue(ids)}`,
        );
      }
      const matchingQuery = filter.matchingQuery(arranged, arranged.createAndAbortEntries);
      expectEqual(
        'records that fit',
        await count(context, { ...query, ...matchingQuery }),
        ids.length,
      );
      for (const nonMatchingQuery of filter.nonMatchingQueries(
        arranged.createAndAbortEntries,
        arranged,
      )) {
        const missingRecords = await count(context, { ...query, ...nonMatchingQuery });
        expectEqual(`records with ${describeValue(nonMatchingQuery)}`, missingRecords, 0);
      }
    },
  };
}

const filterCases = defineScenario({
  area: 'audit-export',
  name: 'Filters of the export',
  start: 'a user who has created a deployment and aborted it',
  effect: 'write',
  needs: ['user'],
  arrange: arrangeTwoEntries,
  cases: [
    ...Object.entries(auditFilters).map(filterCase),
    {
      id: 'object-id-filters',
      title: 'With object_id only the entries on that object are exported.',
      requirements: ['audit.export-object-id'],
      run: async ({ deploymentId }, context) => {
        const query = { object_id: deploymentId, format_separator: '.', limit: 100 };
        const ids = column(await table(context, query), 'object.id');
        const otherId = ids.find((id) => id !== deploymentId);
        expectThat(otherId === undefined, `entries on ${deploymentId}`, `one on ${otherId}`);
        for (const nonMatchingQuery of emptyQueries('object_id')) {
          const missingRecords = await count(context, { ...nonMatchingQuery, limit: 100 });
          expectEqual(`records with ${describeValue(nonMatchingQuery)}`, missingRecords, 0);
        }
      },
    },
  ],
});

/** Spec: Audit logs, "GET /logs/export" */
export const auditExportCases = [...document, ...formula, ...filterCases];
