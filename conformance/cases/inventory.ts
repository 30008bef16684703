/** Cases: the attributes of a device. Spec: Device inventory; Attribute (inventory) */
import { defineScenario, type JudgingCase } from '../case.ts';
import {
  expectEach,
  expectEqual,
  expectNoBody,
  expectStatus,
  observed,
  observedAnswer,
  shown,
} from '../expectations.ts';
import type { ShownAttribute } from '../stage/operator.ts';
import type { Stage } from '../stage/stage.ts';
import { acceptedDevice, twoDevices } from '../stage/start-states.ts';
import type { SuiteDevice } from '../stage/suite-device.ts';
import type { Answer } from '../target/target.ts';

type Writing = 'patch-attributes' | 'put-attributes';

function write(device: SuiteDevice, how: Writing, ...attributes: unknown[]): Promise<Answer> {
  return device.call(how, { body: attributes });
}

/** The values that the device wrote, by name, as users see them once they hold. */
async function shownValues(
  stage: Stage,
  device: SuiteDevice,
  holds: (values: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  return stage.settled(async () => {
    const attributes = await stage.operator.attributes(device.id);
    const own = attributes.filter(({ scope }) => scope === 'inventory');
    return Object.fromEntries(own.map(({ name, value }) => [name, value]));
  }, holds);
}

function kindCase(kind: string, value: unknown): JudgingCase<SuiteDevice> {
  return {
    id: `${kind.replaceAll(' ', '-')}-keeps-its-kind`,
    title: `A value that is ${kind} is stored and shown as that.`,
    requirements: ['inventory.value-kinds'],
    run: async (device, stage) => {
      expectStatus(await write(device, 'patch-attributes', { name: 'probe', value }), 200);
      const values = await shownValues(stage, device, ({ probe }) => probe !== undefined);
      expectEqual('value', values.probe, value);
    },
  };
}

/** Attributes that neither PATCH nor PUT may take. */
const refusedAttributes = {
  'a boolean': { name: 'a', value: true },
  null: { name: 'a', value: null },
  'an object': { name: 'a', value: {} },
  'a mixed array': { name: 'a', value: [1, 'two'] },
  'an array of arrays': { name: 'a', value: [[1]] },
  'an array of booleans': { name: 'a', value: [true] },
};

const incompleteAttributes = { 'no name': { value: 'b' }, 'no value': { name: 'a' } };

function refusalCases(how: Writing, method: string): readonly JudgingCase<SuiteDevice>[] {
  const slug = method.toLowerCase();
  return [
    {
      id: `${slug}-of-other-kinds-is-400`,
      title: `${method} with a boolean, null, an object or a mixed array is answered 400.`,
      requirements: ['inventory.other-kinds-are-400'],
      covers: [`${how} 400`],
      run: async (device) =>
        expectEach(400, refusedAttributes, (attribute) => write(device, how, attribute)),
    },
    {
      id: `${slug}-without-field-is-400`,
      title: `${method} with an attribute that lacks its name or its value is answered 400.`,
      requirements: ['inventory.fields-are-required'],
      run: async (device) =>
        expectEach(400, incompleteAttributes, (attribute) => write(device, how, attribute)),
    },
    {
      id: `${slug}-of-malformed-body-is-400`,
      title: `${method} with a body that is no JSON array of attributes is answered 400.`,
      requirements: ['inventory.malformed-is-400'],
      run: async (device) => {
        const bodies = {
          'no JSON': '[{"name":',
          'one attribute': '{"name":"a","value":"b"}',
          'an array of texts': '["a"]',
          'a number as name': '[{"name":7,"value":"b"}]',
        };
        await expectEach(400, bodies, (raw) => device.call(how, { raw }));
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
    {
      id: 'patch-is-200',
      title: 'PATCH is answered 200 without a body.',
      requirements: ['inventory.patch-is-200'],
      covers: ['patch-attributes 200'],
      run: async (device) => {
        const answer = await write(device, 'patch-attributes', { name: 'a', value: 'b' });
        expectStatus(answer, 200);
        expectNoBody(answer);
      },
    },
    {
      id: 'put-is-200',
      title: 'PUT is answered 200 without a body.',
      requirements: ['inventory.put-is-200'],
      covers: ['put-attributes 200'],
      run: async (device) => {
        const answer = await write(device, 'put-attributes', { name: 'a', value: 'b' });
        expectStatus(answer, 200);
        expectNoBody(answer);
      },
    },
    kindCase('a text', 'æ, 日本 and "quotes"'),
    kindCase('a number', -12.5),
    kindCase('an array of texts', ['eth0', 'wlan0']),
    kindCase('an array of numbers', [1, 2.5, -3]),
    ...refusalCases('patch-attributes', 'PATCH'),
    ...refusalCases('put-attributes', 'PUT'),
    {
      id: 'description-is-kept',
      title: 'An attribute may carry a description, and users read it.',
      requirements: ['inventory.description'],
      run: async (device, stage) => {
        const attribute = { name: 'probe', value: 1, description: 'what it is' };
        expectStatus(await write(device, 'put-attributes', attribute), 200);
        const find = async (): Promise<ShownAttribute | undefined> =>
          (await stage.operator.attributes(device.id)).find(({ name }) => name === 'probe');
        const found = await stage.settled(find, (attributeShown) => attributeShown !== undefined);
        expectEqual('description', found?.description, 'what it is');
      },
    },
    {
      id: 'scope-in-the-body-is-no-way-in',
      title: 'An attribute that claims the scope identity does not change the identity.',
      requirements: ['inventory.identity-is-safe'],
      run: async (device, stage) => {
        const claim = { name: 'serial', value: 'stolen', scope: 'identity' };
        await write(device, 'patch-attributes', claim);
        const shownDevice = await stage.operator.device(device.id);
        expectEqual('identity data', shownDevice?.identity_data, device.identity);
      },
    },
    {
      id: 'many-attributes',
      title: 'How a server takes 101 attributes at once.',
      requirements: ['inventory.most-attributes'],
      observe: async (device) => {
        const many = Array.from({ length: 101 }, (_, index) => ({ name: `a${index}`, value: 1 }));
        return observedAnswer(await write(device, 'put-attributes', ...many));
      },
    },
  ],
});

const written = defineScenario({
  area: 'inventory',
  name: 'Writing again',
  start: 'a device that has the attributes kept and changed',
  risk: 'write',
  needs: ['operator'],
  arrange: async (stage) => {
    const device = await acceptedDevice(stage);
    const kept = { name: 'kept', value: 'as it was' };
    const changed = { name: 'changed', value: 'before' };
    expectStatus(await write(device, 'put-attributes', kept, changed), 200);
    return device;
  },
  cases: [
    {
      id: 'patch-upserts',
      title: 'PATCH changes what it names, adds what is new, and keeps the rest.',
      requirements: ['inventory.patch-upserts'],
      run: async (device, stage) => {
        const changed = { name: 'changed', value: 'after' };
        const added = { name: 'added', value: 1 };
        expectStatus(await write(device, 'patch-attributes', changed, added), 200);
        const values = await shownValues(stage, device, (found) => found.added === 1);
        expectEqual('attributes', values, { kept: 'as it was', changed: 'after', added: 1 });
      },
    },
    {
      id: 'put-replaces',
      title: 'PUT leaves exactly the attributes that it names.',
      requirements: ['inventory.put-replaces'],
      run: async (device, stage) => {
        expectStatus(await write(device, 'put-attributes', { name: 'only', value: 1 }), 200);
        const values = await shownValues(stage, device, (found) => found.only === 1);
        expectEqual('attributes', values, { only: 1 });
      },
    },
    {
      id: 'empty-put',
      title: 'PUT with an empty array.',
      requirements: ['inventory.empty-array'],
      observe: async (device, stage) => {
        const answer = await write(device, 'put-attributes');
        const values = await shownValues(stage, device, () => true);
        return observed(`answered ${answer.status}, and left ${shown(values)}`);
      },
    },
  ],
});

const two = defineScenario({
  area: 'inventory',
  name: 'Two devices',
  start: 'two accepted devices',
  risk: 'write',
  needs: ['operator'],
  arrange: twoDevices,
  cases: [
    {
      id: 'attributes-are-apart',
      title: 'What one device writes does not change the attributes of the other.',
      requirements: ['inventory.own-attributes'],
      run: async ({ device, other }, stage) => {
        await write(other, 'put-attributes', { name: 'mine', value: 'theirs' });
        await write(device, 'put-attributes', { name: 'mine', value: 'own' });
        const values = await shownValues(stage, other, ({ mine }) => mine !== undefined);
        expectEqual('attributes', values, { mine: 'theirs' });
      },
    },
  ],
});

/** Spec: Device inventory; Attribute (inventory) */
export const inventoryCases = [...writing, ...written, ...two];
