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
    'patch-attributes': (exchange, devices) => [effectOf(exchange, devices)],
    'put-attributes': (exchange, devices) => [effectOf(exchange, devices)],
  },
  reads: {
    'get-inventory': ({ responseJson }, devices) => [readingOf(responseJson, devices, '')],
    'list-inventory': ({ responseJson }, devices) => readingsOf(responseJson, devices),
    'search-inventory': ({ responseJson, requestJson }, devices) =>
      // A search may select attributes, so that absent ones say nothing.
      'attributes' in membersOf(requestJson) ? [] : readingsOf(responseJson, devices),
  },
};

function effectOf(exchange: JudgedExchange, devices: KnownDevices): Effect<Attributes> {
  const device = devices.ofToken(exchange);
  if (!isPlainJson(exchange)) return { device, nextStates: () => [undefined] };
  const attributes = entriesOf(exchange.requestJson).map(membersOf);
  const operation = exchange.operation.id as Operation;
  return {
    device,
    nextStates: (earlierState) =>
      earlierState === undefined && operation === 'patch-attributes'
        ? [undefined]
        : [attributesAfter({ operation, attributes, allows: devices.allows }, earlierState ?? {})],
  };
}

interface AttributeWrite {
  readonly operation: Operation;
  readonly attributes: readonly Readonly<Record<string, unknown>>[];
  readonly allows: Allows;
}

function attributesAfter(
  { operation, attributes, allows }: AttributeWrite,
  earlierState: Attributes,
): Attributes {
  const isPut = operation === 'put-attributes';
  const otherAttributes = Object.entries(earlierState).map(([name, earlierAttribute]) => [
    name,
    isPut ? null : attributeAfterPatch(earlierAttribute),
  ]);
  const namedAttributes = attributes.map(({ name, value, description, scope }) => {
    const mayBeTwice = allows('inventory.either-of-a-name-twice');
    const isTwice = mayBeTwice && attributes.filter((each) => each.name === name).length > 1;
    const isOnce = !isTwice && scope === undefined;
    const earlierAttribute = Object.hasOwn(earlierState, String(name))
      ? earlierState[String(name)]
      : undefined;
    if (!isOnce || !isTracked(name, value)) return [String(name), 'any'];
    const attribute: SetAttribute = {
      value,
      ...descriptionsAfter({ operation, allows }, description, earlierAttribute),
      requirement: requirementOf(operation, earlierAttribute),
    };
    return [String(name), attribute];
  });
  return Object.fromEntries([...otherAttributes, ...namedAttributes]) as Attributes;
}

function requirementOf(
  operation: Operation,
  earlierAttribute: Attributes[string] | undefined,
): RequirementId {
  if (operation === 'put-attributes') return 'inventory.put-assigns';
  return earlierAttribute === undefined || earlierAttribute === null
    ? 'inventory.patch-adds'
    : 'inventory.patch-upserts';
}

/** Returns an attribute that a PATCH did not name. */
function attributeAfterPatch(earlierAttribute: Attributes[string] | undefined): unknown {
  if (earlierAttribute === undefined || earlierAttribute === null || earlierAttribute === 'any')
    return earlierAttribute;
  return { ...earlierAttribute, requirement: 'inventory.patch-keeps' };
}

/** Returns the descriptions that an attribute may have: PATCH without one may keep the former. */
function descriptionsAfter(
  { operation, allows }: Pick<AttributeWrite, 'operation' | 'allows'>,
  description: unknown,
  earlierAttribute: Attributes[string] | undefined,
): Pick<SetAttribute, 'descriptions'> {
  if (typeof description === 'string') return { descriptions: [description] };
  if (description !== undefined) return {};
  if (operation === 'put-attributes' || earlierAttribute === null) return { descriptions: [null] };
  if (
    earlierAttribute === undefined ||
    earlierAttribute === 'any' ||
    earlierAttribute.descriptions === undefined
  )
    return {};
  const keptDescriptions = allows('inventory.patch-keeps-descriptions')
    ? earlierAttribute.descriptions
    : [];
  const noDescription = allows('inventory.patch-drops-descriptions') ? [null] : [];
  return { descriptions: [...new Set([...keptDescriptions, ...noDescription])] };
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

function readingsOf(json: unknown, devices: KnownDevices): readonly Reading<Attributes>[] {
  return entriesOf(json).map((each, index) => readingOf(each, devices, `/${index}`));
}

function readingOf(json: unknown, devices: KnownDevices, at: string): Reading<Attributes> {
  const { id, attributes } = membersOf(json);
  const ownAttributes = entriesOf(attributes)
    .map(membersOf)
    .filter(({ scope }) => scope === 'inventory');
  const shownAttributes = new Map(ownAttributes.map((each) => [String(each.name), each]));
  return {
    device: devices.ofId(id),
    differenceFrom: (state, possibleStates) => {
      for (const name of namesIn(possibleStates)) {
        const assignedValue = Object.hasOwn(state, name) ? state[name] : null;
        const violation = differenceOfAttribute(shownAttributes.get(name), assignedValue ?? null);
        if (violation) return { part: `200 body: ${at}/attributes, ${name},`, ...violation };
      }
      return undefined;
    },
  };
}

function differenceOfAttribute(
  shownAttribute: Readonly<Record<string, unknown>> | undefined,
  assigned: SetAttribute | null | 'any',
): Omit<TrackedViolation, 'part'> | undefined {
  if (assigned === 'any') return undefined;
  if (assigned === null) {
    if (shownAttribute === undefined) return undefined;
    const requirement = 'inventory.put-replaces';
    const operation = 'put-attributes';
    return {
      expected: 'be removed by PUT',
      actual: describeValue(shownAttribute.value),
      requirement,
      operation,
    };
  }
  const { value, requirement, descriptions } = assigned;
  const operation = requirement === 'inventory.put-assigns' ? 'put-attributes' : 'patch-attributes';
  const expected = `be ${describeValue(value)}, as the device set it`;
  if (shownAttribute === undefined) return { expected, actual: 'absent', requirement, operation };
  if (!isDeepStrictEqual(shownAttribute.value, value)) {
    return {
      expected,
      actual: describeValue(shownAttribute.value),
      requirement: kindOf(value),
      operation,
    };
  }
  const description =
    typeof shownAttribute.description === 'string' ? shownAttribute.description : null;
  if (descriptions === undefined || descriptions.includes(description)) return undefined;
  // An empty description is as good as none.
  if (descriptions.every((each) => (each ?? '') === '') && (description ?? '') === '') {
    return undefined;
  }
  return {
    expected: `have the description ${descriptions.map(describeValue).join(' or ')}`,
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
