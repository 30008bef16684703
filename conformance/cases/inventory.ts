/** Cases: the attributes of a device. Spec: Device inventory; Attribute (inventory) */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { acceptedDevice, needAnswer, twoDevices } from '../context/start-states.ts';
import type { SuiteDevice } from '../context/suite-device.ts';
import type { ShownAttribute } from '../context/target-admin.ts';
import type { TestContext } from '../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../suite/case.ts';
import {
  expectEqual,
  expectNoBody,
  expectStatus,
  expectThat,
  observed,
  observedAnswer,
  shown,
  shownAnswer,
} from '../target/expectations.ts';
import { type WriteOperation, writeAttributes as write } from './inventory-writing.ts';

/** Longer than any known server accepts. */
const LONG = 100_000;

/** Returns the attributes that the device wrote, as users see them once the predicate holds. */
async function shownAttributes(
  context: TestContext,
  device: SuiteDevice,
  holds: (attributes: Readonly<Record<string, ShownAttribute>>) => boolean,
): Promise<Readonly<Record<string, ShownAttribute>>> {
  return context.settled(async () => {
    const attributes = await context.admin.attributes(device.id);
    const own = attributes.filter(({ scope }) => scope === 'inventory');
    return Object.fromEntries(own.map((attribute) => [attribute.name, attribute]));
  }, holds);
}

/** Returns the attribute `probe` once users see it. */
async function shownProbe(
  context: TestContext,
  device: SuiteDevice,
): Promise<ShownAttribute | undefined> {
  return (await shownAttributes(context, device, ({ probe }) => probe !== undefined)).probe;
}

interface ValueKindRow {
  readonly id: string;
  readonly words: string;
  readonly requirement: RequirementId;
  readonly values: readonly unknown[];
}

/** Values of each allowed kind. */
export const kinds: readonly ValueKindRow[] = [
  {
    id: 'a-number-keeps-its-kind',
    words: 'a number',
    requirement: 'inventory.number',
    values: [-12.5, 0, 7, 9_007_199_254_740_991, 1e-9],
  },
  {
    id: 'a-text-keeps-its-kind',
    words: 'a string',
    requirement: 'inventory.text',
    values: ['æ, 日本 and "quotes"', '', '7', 'true', 'two\nlines', 't'.repeat(1000)],
  },
  {
    id: 'an-array-of-numbers-keeps-its-kind',
    words: 'an array of numbers',
    requirement: 'inventory.numbers',
    values: [[1, 2.5, -3], [0]],
  },
  {
    id: 'an-array-of-texts-keeps-its-kind',
    words: 'an array of strings',
    requirement: 'inventory.texts',
    values: [['eth0', 'wlan0'], ['7'], ['']],
  },
];

function kindCase({ id, words, requirement, values }: ValueKindRow): JudgingCase<SuiteDevice> {
  return {
    id,
    title: `A value that is ${words} is stored and shown as such, by PATCH and by PUT.`,
    requirements: [requirement],
    run: async (device, context) => {
      const named = Object.fromEntries(values.map((value, index) => [`probe-${index}`, value]));
      const attributes = Object.entries(named).map(([name, value]) => ({ name, value }));
      for (const how of ['patch-attributes', 'put-attributes'] as const) {
        await write(device, how, ...attributes);
        await expectShown(context, device, named);
      }
    },
  };
}

/** Asserts that users see each of the attributes with its value. */
async function expectShown(
  context: TestContext,
  device: SuiteDevice,
  expected: Readonly<Record<string, unknown>>,
): Promise<void> {
  const names = Object.keys(expected);
  const found = await shownAttributes(context, device, (all) => names.every((name) => name in all));
  const values = Object.fromEntries(names.map((name) => [name, found[name]?.value]));
  expectEqual('values', values, expected);
}

function writingCases(how: WriteOperation, method: string): readonly JudgingCase<SuiteDevice>[] {
  const slug = method.toLowerCase() as 'patch' | 'put';
  return [
    {
      id: `${slug}-is-200`,
      title: `${method} is answered 200.`,
      requirements: [`inventory.${slug}-is-200`],
      covers: [`${how} 200`],
      run: async (device) =>
        expectStatus(await write(device, how, { name: 'probe', value: 'b' }), 200),
    },
    {
      id: `${slug}-has-no-body`,
      title: `The answer to ${method} has no body.`,
      requirements: [`inventory.${slug}-has-no-body`],
      run: async (device) => {
        const answer = await write(device, how, { name: 'probe', value: 'b' });
        needAnswer(how, answer, 200);
        expectNoBody(answer);
      },
    },
    {
      id: `${slug}-takes-a-description`,
      title: `${method} accepts an attribute with a description.`,
      requirements: ['inventory.description'],
      run: async (device) => {
        const attribute = { name: 'probe', value: 1, description: 'what it is' };
        const answer = await write(device, how, attribute);
        expectThat(answer.status < 300, 'success', shownAnswer(answer));
      },
    },
  ];
}

const writing = defineScenario({
  area: 'inventory',
  name: 'Writing',
  start: 'an accepted device',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    ...writingCases('patch-attributes', 'PATCH'),
    ...writingCases('put-attributes', 'PUT'),
    ...kinds.map(kindCase),
    {
      id: 'description-is-kept',
      title: 'Users see the description of an attribute.',
      requirements: ['inventory.description-is-kept'],
      run: async (device, context) => {
        const attribute = { name: 'probe', value: 1, description: 'what it is' };
        await write(device, 'put-attributes', attribute);
        const probe = await shownProbe(context, device);
        expectEqual('description', probe?.description, 'what it is');
      },
    },
    {
      id: 'scope-in-the-body-is-no-way-in',
      title: 'An attribute with the scope identity does not change the identity.',
      requirements: ['inventory.identity-is-safe'],
      run: async (device, context) => {
        const claim = { name: 'serial', value: 'stolen', scope: 'identity' };
        await write(device, 'patch-attributes', claim);
        const shownDevice = await context.admin.device(device.id);
        expectEqual('identity data', shownDevice?.identity_data, device.identity);
      },
    },
    {
      id: 'empty-array-as-value',
      title: 'How an attribute whose value is an empty array is answered.',
      requirements: ['inventory.empty-array-value'],
      observe: async (device) =>
        observedAnswer(await write(device, 'put-attributes', { name: 'probe', value: [] })),
    },
    {
      id: 'empty-name',
      title: 'How an attribute with an empty name is answered.',
      requirements: ['inventory.empty-name'],
      observe: async (device) =>
        observedAnswer(await write(device, 'put-attributes', { name: '', value: 1 })),
    },
    {
      id: 'long-name',
      title: 'How a name of 100,000 characters is answered.',
      requirements: ['inventory.longest-name'],
      observe: async (device) => {
        const { status } = await write(device, 'put-attributes', {
          name: 'n'.repeat(LONG),
          value: 1,
        });
        return observed(`answered ${status}`);
      },
    },
    {
      id: 'name-twice',
      title: 'What PATCH does with an attribute that it names twice.',
      requirements: ['inventory.name-twice'],
      observe: async (device, context) => {
        const twice = ['first', 'second'].map((value) => ({ name: 'probe', value }));
        const { status } = await write(device, 'patch-attributes', ...twice);
        const kept = status === 200 ? (await shownProbe(context, device))?.value : 'nothing';
        return observed(`answered ${status}, and kept ${shown(kept)}`);
      },
    },
    {
      id: 'many-attributes',
      title: 'How 100 attributes at once, one more, and 101 at once are answered.',
      requirements: ['inventory.most-attributes'],
      observe: async (device) => {
        const many = Array.from({ length: 101 }, (_, index) => ({ name: `a${index}`, value: 1 }));
        const { status: hundred } = await write(device, 'put-attributes', ...many.slice(1));
        const { status: oneMore } = await write(device, 'patch-attributes', ...many.slice(0, 1));
        const { status: atOnce } = await write(device, 'put-attributes', ...many);
        return observed(`100: ${hundred}, one more: ${oneMore}, 101 at once: ${atOnce}`);
      },
    },
    {
      id: 'largest-set-of-attributes',
      title: 'How attributes of 250 KiB and of 300 KiB together are answered.',
      requirements: ['inventory.largest-set'],
      observe: async (device) => {
        const large = (name: string, kib: number) => ({ name, value: 'x'.repeat(kib * 1024) });
        const { status: small } = await write(device, 'put-attributes', large('a', 250));
        const { status: oneMore } = await write(device, 'patch-attributes', large('b', 50));
        const { status: atOnce } = await write(device, 'put-attributes', large('a', 300));
        return observed(`250 KiB: ${small}, 50 more: ${oneMore}, 300 at once: ${atOnce}`);
      },
    },
    {
      id: 'half-a-surrogate-pair',
      title: 'How an attribute whose value contains half of a surrogate pair is answered.',
      requirements: ['inventory.half-pairs'],
      observe: async (device) => {
        const raw = '[{"name":"half","value":"\\ud83d"}]';
        const { status } = await device.call('put-attributes', { raw });
        return observed(`${status}`);
      },
    },
  ],
});

/**
 * Writes, then returns what users see of `changed`, `kept` and `added` once the predicate holds.
 */
async function changeAttributes(
  context: TestContext,
  device: SuiteDevice,
  { how, attributes, settled }: AttributeChange,
): Promise<Readonly<Record<string, unknown>>> {
  needAnswer(how, await write(device, how, ...attributes), 200);
  const found = await shownAttributes(context, device, settled);
  return Object.fromEntries(Object.values(found).map(({ name, value }) => [name, value]));
}

interface AttributeChange {
  readonly how: WriteOperation;
  readonly attributes: readonly unknown[];
  readonly settled: (attributes: Readonly<Record<string, ShownAttribute>>) => boolean;
}

const written = defineScenario({
  area: 'inventory',
  name: 'Writing again',
  start: 'a device that has the attributes kept and changed',
  risk: 'write',
  needs: ['operator'],
  arrange: async (context) => {
    const device = await acceptedDevice(context);
    const before = { kept: 'unchanged', changed: 'before' };
    const attributes = Object.entries(before).map(([name, value]) => ({ name, value }));
    await write(device, 'put-attributes', ...attributes);
    await expectShown(context, device, before);
    return device;
  },
  cases: [
    {
      id: 'patch-upserts',
      title: 'PATCH replaces the value of an attribute that exists.',
      requirements: ['inventory.patch-upserts'],
      run: async (device, context) => {
        const { changed } = await changeAttributes(context, device, {
          how: 'patch-attributes',
          attributes: [{ name: 'changed', value: 'after' }],
          settled: (all) => all.changed?.value === 'after',
        });
        expectEqual('changed', changed, 'after');
      },
    },
    {
      id: 'patch-to-nothing-much',
      title: 'PATCH replaces a value by 0 or an empty string.',
      requirements: ['inventory.patch-upserts', 'inventory.value-kinds'],
      run: async (device, context) => {
        for (const value of [5, 0, 'a string', '']) {
          const { changed } = await changeAttributes(context, device, {
            how: 'patch-attributes',
            attributes: [{ name: 'changed', value }],
            settled: (all) => all.changed?.value === value,
          });
          expectEqual('changed', changed, value);
        }
      },
    },
    {
      id: 'patch-adds',
      title: 'PATCH adds an attribute that does not exist yet.',
      requirements: ['inventory.patch-adds'],
      run: async (device, context) => {
        const { added } = await changeAttributes(context, device, {
          how: 'patch-attributes',
          attributes: [{ name: 'added', value: 'new' }],
          settled: (all) => 'added' in all,
        });
        expectEqual('added', added, 'new');
      },
    },
    {
      id: 'patch-keeps-the-rest',
      title: 'PATCH keeps the attributes that it does not name.',
      requirements: ['inventory.patch-keeps'],
      run: async (device, context) => {
        const { kept } = await changeAttributes(context, device, {
          how: 'patch-attributes',
          attributes: [{ name: 'changed', value: 'after' }],
          settled: (all) => all.changed?.value === 'after',
        });
        expectEqual('kept', kept, 'unchanged');
      },
    },
    {
      id: 'value-of-another-kind',
      title: 'An attribute that is written with a value of another type has the new type.',
      requirements: ['inventory.value-kinds'],
      run: async (device, context) => {
        for (const value of [7, [1, 2], ['a'], 'a string']) {
          const { changed } = await changeAttributes(context, device, {
            how: 'patch-attributes',
            attributes: [{ name: 'changed', value }],
            settled: (all) => shown(all.changed?.value) === shown(value),
          });
          expectEqual('changed', changed, value);
        }
      },
    },
    {
      id: 'put-assigns',
      title: 'PUT sets the attributes that it names, changed or new.',
      requirements: ['inventory.put-assigns'],
      run: async (device, context) => {
        const { changed, added } = await changeAttributes(context, device, {
          how: 'put-attributes',
          attributes: [
            { name: 'changed', value: 'after' },
            { name: 'added', value: 'new' },
          ],
          settled: (all) => 'added' in all && all.changed?.value === 'after',
        });
        expectEqual('attributes', { changed, added }, { changed: 'after', added: 'new' });
      },
    },
    {
      id: 'put-replaces',
      title: 'PUT removes the attributes that it does not name.',
      requirements: ['inventory.put-replaces'],
      run: async (device, context) => {
        const { kept } = await changeAttributes(context, device, {
          how: 'put-attributes',
          attributes: [{ name: 'changed', value: 'after' }],
          settled: (all) => !('kept' in all),
        });
        expectThat(kept === undefined, 'no attribute kept', shown(kept));
      },
    },
    {
      id: 'empty-put',
      title: 'What PUT with an empty array does.',
      requirements: ['inventory.empty-array'],
      observe: async (device, context) => {
        const answer = await write(device, 'put-attributes');
        const left = Object.keys(await shownAttributes(context, device, () => true));
        return observed(`answered ${answer.status}, and left ${shown(left)}`);
      },
    },
    {
      id: 'description-that-is-left-out',
      title: 'Whether PATCH without the description of an attribute keeps it.',
      requirements: ['inventory.patch-without-description'],
      observe: async (device, context) => {
        const described = { name: 'probe', value: 1, description: 'what it is' };
        await write(device, 'patch-attributes', described);
        await write(device, 'patch-attributes', { name: 'probe', value: 2 });
        const found = await shownAttributes(context, device, ({ probe }) => probe?.value === 2);
        return observed(`description ${shown(found.probe?.description ?? 'gone')}`);
      },
    },
  ],
});

const two = defineScenario({
  area: 'inventory',
  name: 'Two devices',
  start: 'two accepted devices, each with the attribute probe',
  risk: 'write',
  needs: ['operator'],
  arrange: async (context) => {
    const { device, other } = await twoDevices(context);
    await write(other, 'put-attributes', { name: 'probe', value: 'theirs' });
    await expectShown(context, other, { probe: 'theirs' });
    return { device, other };
  },
  cases: [
    {
      id: 'attributes-are-apart',
      title: 'A device does not change the attributes of another device.',
      requirements: ['inventory.own-attributes'],
      run: async ({ device, other }, context) => {
        await write(device, 'put-attributes', { name: 'probe', value: 'own' });
        await shownProbe(context, device);
        const { probe } = await shownAttributes(context, other, () => true);
        expectEqual('probe of the other device', probe?.value, 'theirs');
      },
    },
  ],
});

/** Spec: Device inventory; Attribute (inventory) */
export const inventoryCases = [...writing, ...written, ...two];
