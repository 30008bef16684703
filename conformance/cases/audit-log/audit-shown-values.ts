/**
 * Cases: each value that an entry shows selects the entry, when a filter has it: those of users and
 * devices, and of objects of every type. Spec: Audit logs
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import { pendingDevice } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { describeValue, ExpectationFailure } from '../../target/expectations.ts';
import { expectNames, exportedTable } from './audit-export-table.ts';
import { entryKeys } from './audit-paging.ts';
import {
  type AuditQuery,
  ENTRY_WAIT_MAX_MS,
  entries,
  exportedTypes,
  type ReceivedEntry,
  secondsAround,
  textAt,
} from './audit-reading.ts';

/** The filters by a value that an entry shows: where it stands, and the requirements. */
const filters: readonly {
  readonly name: string;
  readonly path: string;
  readonly ofList: RequirementId;
  readonly ofExport: RequirementId;
}[] = [
  {
    name: 'actor_id',
    path: 'actor.id',
    ofList: 'audit.actor-filters',
    ofExport: 'audit.export-actor-id',
  },
  {
    name: 'actor_type',
    path: 'actor.type',
    ofList: 'audit.actor-type-filter',
    ofExport: 'audit.export-actor-type',
  },
  {
    name: 'actor_email',
    path: 'actor.email',
    ofList: 'audit.actor-email-filter',
    ofExport: 'audit.export-actor-email',
  },
  {
    name: 'object_id',
    path: 'object.id',
    ofList: 'audit.object-filters',
    ofExport: 'audit.export-object-id',
  },
  {
    name: 'object_type',
    path: 'object.type',
    ofList: 'audit.object-type-filter',
    ofExport: 'audit.export-object-type',
  },
  {
    name: 'object_deployment_name',
    path: 'object.deployment.name',
    ofList: 'audit.object-deployment-name-filter',
    ofExport: 'audit.export-object-deployment-name',
  },
];

const ofTimes = ['audit.time-bounds', 'audit.created-before'] as const;
const ofExportedTimes = ['audit.export-created-after', 'audit.export-created-before'] as const;

/** The requirements that `expectShownValuesSelect` checks. */
export const shownValueRequirements: readonly [RequirementId, ...RequirementId[]] = [
  ...ofTimes,
  ...ofExportedTimes,
  ...filters.flatMap(({ ofList, ofExport }) => [ofList, ofExport]),
];

/** Returns the newest entry for each pair of an actor's type and an object's type. */
export function ofEachKind(shownEntries: readonly ReceivedEntry[]): readonly ReceivedEntry[] {
  const kindOf = (entry: ReceivedEntry): string =>
    `${textAt(entry, 'actor.type')} ${textAt(entry, 'object.type')}`;
  const newest = new Map(shownEntries.toReversed().map((entry) => [kindOf(entry), entry]));
  return [...newest.values()];
}

/** The filters, each with the value that an entry shows for it. */
function shownValues(entry: ReceivedEntry) {
  return filters.flatMap(({ path, ...filter }) => {
    const value = textAt(entry, path);
    // Another case checks that it is an email address.
    const isOdd = path === 'actor.email' && !value?.includes('@');
    return value === undefined || value === '' || isOdd ? [] : [{ ...filter, value }];
  });
}

/**
 * Returns true if the time of the entry has a fraction. Only such an entry shows whether a server
 * compares whole seconds: one of exactly a second is selected by that second on every server.
 */
export function isWithinASecond(entry: ReceivedEntry): boolean {
  const { oldest, newest } = secondsAround([entry]);
  return oldest !== newest;
}

/** Asserts that each entry is selected by all its values together, in the list and the export. */
export async function expectShownValuesSelect(
  context: TestContext,
  shownEntries: readonly ReceivedEntry[],
): Promise<void> {
  const probe = shownEntries.find(isWithinASecond);
  const isWholeSecond = probe !== undefined && (await selectsItsSecond(context, probe));
  for (const entry of shownEntries) {
    const filterValues = shownValues(entry);
    const { oldest: created_after, newest } = secondsAround([entry]);
    const times = { created_after, created_before: isWholeSecond ? created_after : newest };
    const query: AuditQuery = Object.assign(
      {},
      times,
      ...filterValues.map(({ name, value }) => ({ [name]: value })),
    );
    // Without the types too, since a filter by an ID must not imply one.
    const { actor_type: _, object_type: __, ...untyped } = query;
    for (const each of [query, untyped]) {
      if (!(await isListed(context, each, entry)))
        throw await unlistedFailure(context, entry, times);
    }
    const isExported = exportedTypes.includes(textAt(entry, 'object.type') ?? '');
    if (!isExported || (await isInExport(context, query))) continue;
    const missed = [...ofExportedTimes, ...filterValues.map(({ ofExport }) => ofExport)];
    throw new ExpectationFailure(`a record for ${JSON.stringify(query)}`, 'none', missed);
  }
}

/** Returns true if the export has a record for the query, below the names of its fields. */
async function isInExport(context: TestContext, query: AuditQuery): Promise<boolean> {
  const table = await exportedTable(context, query);
  expectNames(table);
  return table.records.length > 0;
}

/** Returns true if `created_before` selects the entries of its whole second. */
function selectsItsSecond(context: TestContext, entry: ReceivedEntry): Promise<boolean> {
  const query = { object_id: textAt(entry, 'object.id') ?? '' };
  return isListed(context, { ...query, created_before: secondsAround([entry]).oldest }, entry);
}

async function isListed(
  context: TestContext,
  query: AuditQuery,
  entry: ReceivedEntry,
): Promise<boolean> {
  const listedEntries = await entries(context, { ...query, per_page: 100 });
  const isIt = (each: ReceivedEntry): boolean =>
    textAt(each, 'object.id') === textAt(entry, 'object.id') &&
    entryKeys([each]).join() === entryKeys([entry]).join();
  return listedEntries.some(isIt);
}

/** Returns the failure that names the filters which alone do not select the entry. */
async function unlistedFailure(
  context: TestContext,
  entry: ReceivedEntry,
  times: AuditQuery,
): Promise<ExpectationFailure> {
  const missed: RequirementId[] = [];
  const object = { object_id: textAt(entry, 'object.id') ?? '' };
  for (const { name, value, ofList } of shownValues(entry)) {
    if (!(await isListed(context, { ...object, [name]: value }, entry))) missed.push(ofList);
  }
  if (!(await isListed(context, { ...object, ...times }, entry))) missed.push(...ofTimes);
  const all = missed.length > 0 ? missed : shownValues(entry).map(({ ofList }) => ofList);
  return new ExpectationFailure(`the entry ${describeValue(entry)} by its values`, 'none', all);
}

/** Spec: Audit logs */
export const auditShownValueCases = defineScenario<readonly ReceivedEntry[]>({
  area: 'audit-log',
  name: 'Values that entries show',
  start: 'a log with entries on a new device, which a user has rejected, and on a deleted artifact',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const { id, key } = await pendingDevice(context);
    await context.admin.decide(id, key, 'rejected');
    const artifact = await ownArtifact(context, { content: Buffer.from('for a while') });
    await context.admin.deleteArtifact(artifact.id);
    const [ofDevice, otherEntries] = await context.eventually(
      async () => [
        await entries(context, { object_id: id }),
        await entries(context, { per_page: 100 }),
      ],
      ([deviceEntries = []]) => deviceEntries.length > 0,
      ENTRY_WAIT_MAX_MS,
    );
    return [...(otherEntries ?? []), ...(ofDevice ?? [])];
  },
  cases: [
    {
      id: 'shown-values-select',
      title: 'An entry is selected by each value that it shows, in the list and in the export.',
      requirements: shownValueRequirements,
      run: (shownEntries, context) => expectShownValuesSelect(context, ofEachKind(shownEntries)),
    },
  ],
});
