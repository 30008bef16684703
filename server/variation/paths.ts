/** Member paths: finds those of a shape, and changes the members there in a value. */
import type * as v from 'valibot';
import { isObject } from '../../fixtures/base/json.ts';
import type { MemberPath } from '../../fixtures/contract/list-orders.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { timestamp } from '../../fixtures/contract/text.ts';

/** The member paths of a shape, by their properties. */
export interface ShapePaths {
  /** Objects that may have members which the shape does not name. */
  readonly open: readonly MemberPath[];
  readonly lists: readonly MemberPath[];
  readonly timestamps: readonly MemberPath[];
  /** Members that may be absent. */
  readonly optional: readonly MemberPath[];
}

interface FoundPaths {
  readonly open: Set<MemberPath>;
  readonly lists: Set<MemberPath>;
  readonly timestamps: Set<MemberPath>;
  readonly optional: Set<MemberPath>;
}

/**
 * The members of a valibot schema that this module reads. Which of them exist depends on its type.
 */
interface SchemaParts {
  readonly type: string;
  readonly pipe?: readonly { readonly kind: string }[];
  readonly item?: v.GenericSchema;
  readonly wrapped?: v.GenericSchema;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly options?: readonly unknown[];
}

const pathsByShape = new WeakMap<v.GenericSchema, ShapePaths>();

/**
 * Returns the lists in an operation's response that have no defined order. Only these are shuffled,
 * and only within the requested page.
 */
export function freeLists(operation: Operation | undefined): readonly MemberPath[] {
  const orders = operation?.response?.lists ?? {};
  return Object.keys(orders).filter((memberPath) => orders[memberPath] === 'free');
}

/** Returns the member paths of a shape, without those inside maps with arbitrary names. */
export function pathsOf(shape: v.GenericSchema): ShapePaths {
  const cachedPaths = pathsByShape.get(shape);
  if (cachedPaths) return cachedPaths;
  const foundPaths: FoundPaths = {
    open: new Set(),
    lists: new Set(),
    timestamps: new Set(),
    optional: new Set(),
  };
  searchSchema(shape, [], foundPaths);
  const paths = {
    open: [...foundPaths.open],
    lists: [...foundPaths.lists],
    timestamps: [...foundPaths.timestamps],
    optional: [...foundPaths.optional],
  };
  pathsByShape.set(shape, paths);
  return paths;
}

function searchSchema(schema: v.GenericSchema, path: readonly string[], paths: FoundPaths): void {
  const parts = schema as unknown as SchemaParts;
  const memberPath = path.join('.');
  if (schema === timestamp) paths.timestamps.add(memberPath);
  if (parts.type === 'loose_object') paths.open.add(memberPath);
  if (parts.type === 'array') paths.lists.add(memberPath);
  if (['optional', 'nullish'].includes(parts.type)) paths.optional.add(memberPath);
  for (const piped of parts.pipe ?? []) {
    if (piped.kind === 'schema' && piped !== schema) lookAgain(piped as v.GenericSchema);
  }
  if (parts.item) searchSchema(parts.item, [...path, '*'], paths);
  if (parts.wrapped) searchSchema(parts.wrapped, path, paths);
  for (const [name, member] of Object.entries(parts.entries ?? {})) {
    searchSchema(member, [...path, name], paths);
  }
  // All options of an intersection apply at once; those of a union need not.
  if (parts.type === 'intersect') {
    for (const option of parts.options ?? []) searchSchema(option as v.GenericSchema, path, paths);
  }

  function lookAgain(piped: v.GenericSchema): void {
    // The first schema of a pipe is the pipe itself, so it is skipped.
    if ((piped as unknown as SchemaParts).pipe !== parts.pipe) searchSchema(piped, path, paths);
  }
}

/** Returns the value with `change` applied at every existing member with that path. */
export function changedAt(
  value: unknown,
  memberPath: MemberPath,
  change: (found: unknown) => unknown,
): unknown {
  return changedBelow(value, memberPath === '' ? [] : memberPath.split('.'), change);
}

/** Returns the value without every member with that path. */
export function withoutMember(value: unknown, memberPath: MemberPath): unknown {
  const names = memberPath.split('.');
  const member = names.pop() ?? '';
  return changedBelow(value, names, (found) => {
    if (!isObject(found) || !Object.hasOwn(found, member)) return found;
    return Object.fromEntries(Object.entries(found).filter(([name]) => name !== member));
  });
}

function changedBelow(
  value: unknown,
  [name, ...rest]: readonly string[],
  change: (found: unknown) => unknown,
): unknown {
  if (name === undefined) return change(value);
  const changeMember = (member: unknown): unknown => changedBelow(member, rest, change);
  if (Array.isArray(value)) return name === '*' ? value.map(changeMember) : value;
  if (!isObject(value)) return value;
  if (name !== '*' && !Object.hasOwn(value, name)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      name === '*' || key === name ? changeMember(member) : member,
    ]),
  );
}
