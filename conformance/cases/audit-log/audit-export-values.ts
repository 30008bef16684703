/**
 * Cases: the values in the CSV of the audit log are equal to those in the list, field by field.
 * Spec: Audit logs, "GET /logs/export"
 */
import { fieldsOf, tables } from '../../../fixtures/contract/resource-tables.ts';
import {
  acceptedDevice,
  deviceAndArtifact,
  requireResponse,
  StartStateNotReached,
} from '../../context/start-states.ts';
import { AdminFailure } from '../../context/target-admin.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import { csvProblem, readCsv } from '../../target/csv.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectThat,
} from '../../target/expectations.ts';
import { exportedTable, requestExport } from './audit-export-table.ts';
import {
  type AuditQuery,
  at,
  ENTRY_WAIT_MAX_MS,
  entries,
  entriesOn,
  list,
  type ReceivedEntry,
} from './audit-reading.ts';

/** Number of entries that exceeds any default limit of an export, yet is small for a real log. */
const MANY = 300;
/** Limit on the number of exported entries, since the log of a server in use can be large. */
const EXPORTED_MAX = 1000;
/** Number of entries to read page by page: several pages, the last of which is not full. */
const PAGED = 250;
/** Time within which a server must have written an entry. */
const WRITTEN_WITHIN_SECONDS = 5;

/** The fields of an entry in the contract's table that are not objects. */
const valuePaths = tables
  .filter(({ name }) => name === 'AuditLog entry')
  .flatMap(fieldsOf)
  .filter(({ type }) => type !== 'object')
  .map(({ path, isRequired }) => ({
    path: path.join('.'),
    // A required field of an optional object is absent if the object is absent.
    isRequired: isRequired && path.length <= 2,
  }));

/** Returns the value in a form that is equal for list and export. */
function comparable(path: string, value: unknown): string {
  const text = typeof value === 'string' ? value : '';
  if (path === 'time') return String(Date.parse(text));
  // A server may prefix a value with an apostrophe, so that spreadsheets do not evaluate it.
  return text.replaceAll('\r\n', '\n').replace(/^'(?=[=+\-@])/, '');
}

function areSame(marks: readonly string[], otherMarks: readonly string[]): boolean {
  return marks.toSorted().join('\0') === otherMarks.toSorted().join('\0');
}

/** Returns true if `available` has every needed text that is not empty, at least as often. */
function isWithin(needed: readonly string[], available: readonly string[]): boolean {
  const remainingTexts = [...available];
  return needed.every((text) => {
    if (text === '') return true;
    const index = remainingTexts.indexOf(text);
    if (index !== -1) remainingTexts.splice(index, 1);
    return index !== -1;
  });
}

/** Asserts that the document has exactly these entries, with equal values of all fields. */
function expectSameEntries(document: string, listEntries: readonly ReceivedEntry[]): void {
  const [names = [], ...records] = readCsv(document);
  const missingColumn = valuePaths.find(
    ({ path, isRequired }) => isRequired && !names.includes(path),
  );
  expectThat(missingColumn === undefined, `a field ${missingColumn?.path}`, describeValue(names));
  expectEqual('records', records.length, listEntries.length);
  for (const { path, isRequired } of valuePaths.filter((each) => names.includes(each.path))) {
    const index = names.indexOf(path);
    const inExport = records.map((record) => comparable(path, record[index]));
    const inList = listEntries.map((entry) => comparable(path, at(entry, path)));
    // One of the two responses may omit an optional value that the other has.
    const isSame = isRequired || !inList.includes('') ? areSame : isWithin;
    if (isSame(inList, inExport)) continue;
    throw new ExpectationFailure(`${path} ${describeValue(inList)}`, describeValue(inExport));
  }
}

/** The objects of entries whose values must be quoted in CSV. */
interface ObjectsToQuote {
  readonly objectIds: readonly string[];
}

/** Suffixes that require quotes, each with an alternative for targets that refuse line ends. */
const awkwardEnds = [
  ['"of two", and; more\r\nlines\n', '"of two", and; more'],
  ['of two\nlines', 'of, two'],
] as const;

/** Creates a deployment whose name requires quotes, and returns its ID. */
async function awkwardDeployment(
  context: TestContext,
  [end, tamer]: (typeof awkwardEnds)[number],
): Promise<string> {
  const { device, artifact } = await deviceAndArtifact(context, 'plain');
  const spec = { artifact_name: artifact.name, devices: [device.id] };
  const name = context.newName();
  try {
    return (await context.deploy({ ...spec, name: `${name} ${end}` })).id;
  } catch (error) {
    if (!(error instanceof AdminFailure)) throw error;
    return (await context.deploy({ ...spec, name: `${name} ${tamer}` })).id;
  }
}

async function awkward(context: TestContext): Promise<ObjectsToQuote> {
  const [device, ...deploymentIds] = await Promise.all([
    acceptedDevice(context),
    ...awkwardEnds.map((ends) => awkwardDeployment(context, ends)),
  ]);
  await context.admin.decide(device.id, device.key, 'rejected');
  return { objectIds: [...deploymentIds, device.id] };
}

/** Returns a case that passes the export and the list of each object's entries to `judge`. */
function exportCase(
  facts: Pick<JudgingCase<ObjectsToQuote>, 'id' | 'title' | 'requirements'>,
  judge: (document: string, listEntries: readonly ReceivedEntry[]) => void,
): JudgingCase<ObjectsToQuote> {
  return {
    ...facts,
    run: async ({ objectIds }, context) => {
      for (const id of objectIds) {
        await entriesOn(context, id, 1);
        const response = await requestExport(context, { object_id: id, format_separator: '.' });
        requireResponse('export-audit-logs', response, 200);
        judge(response.text, await entries(context, { object_id: id, per_page: 100 }));
      }
    },
  };
}

const values = defineScenario<ObjectsToQuote>({
  area: 'audit-export',
  name: 'Values that need quotes',
  start:
    'entries on deployments and on a device, with quotes, commas and line ends in their values',
  effect: 'write',
  needs: ['user'],
  arrange: awkward,
  cases: [
    exportCase(
      {
        id: 'export-can-be-parsed',
        title: 'The export is well-formed CSV: quotes enclose whole fields, in pairs.',
        requirements: ['audit.export-fields-are-quoted'],
      },
      (document) => {
        const problem = csvProblem(document);
        expectThat(problem === undefined, 'CSV', `${problem} in ${describeValue(document)}`);
      },
    ),
    exportCase(
      {
        id: 'every-field-is-that-of-the-list',
        title: 'Each field of an exported entry has the value that it has in the list.',
        requirements: ['audit.export-same-entries', 'audit.export-fields-are-quoted'],
      },
      expectSameEntries,
    ),
  ],
});

async function totalOf(context: TestContext, query: AuditQuery): Promise<number> {
  const { headers } = await list(context, { ...query, per_page: 1 });
  return Number(headers['x-total-count'] ?? Number.NaN);
}

/** Returns a query for at least `MANY` entries, whose number no longer grows. */
async function manyEntries(context: TestContext): Promise<AuditQuery> {
  const nowMs = context.serverNowMs(await list(context, { per_page: 1 }));
  const createdBefore = Math.floor(nowMs / 1000) - WRITTEN_WITHIN_SECONDS;
  const timeQuery = { created_before: createdBefore };
  if ((await totalOf(context, timeQuery)) >= MANY) return timeQuery;
  const name = context.newName();
  const { device, artifact } = await deviceAndArtifact(context, 'plain');
  const one = async (): Promise<void> => {
    const spec = { name, artifact_name: artifact.name, devices: [device.id] };
    const { id } = await context.deploy(spec);
    await context.admin.abort(id);
  };
  // Only one deployment is active at a time, since a server may refuse a duplicate.
  for (let deploymentCount = 0; deploymentCount < MANY; deploymentCount += 2) await one();
  const nameFilter = { object_deployment_name: name };
  const total = await context.eventually(
    () => totalOf(context, nameFilter),
    (entryCount) => entryCount >= MANY,
    ENTRY_WAIT_MAX_MS,
  );
  if (total >= MANY) return nameFilter;
  throw new StartStateNotReached(`${MANY} entries on deployments called ${name}`, `found ${total}`);
}

/** Returns the first entries of the list, read page by page; a server may return short pages. */
async function pagedEntries(
  context: TestContext,
  query: AuditQuery,
): Promise<readonly ReceivedEntry[]> {
  const pagedEntryList: ReceivedEntry[] = [];
  for (let page = 1; pagedEntryList.length < PAGED; page += 1) {
    const more = await entries(context, { ...query, per_page: 100, page });
    if (more.length === 0)
      throw new StartStateNotReached(`${PAGED} entries`, `${pagedEntryList.length} came`);
    pagedEntryList.push(...more);
  }
  return pagedEntryList.slice(0, PAGED);
}

/** Returns a text that identifies an entry, and the time of the entry. */
function markOf(valueAt: (path: string) => string) {
  const time = valueAt('time');
  return { time, text: [time, valueAt('action'), valueAt('object.id')].join(' ') };
}

/** Returns the needed texts that `available` lacks or has less often. */
function lacking(needed: readonly string[], available: readonly string[]): readonly string[] {
  const remainingTexts = [...available];
  return needed.filter((text) => {
    const index = remainingTexts.indexOf(text);
    if (index !== -1) remainingTexts.splice(index, 1);
    return index === -1;
  });
}

const large = defineScenario<AuditQuery>({
  area: 'audit-export',
  name: 'A large export',
  start: `a user with at least ${MANY} entries in the log`,
  effect: 'write',
  needs: ['user'],
  arrange: manyEntries,
  cases: [
    {
      id: 'large-export-is-whole',
      title: `An export of more than ${MANY} entries holds each of them, up to its limit.`,
      requirements: ['audit.export-same-entries', 'audit.export-limit'],
      run: async (query, context) => {
        const total = await totalOf(context, query);
        const { records } = await exportedTable(context, { ...query, limit: EXPORTED_MAX });
        const newTotal = await totalOf(context, query);
        if (newTotal !== total)
          throw new StartStateNotReached('a log that does not grow', `it grew by ${newTotal}`);
        expectEqual('records', records.length, Math.min(total, EXPORTED_MAX));
      },
    },
    {
      id: 'large-export-is-that-of-the-list',
      title: `The first ${PAGED} entries of an export are those of the list, each as many times.`,
      requirements: ['audit.export-same-entries', 'audit.export-limit'],
      run: async (query, context) => {
        const sorted = { ...query, sort: 'asc' };
        const listEntries = await pagedEntries(context, sorted);
        const { names, records } = await exportedTable(context, {
          ...sorted,
          limit: PAGED,
          format_separator: '.',
        });
        expectEqual('records', records.length, PAGED);
        const inExport = records.map((record) =>
          markOf((path) => comparable(path, record[names.indexOf(path)])),
        );
        const inList = listEntries.map((entry) =>
          markOf((path) => comparable(path, at(entry, path))),
        );
        // The order of entries with the same time is left open.
        const lastTime = inList.at(-1)?.time;
        const [exportMarks, listMarks] = [inExport, inList].map((marks) =>
          marks.filter(({ time }) => time !== lastTime).map(({ text }) => text),
        );
        const missingMarks = lacking(listMarks ?? [], exportMarks ?? []);
        const surplus = lacking(exportMarks ?? [], listMarks ?? []);
        expectThat(
          missingMarks.length === 0,
          'each listed entry in the export',
          describeValue(missingMarks),
        );
        expectThat(surplus.length === 0, 'listed entries alone, each once', describeValue(surplus));
      },
    },
  ],
});

/** Spec: Audit logs, "GET /logs/export" */
export const auditExportValueCases = [...values, ...large];
