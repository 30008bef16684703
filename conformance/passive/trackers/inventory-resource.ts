/**
 * The attributes of a device: PATCH sets those that it names, PUT replaces all. Spec: Device
 * inventory
 */
import { isDeepStrictEqual } from 'node:util';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { describeValue } from '../../target/expectations.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import type { Allows } from './allowances.ts';
import type { KnownDevices } from './known-devices.ts';
import {
  type Effect,
  isPlainJson,
  isWellFormed,
  namesIn,
  type Reading,
  type Resource,
} from './resource.ts';
import type { TrackedViolation } from './tracker.ts';

/** An attribute that a device has set, as it may be shown. */
interface SetAttribute {
  readonly value: unknown;
  /** The descriptions that it may have; null stands for none, and an absent list for any. */
  readonly descriptions?: readonly (string | null)[];
  /** The requirement that is violated if users do not see the attribute. */
  readonly requirement: RequirementId;
}

/** Null stands for an attribute that was removed, as an absent name does. */
type Attributes = Readonly<Record<string, SetAttribute | null | 'any'>>;
type Operation = 'patch-attributes' | 'put-attributes';

/** The inventory of a device as users see it. */
export const inventoryResource: Resource<Attributes> = {
  name: 'inventory',
  initial: () => [{}],
  parts: {
    names: Object.keys,
    only: (state, name) =>
      Object.fromEntries(Object.entries(state).filter(([each]) => each === name)),
  },
  writes: {
    'patch-attributes': (exchange, facts) => [effectOf(exchange, facts)],
    'put-attributes': (exchange, facts) => [effectOf(exchange, facts)],
  },
  reads: {
    'get-inventory': ({ responseJson }, facts) => [readingOf(responseJson, facts, '')],
    'list-inventory': ({ responseJson }, facts) => readingsOf(responseJson, facts),
    'search-inventory': ({ responseJson, requestJson }, facts) =>
      // A search may select attributes, so that absent ones say nothing.
      'attributes' in membersOf(requestJson) ? [] : readingsOf(responseJson, facts),
  },
};

function effectOf(exchange: JudgedExchange, facts: KnownDevices): Effect<Attributes> {
  const device = facts.ofToken(exchange);
  if (!isPlainJson(exchange)) return { device, nextStates: () => [undefined] };
  const sent = entriesOf(exchange.requestJson).map(membersOf);
  const operation = exchange.operation.id as Operation;
  return {
    device,
    nextStates: (before) =>
      before === undefined && operation === 'patch-attributes'
        ? [undefined]
        : [attributesAfter({ operation, sent, allows: facts.allows }, before ?? {})],
  };
}

interface AttributeWrite {
  readonly operation: Operation;
  readonly sent: readonly Readonly<Record<string, unknown>>[];
  readonly allows: Allows;
}

function attributesAfter(
  { operation, sent, allows }: AttributeWrite,
  before: Attributes,
): Attributes {
  const isPut = operation === 'put-attributes';
  const kept = Object.entries(before).map(([name, was]) => [name, isPut ? null : patched(was)]);
  const set = sent.map(({ name, value, description, scope }) => {
    const mayBeTwice = allows('inventory.either-of-a-name-twice');
    const isTwice = mayBeTwice && sent.filter((each) => each.name === name).length > 1;
    const isOnce = !isTwice && scope === undefined;
    const was = Object.hasOwn(before, String(name)) ? before[String(name)] : undefined;
    if (!isOnce || !isTracked(name, value)) return [String(name), 'any'];
    const attribute: SetAttribute = {
      value,
      ...descriptionsAfter({ operation, allows }, description, was),
      requirement: requirementOf(operation, was),
    };
    return [String(name), attribute];
  });
  return Object.fromEntries([...kept, ...set]) as Attributes;
}

function requirementOf(operation: Operation, was: Attributes[string] | undefined): RequirementId {
  if (operation === 'put-attributes') return 'inventory.put-assigns';
  return was === undefined || was === null ? 'inventory.patch-adds' : 'inventory.patch-upserts';
}

/** Returns an attribute that a PATCH did not name. */
function patched(was: Attributes[string] | undefined): unknown {
  if (was === undefined || was === null || was === 'any') return was;
  return { ...was, requirement: 'inventory.patch-keeps' };
}

/** Returns the descriptions that an attribute may have: PATCH without one may keep the former. */
function descriptionsAfter(
  { operation, allows }: Pick<AttributeWrite, 'operation' | 'allows'>,
  description: unknown,
  was: Attributes[string] | undefined,
): Pick<SetAttribute, 'descriptions'> {
  if (typeof description === 'string') return { descriptions: [description] };
  if (description !== undefined) return {};
  if (operation === 'put-attributes' || was === null) return { descriptions: [null] };
  if (was === undefined || was === 'any' || was.descriptions === undefined) return {};
  const kept = allows('inventory.patch-keeps-descriptions') ? was.descriptions : [];
  const dropped = allows('inventory.patch-drops-descriptions') ? [null] : [];
  return { descriptions: [...new Set([...kept, ...dropped])] };
}

/**
 * Returns true if every server keeps such an attribute as it is; the contract leaves others open.
 */
function isTracked(name: unknown, value: unknown): boolean {
  const parts = Array.isArray(value) ? value : [value];
  return (
    typeof name === 'string' &&
    name !== '' &&
    parts.length > 0 &&
    [name, ...parts].every((part) => typeof part !== 'string' || isWellFormed(part)) &&
    parts.every((part) => typeof part !== 'number' || Math.abs(part) < Number.MAX_SAFE_INTEGER)
  );
}

function readingsOf(json: unknown, facts: KnownDevices): readonly Reading<Attributes>[] {
  return entriesOf(json).map((each, index) => readingOf(each, facts, `/${index}`));
}

function readingOf(json: unknown, facts: KnownDevices, at: string): Reading<Attributes> {
  const { id, attributes } = membersOf(json);
  const own = entriesOf(attributes)
    .map(membersOf)
    .filter(({ scope }) => scope === 'inventory');
  const found = new Map(own.map((each) => [String(each.name), each]));
  return {
    device: facts.ofId(id),
    differenceFrom: (state, all) => {
      for (const name of namesIn(all)) {
        const expected = Object.hasOwn(state, name) ? state[name] : null;
        const violation = difference(found.get(name), expected ?? null);
        if (violation) return { where: `200 body: ${at}/attributes, ${name},`, ...violation };
      }
      return undefined;
    },
  };
}

function difference(
  found: Readonly<Record<string, unknown>> | undefined,
  expected: SetAttribute | null | 'any',
): Omit<TrackedViolation, 'where'> | undefined {
  if (expected === 'any') return undefined;
  if (expected === null) {
    if (found === undefined) return undefined;
    const requirement = 'inventory.put-replaces';
    const operation = 'put-attributes';
    return {
      must: 'be removed by PUT',
      actual: describeValue(found.value),
      requirement,
      operation,
    };
  }
  const { value, requirement, descriptions } = expected;
  const operation = requirement === 'inventory.put-assigns' ? 'put-attributes' : 'patch-attributes';
  const must = `be ${describeValue(value)}, as the device set it`;
  if (found === undefined) return { must, actual: 'absent', requirement, operation };
  if (!isDeepStrictEqual(found.value, value)) {
    return { must, actual: describeValue(found.value), requirement: kindOf(value), operation };
  }
  const description = typeof found.description === 'string' ? found.description : null;
  if (descriptions === undefined || descriptions.includes(description)) return undefined;
  // An empty description is as good as none.
  if (descriptions.every((each) => (each ?? '') === '') && (description ?? '') === '') {
    return undefined;
  }
  return {
    must: `have the description ${descriptions.map(describeValue).join(' or ')}`,
    actual: describeValue(description),
    requirement:
      descriptions.includes(null) && operation === 'put-attributes'
        ? 'inventory.put-replaces-descriptions'
        : 'inventory.description-is-kept',
    operation,
  };
}

function kindOf(value: unknown): RequirementId {
  const [part, isList] = Array.isArray(value) ? [value[0], true] : [value, false];
  if (typeof part === 'number') return isList ? 'inventory.numbers' : 'inventory.number';
  return isList ? 'inventory.strings' : 'inventory.string';
}
