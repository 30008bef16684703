/**
 * Cases: the configuration store of a device.
 * Spec: Device configuration; DeviceAPIConfiguration
 */
import { allowedNames, allowedTexts, readPairs } from '../../context/configuration-pairs.ts';
import { acceptedDevice, twoDevices } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  type InputTable,
  inputCases,
  namedValues,
  otherThanString,
} from '../../suite/input-table.ts';
import {
  describeValue,
  expectEqual,
  expectJson,
  expectNoBody,
  expectStatus,
  expectThat,
  NotObservable,
  observationOf,
  observedResponse,
  responseSummary,
} from '../../target/expectations.ts';
import { isMap } from '../../target/json-members.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Pairs that are set together. */
export const validPairs = { good: 'text', key: 'text' };

/** Pairs with a value that is not a string, and bodies that are not an object of pairs. */
export const pairInputs: InputTable = {
  'other-values-are-400': {
    title: 'A value that is a number, a boolean, null, an object or an array is answered with 400.',
    requirement: 'configuration.values-are-strings',
    field: 'key',
    refused: { ...namedValues(...otherThanString), zero: 0, 'an array of strings': ['text'] },
    covers: ['put-configuration 400'],
  },
  'malformed-body-is-400': {
    title: 'A body that is not a JSON object is answered with 400.',
    requirement: 'configuration.malformed-is-400',
    field: '',
    refused: {
      'JSON that is cut off': '{"key":',
      'an array': '[]',
      'an array of pairs': '[{"key":"value"}]',
      'a string': '"key"',
      'a number': '7',
      'a boolean': 'true',
      null: 'null',
      'text that is not JSON': 'key=value',
    },
  },
};

/** Longer than any known server accepts. */
const LONG = 100_000;

function write(device: SuiteDevice, body: unknown): Promise<HttpResponse> {
  return device.call('put-configuration', { body });
}

/** Writes each pair in a separate request, and asserts that the device reads it back. */
async function expectKept(device: SuiteDevice, pairs: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(pairs)) {
    await write(device, { [name]: value });
    expectEqual(`value of ${describeValue(name)}`, (await readPairs(device))[name], value);
  }
}

const unconfiguredCases = defineScenario({
  area: 'configuration',
  name: 'A device without a configuration',
  start: 'an accepted device without a configuration',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'write-is-204',
      title: 'Setting pairs is answered with 204.',
      requirements: ['configuration.write'],
      covers: ['put-configuration 204'],
      run: async (device) => expectStatus(await write(device, { timezone: 'UTC' }), 204),
    },
    {
      id: 'write-has-no-body',
      title: 'The response to setting pairs has no body.',
      requirements: ['configuration.write-has-no-body'],
      run: async (device) => expectNoBody(await write(device, { timezone: 'UTC' })),
    },
    {
      id: 'body-is-optional',
      title: 'Setting without a body is answered with 204.',
      requirements: ['configuration.body-is-optional'],
      run: async (device) => expectStatus(await device.call('put-configuration'), 204),
    },
    {
      id: 'written-is-read',
      title: 'A pair that the device sets is stored.',
      requirements: ['configuration.written-is-read'],
      run: async (device) => {
        await write(device, { timezone: 'UTC' });
        expectEqual('timezone', (await readPairs(device)).timezone, 'UTC');
      },
    },
    {
      id: 'any-name-is-kept',
      title: 'Names with spaces, dots, symbols and letters of any script are set and read.',
      requirements: ['configuration.any-name'],
      run: async (device) =>
        expectKept(device, Object.fromEntries(allowedNames.map((name) => [name, 'value']))),
    },
    {
      id: 'any-string-is-kept',
      title: 'Values that look like other types, or hold any character, are read as written.',
      requirements: ['configuration.any-string'],
      run: async (device) =>
        expectKept(
          device,
          Object.fromEntries(allowedTexts.map((text, index) => [`key-${index}`, text])),
        ),
    },
    {
      id: 'empty-name',
      title: 'The empty string may be a valid name or be refused.',
      requirements: ['configuration.empty-name'],
      observe: async (device) => observedResponse(await write(device, { '': 'value' })),
    },
    ...inputCases<SuiteDevice>(pairInputs, {
      body: validPairs,
      send: (device, { raw }) => device.call('put-configuration', { raw }),
      accepted: [204],
    }),
    {
      id: 'removing-nothing-is-204',
      title: 'Removing a key that does not exist is answered with 204 and adds nothing.',
      requirements: ['configuration.remove-unknown'],
      run: async (device) => {
        expectStatus(await write(device, { timezone: '' }), 204);
        expectEqual('timezone', (await readPairs(device)).timezone, undefined);
      },
    },
    {
      id: 'writes-at-once',
      title: 'Of eight concurrent writes to one key, one wins.',
      requirements: ['configuration.concurrent-writes'],
      run: async (device) => {
        const values = Array.from({ length: 8 }, (_, index) => String(index).repeat(100));
        await Promise.all(values.map((value) => write(device, { shared: value })));
        const { shared } = await readPairs(device);
        expectThat(
          values.some((value) => value === shared),
          'one of the values',
          describeValue(shared),
        );
      },
    },
    {
      id: 'set-by-user-is-read',
      title: 'The device reads what a user configures for it.',
      requirements: ['configuration.set-by-user'],
      run: async (device, context) => {
        await context.admin.configure(device.id, { timezone: 'Asia/Tokyo' });
        const pairs = await context.eventually(
          () => readPairs(device),
          ({ timezone }) => timezone !== undefined,
        );
        expectEqual('timezone', pairs.timezone, 'Asia/Tokyo');
      },
    },
    {
      id: 'no-settings-yet',
      title: 'A device without a configuration may read an empty map or be answered with 404.',
      requirements: ['configuration.none-yet'],
      covers: ['get-configuration 404'],
      observe: async (device) => observedResponse(await device.call('get-configuration')),
    },
    {
      id: 'invalid-read',
      title: 'Reading with an unknown query parameter may be answered with 400.',
      requirements: ['configuration.invalid-read'],
      covers: ['get-configuration 400'],
      observe: async (device) => {
        const query = { unknown: '\u0000' };
        return observedResponse(await device.call('get-configuration', { query }));
      },
    },
    {
      id: 'many-keys',
      title: 'How a server answers 100 keys at once, and one more.',
      requirements: ['configuration.most-keys'],
      observe: async (device) => {
        const keys = Array.from({ length: 100 }, (_, index) => [`key-${index}`, 'value']);
        const { status: hundred } = await write(device, Object.fromEntries(keys));
        const { status: oneMore } = await write(device, { 'key-100': 'value' });
        return observationOf(`100: ${hundred}, one more: ${oneMore}`);
      },
    },
    {
      id: 'long-strings',
      title: 'How a server answers a name, and a value, of 100,000 characters.',
      requirements: ['configuration.longest-strings'],
      observe: async (device) => {
        const name = await write(device, { ['n'.repeat(LONG)]: 'value' });
        const value = await write(device, { name: 'v'.repeat(LONG) });
        return observationOf(`the name ${name.status}, the value ${value.status}`);
      },
    },
  ],
});

const settled = defineScenario({
  area: 'configuration',
  name: 'A device with one pair',
  start: 'a device that has set timezone',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const device = await acceptedDevice(context);
    await write(device, { timezone: 'UTC' });
    expectEqual('timezone', (await readPairs(device)).timezone, 'UTC');
    return device;
  },
  cases: [
    {
      id: 'existing-key-is-updated',
      title: 'Setting a key again replaces its value.',
      requirements: ['configuration.update'],
      run: async (device) => {
        await write(device, { timezone: 'Europe/Oslo' });
        expectEqual('timezone', (await readPairs(device)).timezone, 'Europe/Oslo');
      },
    },
    {
      id: 'empty-value-removes-the-key',
      title: 'Setting a key to the empty string removes it.',
      requirements: ['configuration.empty-removes'],
      run: async (device) => {
        await write(device, { timezone: '' });
        const pairs = await readPairs(device);
        expectThat(!('timezone' in pairs), 'no timezone', describeValue(pairs));
      },
    },
    {
      id: 'removed-key-comes-back',
      title: 'A key that was removed can be set again.',
      requirements: ['configuration.empty-removes'],
      run: async (device) => {
        await write(device, { timezone: '' });
        await write(device, { timezone: 'Asia/Tokyo' });
        expectEqual('timezone', (await readPairs(device)).timezone, 'Asia/Tokyo');
      },
    },
    {
      id: 'refused-body-changes-nothing',
      title: 'A body that is refused because of one value changes none of the others.',
      requirements: ['configuration.refused-changes-nothing'],
      run: async (device) => {
        const { status } = await write(device, { timezone: 'Europe/Oslo', colour: 7 });
        if (status < 400) throw new NotObservable('the target accepts a number');
        expectEqual('timezone', (await readPairs(device)).timezone, 'UTC');
      },
    },
  ],
});

const several = defineScenario({
  area: 'configuration',
  name: 'A device with two pairs',
  start: 'a device that has set timezone and colour',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const device = await acceptedDevice(context);
    expectStatus(await write(device, { timezone: 'UTC', colour: 'blue' }), 204);
    return device;
  },
  cases: [
    {
      id: 'read-is-200',
      title: 'Reading the store is answered with 200 and a JSON object.',
      requirements: ['configuration.read'],
      covers: ['get-configuration 200'],
      run: async (device) => {
        const response = await device.call('get-configuration');
        expectStatus(response, 200);
        expectThat(isMap(expectJson(response)), 'an object', responseSummary(response));
      },
    },
    {
      id: 'all-pairs-are-read',
      title: 'The device reads every pair that it has set.',
      requirements: ['configuration.read-all'],
      run: async (device) => {
        const keys = Object.keys(await readPairs(device));
        const missingKeys = ['timezone', 'colour'].filter((name) => !keys.includes(name));
        expectThat(missingKeys.length === 0, 'timezone and colour', describeValue(keys));
      },
    },
    {
      id: 'read-values-are-strings',
      title: 'Every value that the device reads is a string.',
      requirements: ['configuration.read-strings'],
      run: async (device) => {
        const pairs = await readPairs(device);
        const areTexts = Object.values(pairs).every((value) => typeof value === 'string');
        expectThat(areTexts, 'texts as values', describeValue(pairs));
      },
    },
    {
      id: 'keys-that-are-not-named',
      title: 'Keys that a request does not name may be kept or removed.',
      requirements: ['configuration.other-keys'],
      observe: async (device) => {
        await write(device, { timezone: 'Europe/Oslo' });
        return observationOf(`after setting timezone: ${describeValue(await readPairs(device))}`);
      },
    },
  ],
});

const twoDevicesCases = defineScenario({
  area: 'configuration',
  name: 'Two devices',
  start: 'two devices that have set a key each',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const { device, otherDevice } = await twoDevices(context);
    expectStatus(await write(device, { mine: 'yes' }), 204);
    expectStatus(await write(otherDevice, { theirs: 'yes' }), 204);
    return otherDevice;
  },
  cases: [
    {
      id: 'stores-are-apart',
      title: 'A device does not read what another device sets.',
      requirements: ['configuration.own-store'],
      run: async (otherDevice) => {
        const { mine } = await readPairs(otherDevice);
        expectThat(mine === undefined, 'no value of the other device', describeValue(mine));
      },
    },
  ],
});

export const configurationCases = [
  ...unconfiguredCases,
  ...settled,
  ...several,
  ...twoDevicesCases,
];
