/**
 * Cases: many attributes in every combination of value and description, and writes of several
 * requests at once. Spec: Device inventory; Attribute (inventory)
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { acceptedDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectStatus,
} from '../../target/expectations.ts';
import { writeAttributes as write } from './inventory-writing.ts';

interface Attribute {
  readonly name: string;
  readonly value: unknown;
  readonly description?: string | undefined;
}

/** Values that careless storage changes: order, doubles, kind, sign, precision, letter case. */
const values: readonly unknown[] = [
  0,
  -7,
  2.5,
  1_234_567_890_123,
  '',
  ' both ends ',
  'UPPER and lower',
  '0012',
  '日本 é 😀',
  `quotes ' " and <b>&amp;</b> %41 \\ /`,
  ['charlie', 'alpha', 'charlie', 'bravo'],
  ['1', '10', '2'],
  [3, 1, 3, 2],
  [-1.5],
];
const descriptions = [undefined, 'what it is', 'größer <i>als</i> "7"'];

const combinations: readonly Attribute[] = values.flatMap((value, row) =>
  descriptions.map((description, column) => ({
    name: `form-${row}-${column}`,
    value,
    ...(description !== undefined && { description }),
  })),
);

/** The attributes without descriptions, which another case judges. */
const plain: readonly Attribute[] = combinations.map(({ name, value }) => ({ name, value }));

/**
 * Names that careless storage refuses or changes: punctuation, letter case, beyond ASCII, length.
 */
const namedAttributes: readonly Attribute[] = [
  'two words',
  'mem_total.kB',
  'network/eth0:mac',
  'CPU-Model',
  'cpu-model',
  '100%41+1',
  '$count',
  `quote ' and "`,
  'größe',
  '日本 😀',
  '__proto__x',
  'x'.repeat(200),
].map((name, index) => ({ name, value: index }));

/** Half of the attributes, so that each value is in both halves. */
const halves = [0, 1].map((half) => plain.filter((_, index) => index % 2 === half));

const ROUNDS = 6;
const PATCHES_AT_ONCE = 4;

type Found = Readonly<Record<string, Attribute>>;

/**
 * Returns the requirement that is violated when an attribute is missing or is there without reason.
 */
type ViolatedBy = (name: string, shownByName: Found) => RequirementId;

/** Asserts that users see exactly these attributes, with the values that were sent. */
async function expectExactly(
  context: TestContext,
  device: SuiteDevice,
  {
    expected,
    violatedBy,
  }: { readonly expected: readonly Attribute[]; readonly violatedBy: ViolatedBy },
): Promise<void> {
  const expectedByName = byName(expected);
  const shownByName = await context.eventually(
    async () => byName(await context.admin.attributes(device.id)),
    (each) => differing(each, expectedByName) === undefined,
  );
  const name = differing(shownByName, expectedByName);
  if (name === undefined) return;
  const [is, expectedAttribute] = [shownByName[name], expectedByName[name]];
  const violated =
    is && expectedAttribute
      ? kindRequirement(expectedAttribute.value)
      : violatedBy(name, shownByName);
  const text = (attribute: Attribute | undefined): string =>
    attribute === undefined ? 'absent' : `the value ${describeValue(attribute.value)}`;
  throw new ExpectationFailure(`${name}: ${text(expectedAttribute)}`, text(is), [violated]);
}

function byName(attributes: readonly Attribute[]): Found {
  return Object.fromEntries(attributes.map((attribute) => [attribute.name, attribute]));
}

/** Returns the name of an attribute whose value is not as wanted. */
function differing(shownByName: Found, expectedByName: Found): string | undefined {
  return Object.keys({ ...shownByName, ...expectedByName }).find(
    (name) =>
      JSON.stringify(shownByName[name]?.value) !== JSON.stringify(expectedByName[name]?.value),
  );
}

function kindRequirement(value: unknown): RequirementId {
  if (typeof value === 'number') return 'inventory.number';
  if (!Array.isArray(value)) return 'inventory.string';
  return typeof value[0] === 'number' ? 'inventory.numbers' : 'inventory.strings';
}

const kinds = [
  'inventory.number',
  'inventory.string',
  'inventory.numbers',
  'inventory.strings',
] as const satisfies readonly RequirementId[];

export const inventoryVariantCases = defineScenario({
  area: 'inventory',
  name: 'Attributes in every form',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'put-of-many-forms',
      title: 'Many attributes of all forms are stored by PUT as sent, and replace all others.',
      requirements: ['inventory.put-assigns', 'inventory.put-replaces', ...kinds],
      run: async (device, context) => {
        for (const attributes of [...halves, [...plain].reverse()]) {
          expectStatus(await write(device, 'put-attributes', ...attributes), 200);
          const violatedBy: ViolatedBy = (name, shownByName) =>
            name in shownByName ? 'inventory.put-replaces' : 'inventory.put-assigns';
          await expectExactly(context, device, { expected: attributes, violatedBy });
        }
      },
    },
    {
      id: 'patch-of-many-forms',
      title: 'Many attributes of all forms are added by PATCH as sent, and all others stay.',
      requirements: ['inventory.patch-adds', 'inventory.patch-keeps', ...kinds],
      run: async (device, context) => {
        const [firstHalf = [], secondHalf = []] = halves;
        expectStatus(await write(device, 'patch-attributes', ...firstHalf), 200);
        const violatedBy: ViolatedBy = () => 'inventory.patch-adds';
        await expectExactly(context, device, { expected: firstHalf, violatedBy });
        expectStatus(await write(device, 'patch-attributes', ...secondHalf), 200);
        const isFirst = (name: string): boolean => firstHalf.some((each) => each.name === name);
        await expectExactly(context, device, {
          expected: plain,
          violatedBy: (name) => (isFirst(name) ? 'inventory.patch-keeps' : 'inventory.patch-adds'),
        });
      },
    },
    {
      id: 'names-of-every-kind',
      title: 'Attributes whose names have spaces, signs or letters beyond ASCII are kept as sent.',
      requirements: ['inventory.name', 'inventory.put-assigns', 'inventory.put-replaces'],
      run: async (device, context) => {
        for (const operation of ['put-attributes', 'patch-attributes'] as const) {
          expectStatus(await write(device, operation, ...namedAttributes), 200);
          const isSent = (name: string): boolean =>
            namedAttributes.some((each) => each.name === name);
          const violatedBy: ViolatedBy = (name) =>
            isSent(name) ? 'inventory.put-assigns' : 'inventory.put-replaces';
          await expectExactly(context, device, { expected: namedAttributes, violatedBy });
        }
      },
    },
    {
      id: 'descriptions-of-many-attributes',
      title: 'Users see the description of each of many attributes of all forms.',
      requirements: ['inventory.description-is-kept'],
      run: async (device, context) => {
        await write(device, 'put-attributes', ...combinations);
        const described = combinations.filter(({ description }) => description !== undefined);
        const shownByName = await context.eventually(
          async () => byName(await context.admin.attributes(device.id)),
          (all) =>
            described.every(({ name, description }) => all[name]?.description === description),
        );
        // Another case judges that each attribute is there.
        const present = described.filter(({ name }) => name in shownByName);
        const texts = (all: Found) => present.map(({ name }) => [name, all[name]?.description]);
        expectEqual('descriptions', texts(shownByName), texts(byName(described)));
      },
    },
    {
      id: 'patches-at-once-keep-each-other',
      title: 'Requests by PATCH at the same time, each with a name of its own, all take effect.',
      requirements: ['inventory.patch-adds', 'inventory.patch-keeps'],
      run: async (device, context) => {
        const writtenAttributes: Attribute[] = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          const together = Array.from({ length: PATCHES_AT_ONCE }, (_, index) => ({
            name: `at-once-${round}-${index}`,
            value: index,
          }));
          const responses = await Promise.all(
            together.map((each) => write(device, 'patch-attributes', each)),
          );
          for (const response of responses) expectStatus(response, 200);
          writtenAttributes.push(...together);
        }
        const violatedBy: ViolatedBy = (_, shownByName) =>
          Object.keys(shownByName).length === 0 ? 'inventory.patch-adds' : 'inventory.patch-keeps';
        await expectExactly(context, device, { expected: writtenAttributes, violatedBy });
      },
    },
  ],
});
