/**
 * Lenient reading of the audit log, so that each case checks only the field or requirement that it
 * names. If anything else is missing, the start state of the case is missed, which is not a
 * failure. Spec: Audit logs
 */
import { fieldsOf, tables } from '../../../fixtures/contract/resource-tables.ts';
import { requireResponse, StartStateNotReached } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import type { CallOptions } from '../../target/call.ts';
import { describeValue } from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Parameters of the list and of the export. */
export type AuditQuery = NonNullable<CallOptions['query']>;

/** An audit entry as received; its fields are not checked. */
export type ReceivedEntry = Readonly<Record<string, unknown>>;

const CENTURY_BEGAN_MS = Date.UTC(2000, 0, 1);

/** Servers may write entries after the response; three seconds is enough for known servers. */
export const ENTRY_WAIT_MAX_MS = 3000;

/** The actions and object types of entries. Spec: AuditLog entry */
export const actions = ['create', 'update', 'delete', 'abort', 'reject', 'decommission'];
export const objectTypes = ['tenant', 'user', 'deployment', 'artifact', 'device'];
/** The export has no tenant entries. Spec: Audit logs, "GET /logs/export" */
export const exportedTypes = ['user', 'deployment', 'artifact', 'device'];

/** An ID that no resource has. */
export const unknownId = '00000000-0000-4000-8000-000000000000';

/** Requests the list of audit entries (`GET /logs`) and returns whatever is answered. */
export function list(context: TestContext, query: AuditQuery = {}): Promise<HttpResponse> {
  return context.admin.caller.call('list-audit-logs', { query });
}

/**
 * Returns the entries in a response; throws StartStateNotReached when it is not a list of objects.
 */
export function entriesIn(response: HttpResponse): readonly ReceivedEntry[] {
  requireResponse('list-audit-logs', response, 200);
  const entries = listIn(response);
  if (entries?.every(isEntry)) return entries;
  throw new StartStateNotReached('a list of entries', describeValue(response.text));
}

/** Returns the JSON array in a response; undefined when it is not an array. */
export function listIn({ text }: HttpResponse): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Returns true for a JSON object. */
export function isEntry(value: unknown): value is ReceivedEntry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the entries that the query finds. */
export async function entries(
  context: TestContext,
  query: AuditQuery,
): Promise<readonly ReceivedEntry[]> {
  return entriesIn(await list(context, query));
}

/**
 * Returns the entries on one object, newest first, once there are `atLeast` of them and none on
 * other objects; otherwise throws StartStateNotReached.
 */
export async function entriesOn(
  context: TestContext,
  objectId: string,
  atLeast: number,
): Promise<readonly ReceivedEntry[]> {
  const listedEntries = await context.eventually(
    () => entries(context, { object_id: objectId }),
    ({ length }) => length >= atLeast,
    ENTRY_WAIT_MAX_MS,
  );
  const isOwn = listedEntries.every((entry) =>
    [objectId, undefined].includes(textAt(entry, 'object.id')),
  );
  if (listedEntries.length >= atLeast && isOwn) return listedEntries;
  throw new StartStateNotReached(
    `${atLeast} entries on ${objectId}`,
    `there are ${describeValue(listedEntries)}`,
  );
}

/** Returns the member at a path such as `actor.id`; undefined when it is absent. */
export function at(entry: ReceivedEntry, path: string): unknown {
  let value: unknown = entry;
  for (const name of path.split('.')) value = isEntry(value) ? value[name] : undefined;
  return value;
}

/** Returns the member at a path if it is a string. */
export function textAt(entry: ReceivedEntry, path: string): string | undefined {
  const value = at(entry, path);
  return typeof value === 'string' ? value : undefined;
}

/** The paths of the fields of an entry in the contract's table. */
const fieldPaths = tables
  .filter(({ name }) => name === 'AuditLog entry')
  .flatMap(fieldsOf)
  .map(({ path }) => path.join('.'))
  .filter((path) => path !== 'time');

/**
 * Returns true if two responses show the same entry: at the same time, and with equal texts. Either
 * may omit what is optional, and write the time in another zone.
 */
export function isSameEntry(one: ReceivedEntry, other: ReceivedEntry): boolean {
  const [time, otherTime] = [one, other].map((each) => Date.parse(textAt(each, 'time') ?? ''));
  return (
    time === otherTime &&
    fieldPaths.every((path) => {
      const [text, otherText] = [textAt(one, path), textAt(other, path)];
      return text === undefined || otherText === undefined || text === otherText;
    })
  );
}

/**
 * Returns the actions of a deployment's two entries, in their order; throws StartStateNotReached
 * when they are not one `create` and one `abort`.
 */
export function actionsOf(listedEntries: readonly ReceivedEntry[]): readonly string[] {
  const actions = listedEntries.map((entry) => textAt(entry, 'action') ?? '');
  requireCreateAndAbort(actions);
  return actions;
}

/** Throws StartStateNotReached when the actions are not one `create` and one `abort`. */
export function requireCreateAndAbort(actions: readonly string[]): void {
  if ([...actions].sort().join() === 'abort,create') return;
  throw new StartStateNotReached(
    'an entry `create` and an entry `abort`',
    `got ${describeValue(actions)}`,
  );
}

/**
 * Returns Unix seconds around the entries. `oldest`: the time of the oldest entry, rounded down.
 * `newest`: the time of the newest entry, rounded up. `afterNewest`: a second that is after the
 * newest entry even if its time has no fraction.
 */
export function secondsAround(listedEntries: readonly ReceivedEntry[]): {
  readonly oldest: number;
  readonly newest: number;
  readonly afterNewest: number;
} {
  const times = listedEntries.map((entry) => Date.parse(textAt(entry, 'time') ?? ''));
  // Another case checks implausible times.
  if (times.length === 0 || !times.every((time) => time > CENTURY_BEGAN_MS)) {
    throw new StartStateNotReached('entries with a time', `got ${describeValue(listedEntries)}`);
  }
  return {
    oldest: Math.floor(Math.min(...times) / 1000),
    newest: Math.ceil(Math.max(...times) / 1000),
    afterNewest: Math.floor(Math.max(...times) / 1000) + 1,
  };
}
