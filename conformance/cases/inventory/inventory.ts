/** Cases: the attributes of a device. Spec: Device inventory; Attribute (inventory) */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { acceptedDevice, requireResponse } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  expectEqual,
  expectNoBody,
  expectStatus,
  expectThat,
  observationOf,
  observedResponse,
  responseSummary,
} from '../../target/expectations.ts';
import {
  expectShown,
  shownProbe,
  type WriteOperation,
  writeAttributes as write,
} from './inventory-writing.ts';

/** Longer than any known server accepts. */
const LONG = 100_000;

interface ValueKindRow {
  readonly id: string;
  readonly label: string;
  readonly requirement: RequirementId;
  readonly values: readonly unknown[];
}

/** Values of each allowed kind. */
export const kinds: readonly ValueKindRow[] = [
  {
    id: 'a-number-keeps-its-kind',
    label: 'a number',
    requirement: 'inventory.number',
    values: [-12.5, 0, 7, 9_007_199_254_740_991, 1e-9],
  },
  {
    id: 'a-string-keeps-its-kind',
    label: 'a string',
    requirement: 'inventory.string',
    values: ['æ, 日本 and "quotes"', '', '7', 'true', 'two\nlines', 't'.repeat(1000)],
  },
  {
    id: 'an-array-of-numbers-keeps-its-kind',
    label: 'an array of numbers',
    requirement: 'inventory.numbers',
    values: [[1, 2.5, -3], [0]],
  },
  {
    id: 'an-array-of-strings-keeps-its-kind',
    label: 'an array of strings',
    requirement: 'inventory.strings',
    values: [['eth0', 'wlan0'], ['7'], ['']],
  },
];

function kindCase({ id, label, requirement, values }: ValueKindRow): JudgingCase<SuiteDevice> {
  return {
    id,
    title: `A value that is ${label} is stored and shown as such, by PATCH and by PUT.`,
    requirements: [requirement],
    run: async (device, context) => {
      const attributesByName = Object.fromEntries(
        values.map((value, index) => [`probe-${index}`, value]),
      );
      const attributes = Object.entries(attributesByName).map(([name, value]) => ({ name, value }));
      for (const how of ['patch-attributes', 'put-attributes'] as const) {
        await write(device, how, ...attributes);
        await expectShown(context, device, attributesByName);
      }
    },
  };
}

function writingCases(how: WriteOperation, method: string): readonly JudgingCase<SuiteDevice>[] {
  const slug = method.toLowerCase() as 'patch' | 'put';
  return [
    {
      id: `${slug}-is-200`,
      title: `${method} is answered with 200.`,
      requirements: [`inventory.${slug}-is-200`],
      covers: [`${how} 200`],
      run: async (device) =>
        expectStatus(await write(device, how, { name: 'probe', value: 'b' }), 200),
    },
    {
      id: `${slug}-has-no-body`,
      title: `The response to ${method} has no body.`,
      requirements: [`inventory.${slug}-has-no-body`],
      run: async (device) => {
        const response = await write(device, how, { name: 'probe', value: 'b' });
        requireResponse(how, response, 200);
        expectNoBody(response);
      },
    },
    {
      id: `${slug}-takes-a-description`,
      title: `${method} accepts an attribute with a description.`,
      requirements: ['inventory.description'],
      run: async (device) => {
        const attribute = { name: 'probe', value: 1, description: 'what it is' };
        const response = await write(device, how, attribute);
        expectThat(response.status < 300, 'success', responseSummary(response));
      },
    },
  ];
}

const writing = defineScenario({
  area: 'inventory',
  name: 'Writing',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
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
      id: 'scope-identity-changes-no-identity',
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
        observedResponse(await write(device, 'put-attributes', { name: 'probe', value: [] })),
    },
    {
      id: 'empty-name',
      title: 'How an attribute with an empty name is answered.',
      requirements: ['inventory.empty-name'],
      observe: async (device) =>
        observedResponse(await write(device, 'put-attributes', { name: '', value: 1 })),
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
        return observationOf(`answered with ${status}`);
      },
    },
    {
      id: 'name-twice',
      title: 'What PATCH does with an attribute that it names twice.',
      requirements: ['inventory.name-twice'],
      observe: async (device, context) => {
        const twice = ['first', 'second'].map((value) => ({ name: 'probe', value }));
        const { status } = await write(device, 'patch-attributes', ...twice);
        const keptValue = status === 200 ? (await shownProbe(context, device))?.value : 'nothing';
        return observationOf(`answered with ${status}, and kept ${describeValue(keptValue)}`);
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
        return observationOf(`100: ${hundred}, one more: ${oneMore}, 101 at once: ${atOnce}`);
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
        return observationOf(`250 KiB: ${small}, 50 more: ${oneMore}, 300 at once: ${atOnce}`);
      },
    },
    {
      id: 'half-a-surrogate-pair',
      title: 'How an attribute whose value contains half of a surrogate pair is answered.',
      requirements: ['inventory.half-pairs'],
      observe: async (device) => {
        const raw = '[{"name":"half","value":"\\ud83d"}]';
        const { status } = await device.call('put-attributes', { raw });
        return observationOf(`${status}`);
      },
    },
  ],
});

/** Spec: Device inventory; Attribute (inventory) */
export const inventoryCases = writing;
