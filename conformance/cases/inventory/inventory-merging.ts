/**
 * Cases: a sequence of writes by PUT and PATCH, after each of which users see exactly the
 * attributes that a model of the contract has. Names, values and descriptions are of every kind.
 * Spec: Device inventory; Attribute (inventory)
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { acceptedDevice, requireResponse } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { ShownAttribute } from '../../context/target-admin.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { describeValue, ExpectationFailure } from '../../target/expectations.ts';
import { type WriteOperation, writeAttributes as write } from './inventory-writing.ts';

interface Attribute {
  readonly name: string;
  readonly value: unknown;
  readonly description?: string;
}

/** Names of every kind; the contract limits neither their letters nor their form. */
const names = [
  'plain',
  'Plain',
  'plain ',
  'with.dots.in.it',
  '$dollar',
  '_id',
  'with space',
  'größe 日本 😀',
  '0',
  '__proto__',
  `quotes ' " <b>&`,
  'slash/and\\back',
  'percent %41+',
  'x',
  'n'.repeat(256),
] as const;

/** Values of every kind, beyond those of the other cases. */
const values: readonly unknown[] = [
  'x',
  '__proto__',
  'null',
  'e\u0301 and \u00e9',
  'line\r\nend\ttab',
  'x'.repeat(256),
  0.1,
  -273.15,
  123_456_789.125,
  1e21,
  Array.from({ length: 40 }, (_, index) => `entry ${40 - index}`),
  Array.from({ length: 40 }, (_, index) => index * 1000.5),
  ['e\u0301', '\u00e9', ''],
  [0],
  '{"a":[1]}',
];

const descriptions = ['what it is', 'größer <i>als</i> "7" \u{1f600}', 'd'.repeat(200)];

function valueAt(index: number): unknown {
  return values[index % values.length];
}

/** Returns an attribute with this name, and a description unless `round` leaves it out. */
function attributeOf(name: string, round: number): Attribute {
  const index = (names as readonly string[]).indexOf(name);
  const value = valueAt(index + 4 * round);
  const description = descriptions[(index + round) % descriptions.length] ?? '';
  return index % 3 === 0 ? { name, value } : { name, value, description };
}

interface Write {
  readonly operation: WriteOperation;
  readonly attributes: readonly Attribute[];
}

function namesAt(remainder: number, divisor: number): readonly string[] {
  return names.filter((_, index) => index % divisor === remainder);
}

/** The writes in order. PATCH names a description again wherever one is known. */
const writes: readonly Write[] = [
  { operation: 'put-attributes', attributes: names.map((name) => attributeOf(name, 0)) },
  { operation: 'patch-attributes', attributes: namesAt(0, 2).map((name) => attributeOf(name, 1)) },
  {
    operation: 'patch-attributes',
    attributes: [
      ...namesAt(1, 2).map((name) => attributeOf(name, 2)),
      { name: 'added', value: 7, description: 'new' },
    ],
  },
  {
    operation: 'put-attributes',
    attributes: namesAt(1, 3).map((name) => ({ name, value: attributeOf(name, 3).value })),
  },
  // These exist no longer, so that what they had before must not come back.
  {
    operation: 'patch-attributes',
    attributes: namesAt(2, 3).map((name) => ({ name, value: attributeOf(name, 4).value })),
  },
  // One value in each form that a number may take, as the type follows from the value.
  { operation: 'put-attributes', attributes: ['5', 5, [5]].map(attributeWithValue) },
  { operation: 'patch-attributes', attributes: [5, '5', ['5']].map(attributeWithValue) },
  { operation: 'patch-attributes', attributes: [[5], 5, '5'].map(attributeWithValue) },
  { operation: 'put-attributes', attributes: [['5'], [5], 5].map(attributeWithValue) },
];

function attributeWithValue(value: unknown, index: number): Attribute {
  return { name: `typed ${index}`, value };
}

type Attributes = ReadonlyMap<string, Attribute>;

/** Returns the attributes after a write, by the contract. */
function stateAfter(earlierAttributes: Attributes, { operation, attributes }: Write): Attributes {
  const keptAttributes = operation === 'put-attributes' ? [] : [...earlierAttributes];
  return new Map([
    ...keptAttributes,
    ...attributes.map((each): [string, Attribute] => [each.name, each]),
  ]);
}

/** One step: a write, and the attributes after it. */
interface Step {
  readonly write: Write;
  readonly expected: Attributes;
}

/**
 * Returns the requirement that a value violated: by the write, by its absence, or by its presence.
 */
function violatedValue({ write, expected }: Step, name: string): RequirementId {
  const isPut = write.operation === 'put-attributes';
  if (!expected.has(name)) return isPut ? 'inventory.put-replaces' : 'inventory.patch-adds';
  if (isPut) return 'inventory.put-assigns';
  if (!write.attributes.some((each) => each.name === name)) return 'inventory.patch-keeps';
  return 'inventory.patch-upserts';
}

/** Returns the requirement that a description violated. */
function violatedDescription({ write }: Step, { name, description }: Attribute): RequirementId {
  if (description === undefined) return 'inventory.put-replaces-descriptions';
  return write.attributes.some((each) => each.name === name)
    ? 'inventory.description-is-kept'
    : 'inventory.patch-keeps';
}

async function ownAttributes(
  context: TestContext,
  device: SuiteDevice,
): Promise<ReadonlyMap<string, ShownAttribute>> {
  const attributes = await context.admin.attributes(device.id);
  return new Map(attributes.map((attribute) => [attribute.name, attribute]));
}

/** Returns the failure of the first attribute that is not as the model has it. */
function differenceIn(
  shownByName: ReadonlyMap<string, Attribute | ShownAttribute>,
  step: Step,
): ExpectationFailure | undefined {
  const all = new Set([...step.expected.keys(), ...shownByName.keys()]);
  for (const name of all) {
    const [shown, expectedAttribute] = [shownByName.get(name), step.expected.get(name)];
    const subject = `${name}, after ${step.write.operation},`;
    if (JSON.stringify(shown?.value) !== JSON.stringify(expectedAttribute?.value)) {
      const [expectedText, actual] = [expectedAttribute, shown].map((each) =>
        each ? describeValue(each.value) : 'absent',
      );
      const violated = [violatedValue(step, name), ...kindsOf(expectedAttribute?.value)];
      return new ExpectationFailure(`${subject} ${expectedText}`, String(actual), violated);
    }
    // A server without descriptions may show an empty one.
    const [description, givenDescription] = [
      shown?.description || undefined,
      expectedAttribute?.description,
    ];
    if (expectedAttribute === undefined || description === givenDescription) continue;
    const violated = [violatedDescription(step, expectedAttribute)];
    const expectation = `${subject} the description ${givenDescription ?? 'none'}`;
    return new ExpectationFailure(expectation, description ?? 'none', violated);
  }
  return undefined;
}

/** Returns the requirement on the kind of a value. */
function kindsOf(value: unknown): readonly RequirementId[] {
  if (typeof value === 'number') return ['inventory.number'];
  if (typeof value === 'string') return ['inventory.string'];
  if (!Array.isArray(value)) return [];
  return [typeof value[0] === 'number' ? 'inventory.numbers' : 'inventory.strings'];
}

/** Spec: Device inventory; Attribute (inventory) */
export const inventoryMergingCases = defineScenario<SuiteDevice>({
  area: 'inventory',
  name: 'One write after another',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'writes-merge-as-a-whole',
      title: 'After each of several writes by PUT and PATCH, users see just the attributes due.',
      requirements: [
        'inventory.put-assigns',
        'inventory.put-replaces',
        'inventory.put-replaces-descriptions',
        'inventory.patch-upserts',
        'inventory.patch-adds',
        'inventory.patch-keeps',
        'inventory.description-is-kept',
        'inventory.number',
        'inventory.string',
        'inventory.numbers',
        'inventory.strings',
      ],
      run: async (device, context) => {
        let earlierAttributes: Attributes = new Map();
        for (const inventoryWrite of writes) {
          const step: Step = {
            write: inventoryWrite,
            expected: stateAfter(earlierAttributes, inventoryWrite),
          };
          const response = await write(
            device,
            inventoryWrite.operation,
            ...inventoryWrite.attributes,
          );
          requireResponse(inventoryWrite.operation, response, 200);
          const shownByName = await context.eventually(
            () => ownAttributes(context, device),
            (all) => differenceIn(all, step) === undefined,
          );
          const difference = differenceIn(shownByName, step);
          if (difference) throw difference;
          earlierAttributes = step.expected;
        }
      },
    },
  ],
});
