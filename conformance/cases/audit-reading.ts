/**
 * How cases read the audit log: loosely, so that each judges only the field or the rule that it
 * names, and what it needs beside that is missing in vain, not failed. Spec: Audit logs
 */

import { needStatus, StartStateMissed } from '../context/start-states.ts';
import type { TestContext } from '../context/test-context.ts';
import type { Answer } from '../target/answer.ts';
import type { CallOptions } from '../target/call.ts';
import { shown } from '../target/expectations.ts';

/** Parameters of the list and of the export. */
export type Query = NonNullable<CallOptions['query']>;

/** An entry as it came. */
export type Entry = Readonly<Record<string, unknown>>;

const CENTURY_BEGAN_MS = Date.UTC(2000, 0, 1);

/** Servers write entries after their answer; the field waits for three seconds. */
export const ENTRY_WAIT_MAX_MS = 3000;

/** What may be done, and to what. Spec: AuditLog entry */
export const actions = ['create', 'update', 'delete', 'abort', 'reject', 'decommission'];
export const objectTypes = ['tenant', 'user', 'deployment', 'artifact', 'device'];
/** The export knows no tenants. Spec: Audit logs, "GET /logs/export" */
export const exportedTypes = ['user', 'deployment', 'artifact', 'device'];

/** An id that nothing has. */
export const nobody = '00000000-0000-4000-8000-000000000000';

/** The list as it is answered. */
export function list(context: TestContext, query: Query = {}): Promise<Answer> {
  return context.admin.caller.call('list-audit-logs', { query });
}

/** The entries in an answer; the start state is missed when it is no list of objects. */
export function entriesIn(answer: Answer): readonly Entry[] {
  needStatus('a list of entries', answer, 200);
  const entries = listIn(answer);
  if (entries?.every(isEntry)) return entries;
  throw new StartStateMissed('a list of entries', shown(answer.text));
}

/** The JSON array of an answer; undefined when it is none. */
export function listIn({ text }: Answer): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Whether it is a JSON object. */
export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The entries that the query finds. */
export async function entries(context: TestContext, query: Query): Promise<readonly Entry[]> {
  return entriesIn(await list(context, query));
}

/** The entries on one object, newest first, once there are so many and nothing of other objects. */
export async function entriesOn(
  context: TestContext,
  objectId: string,
  atLeast: number,
): Promise<readonly Entry[]> {
  const found = await context.settled(
    () => entries(context, { object_id: objectId }),
    ({ length }) => length >= atLeast,
    ENTRY_WAIT_MAX_MS,
  );
  const isOwn = found.every((entry) => [objectId, undefined].includes(textAt(entry, 'object.id')));
  if (found.length >= atLeast && isOwn) return found;
  throw new StartStateMissed(`${atLeast} entries on ${objectId}`, `there are ${shown(found)}`);
}

/** The member at a path such as `actor.id`; undefined where there is none. */
export function at(entry: Entry, path: string): unknown {
  let value: unknown = entry;
  for (const name of path.split('.')) value = isEntry(value) ? value[name] : undefined;
  return value;
}

/** The member at a path when it is a text. */
export function textAt(entry: Entry, path: string): string | undefined {
  const value = at(entry, path);
  return typeof value === 'string' ? value : undefined;
}

/**
 * What tells a deployment's two entries apart, in their order; the start state is missed when they
 * are not one `create` and one `abort`.
 */
export function actionsOf(found: readonly Entry[]): readonly string[] {
  const actions = found.map((entry) => textAt(entry, 'action') ?? '');
  needCreateAndAbort(actions);
  return actions;
}

/** Misses the start state when the actions are not one `create` and one `abort`. */
export function needCreateAndAbort(actions: readonly string[]): void {
  if ([...actions].sort().join() === 'abort,create') return;
  throw new StartStateMissed('an entry `create` and an entry `abort`', `saw ${shown(actions)}`);
}

/** The Unix seconds of entries: the last full one before the oldest, the first after the newest. */
export function secondsAround(found: readonly Entry[]): {
  readonly before: number;
  readonly after: number;
} {
  const times = found.map((entry) => Date.parse(textAt(entry, 'time') ?? ''));
  // A time that nobody can believe is for another case to judge.
  if (times.length === 0 || !times.every((time) => time > CENTURY_BEGAN_MS)) {
    throw new StartStateMissed('entries with a time', `saw ${shown(found)}`);
  }
  return {
    before: Math.floor(Math.min(...times) / 1000),
    after: Math.ceil(Math.max(...times) / 1000),
  };
}
