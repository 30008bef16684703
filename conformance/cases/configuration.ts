/** Cases: the configuration store of a device. Spec: Device configuration */
import { deviceConfigurationShape } from '../../fixtures/contract/resources.ts';
import { defineScenario } from '../case.ts';
import {
  expectEach,
  expectEqual,
  expectNoBody,
  expectShape,
  expectStatus,
  observed,
  observedAnswer,
  shown,
} from '../expectations.ts';
import { acceptedDevice, twoDevices } from '../stage/start-states.ts';
import type { SuiteDevice } from '../stage/suite-device.ts';

/** The pairs that the device reads. */
async function readPairs(device: SuiteDevice): Promise<Record<string, string>> {
  const answer = await device.call('get-configuration');
  expectStatus(answer, 200);
  return expectShape(answer, deviceConfigurationShape);
}

function write(device: SuiteDevice, body: unknown) {
  return device.call('put-configuration', { body });
}

const fresh = defineScenario({
  area: 'configuration',
  name: 'A device without settings',
  start: 'an accepted device without settings',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'write-is-204',
      title: 'Setting pairs is answered 204 without a body.',
      requirements: ['configuration.write'],
      covers: ['put-configuration 204'],
      run: async (device) => {
        const answer = await write(device, { timezone: 'UTC' });
        expectStatus(answer, 204);
        expectNoBody(answer);
      },
    },
    {
      id: 'body-is-optional',
      title: 'Setting without a body is answered 204.',
      requirements: ['configuration.body-is-optional'],
      run: async (device) => expectStatus(await device.call('put-configuration'), 204),
    },
    {
      id: 'other-values-are-400',
      title: 'A value that is a number, a boolean, null, an object or an array is answered 400.',
      requirements: ['configuration.values-are-texts'],
      covers: ['put-configuration 400'],
      run: async (device) => {
        const values = { number: 7, boolean: true, null: null, object: {}, array: ['text'] };
        await expectEach(400, values, (value) => write(device, { good: 'text', key: value }));
      },
    },
    {
      id: 'malformed-body-is-400',
      title: 'A body that is no JSON object is answered 400.',
      requirements: ['configuration.malformed-is-400'],
      run: async (device) => {
        const bodies = { 'no JSON': '{"key":', 'an array': '[]', 'a text': '"key"', null: 'null' };
        await expectEach(400, bodies, (raw) => device.call('put-configuration', { raw }));
      },
    },
    {
      id: 'set-by-user-is-read',
      title: 'What a user configures for the device is what the device reads.',
      requirements: ['configuration.set-by-user'],
      run: async (device, stage) => {
        await stage.operator.configure(device.id, { timezone: 'Europe/Oslo' });
        const pairs = await stage.settled(
          () => readPairs(device),
          ({ timezone }) => timezone === 'Europe/Oslo',
        );
        expectEqual('timezone', pairs.timezone, 'Europe/Oslo');
      },
    },
    {
      id: 'no-settings-yet',
      title: 'A device without settings may be answered an empty map or 404.',
      requirements: ['configuration.none-yet'],
      covers: ['get-configuration 404'],
      observe: async (device) => observedAnswer(await device.call('get-configuration')),
    },
    {
      id: 'read-with-a-malformed-query',
      title: 'The contract names 400 for reading; a query that is none may bring it about.',
      requirements: ['configuration.invalid-read'],
      covers: ['get-configuration 400'],
      observe: async (device) => {
        const query = { unknown: '\u0000' };
        return observedAnswer(await device.call('get-configuration', { query }));
      },
    },
    {
      id: 'many-keys',
      title: 'How a server takes 101 keys at once.',
      requirements: ['configuration.most-keys'],
      observe: async (device) => {
        const keys = Array.from({ length: 101 }, (_, index) => [`key-${index}`, 'value']);
        return observedAnswer(await write(device, Object.fromEntries(keys)));
      },
    },
  ],
});

const settled = defineScenario({
  area: 'configuration',
  name: 'A device with settings',
  start: 'a device that has set timezone and colour',
  risk: 'write',
  needs: ['operator'],
  arrange: async (stage) => {
    const device = await acceptedDevice(stage);
    expectStatus(await write(device, { timezone: 'UTC', colour: 'blue' }), 204);
    return device;
  },
  cases: [
    {
      id: 'pairs-are-read-back',
      title: 'The device reads the pairs that it has set: 200 with a map of texts.',
      requirements: ['configuration.read', 'configuration.write'],
      covers: ['get-configuration 200'],
      run: async (device) => {
        const { timezone, colour } = await readPairs(device);
        expectEqual('pairs', { timezone, colour }, { timezone: 'UTC', colour: 'blue' });
      },
    },
    {
      id: 'existing-key-is-updated',
      title: 'Setting a key again gives it the new value.',
      requirements: ['configuration.update'],
      run: async (device) => {
        await write(device, { timezone: 'Europe/Oslo' });
        expectEqual('timezone', (await readPairs(device)).timezone, 'Europe/Oslo');
      },
    },
    {
      id: 'empty-value-removes-the-key',
      title: 'Setting a key to the empty text removes it.',
      requirements: ['configuration.empty-removes'],
      run: async (device) => {
        await write(device, { timezone: '' });
        expectEqual('timezone', (await readPairs(device)).timezone, undefined);
      },
    },
    {
      id: 'keys-that-are-not-named',
      title: 'Keys that a request does not name may stay or go.',
      requirements: ['configuration.other-keys'],
      observe: async (device) => {
        await write(device, { timezone: 'Europe/Oslo' });
        return observed(`after setting timezone: ${shown(await readPairs(device))}`);
      },
    },
    {
      id: 'refused-body-changes-nothing',
      title: 'A body that is refused because of one value changes none of the others.',
      requirements: ['configuration.values-are-texts'],
      run: async (device) => {
        await write(device, { timezone: 'Europe/Oslo', colour: 7 });
        expectEqual('timezone', (await readPairs(device)).timezone, 'UTC');
      },
    },
  ],
});

const two = defineScenario({
  area: 'configuration',
  name: 'Two devices',
  start: 'two accepted devices',
  risk: 'write',
  needs: ['operator'],
  arrange: twoDevices,
  cases: [
    {
      id: 'stores-are-apart',
      title: 'What one device sets the other does not read.',
      requirements: ['configuration.own-store'],
      run: async ({ device, other }) => {
        expectStatus(await write(device, { mine: 'yes' }), 204);
        expectStatus(await write(other, { theirs: 'yes' }), 204);
        expectEqual('mine', (await readPairs(other)).mine, undefined);
      },
    },
  ],
});

/** Spec: Device configuration */
export const configurationCases = [...fresh, ...settled, ...two];
