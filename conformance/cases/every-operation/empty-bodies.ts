/**
 * Cases: empty bodies, and bodies without optional members. The contract leaves open whether a
 * server accepts an empty list, but defines the effect of an accepted one.
 * Spec: Device inventory; Device monitor; Device configuration
 */
import { acceptedDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { ShownAttribute } from '../../context/target-admin.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  expectEqual,
  expectStatus,
  expectThat,
  NotObservable,
  observationOf,
} from '../../target/expectations.ts';
import { type WriteOperation, writeAttributes } from '../inventory/inventory-writing.ts';
import { sendConfiguration, service } from '../monitor/monitor-samples.ts';

type AttributesByName = Readonly<Record<string, ShownAttribute>>;

/** Returns the attributes as users see them, once `holds` is true or the time limit has passed. */
async function readAttributes(
  context: TestContext,
  device: SuiteDevice,
  holds: (attributes: AttributesByName) => boolean,
): Promise<AttributesByName> {
  return context.eventually(async () => {
    const all = await context.admin.attributes(device.id);
    return Object.fromEntries(all.map((attribute) => [attribute.name, attribute]));
  }, holds);
}

const described = { name: 'probe', value: 'first', description: 'what it is' };

/** Arranges a device with two attributes, both of which users see. */
async function withAttributes(context: TestContext): Promise<SuiteDevice> {
  const device = await acceptedDevice(context);
  const body = [described, { name: 'other', value: [1, 2] }];
  expectStatus(await device.call('put-attributes', { body }), 200);
  const shownAttributes = await readAttributes(
    context,
    device,
    (all) => 'probe' in all && 'other' in all,
  );
  if ('probe' in shownAttributes && 'other' in shownAttributes) return device;
  throw new NotObservable('users do not see the attributes that were written');
}

/** Sends an empty list of attributes; returns true if the target accepts it. */
async function isEmptyTaken(device: SuiteDevice, how: WriteOperation): Promise<boolean> {
  return (await writeAttributes(device, how)).status === 200;
}

const attributes = defineScenario<SuiteDevice>({
  area: 'inventory',
  name: 'Empty attributes',
  start: 'a device that has the attributes probe, with a description, and other',
  effect: 'write',
  needs: ['user'],
  arrange: withAttributes,
  cases: [
    {
      id: 'empty-put-clears',
      title: 'PUT of an empty array, if accepted, leaves no attribute.',
      requirements: ['inventory.empty-put-clears'],
      run: async (device, context) => {
        if (!(await isEmptyTaken(device, 'put-attributes'))) return;
        const remainingAttributes = await readAttributes(
          context,
          device,
          (all) => !('probe' in all || 'other' in all),
        );
        const names = Object.keys(remainingAttributes).filter((name) =>
          ['probe', 'other'].includes(name),
        );
        expectEqual('remaining attributes', names, []);
      },
    },
    {
      id: 'empty-patch-changes-nothing',
      title: 'PATCH of an empty array changes no attribute.',
      requirements: ['inventory.patch-keeps'],
      run: async (device, context) => {
        await isEmptyTaken(device, 'patch-attributes');
        // A later attribute shows that the earlier requests have taken effect.
        await writeAttributes(device, 'patch-attributes', { name: 'later', value: 1 });
        const { probe, other } = await readAttributes(context, device, (all) => 'later' in all);
        const values = { probe: probe?.value, other: other?.value };
        expectEqual('attributes', values, { probe: 'first', other: [1, 2] });
      },
    },
    {
      id: 'put-replaces-descriptions',
      title: 'PUT of an attribute without its description removes the description.',
      requirements: ['inventory.put-replaces-descriptions'],
      run: async (device, context) => {
        const attribute = { name: 'probe', value: 'second' };
        expectStatus(await writeAttributes(device, 'put-attributes', attribute), 200);
        const { probe } = await readAttributes(
          context,
          device,
          (all) => all.probe?.value === 'second',
        );
        const { description = '' } = probe ?? {};
        expectEqual('description', description, '');
      },
    },
  ],
});

const monitors = defineScenario<SuiteDevice>({
  area: 'monitor',
  name: 'Empty monitor configurations',
  start: 'a device that has sent a monitor configuration',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const device = await acceptedDevice(context);
    await sendConfiguration(device, service);
    return device;
  },
  cases: [
    {
      id: 'empty-configuration-is-current',
      title: 'An empty configuration, if accepted, becomes the current one: users then read none.',
      requirements: ['monitor.empty-is-current'],
      run: async (device, context) => {
        const readConfiguration = () => context.admin.monitorConfiguration(device.id);
        const earlierMonitors = await context.eventually(
          readConfiguration,
          ({ length }) => length > 0,
        );
        if (earlierMonitors.length === 0) throw new NotObservable('users read no configuration');
        if ((await sendConfiguration(device)).status !== 204) return;
        const laterMonitors = await context.eventually(
          readConfiguration,
          ({ length }) => length === 0,
        );
        expectThat(laterMonitors.length === 0, 'no monitors', describeValue(laterMonitors));
      },
    },
  ],
});

const configurations = defineScenario<SuiteDevice>({
  area: 'configuration',
  name: 'Empty configurations',
  start: 'a device that has set a key',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const device = await acceptedDevice(context);
    await device.call('put-configuration', { body: { timezone: 'UTC' } });
    return device;
  },
  cases: [
    {
      id: 'empty-object-and-no-body',
      title: 'Which keys remain after an empty object and after a request without a body.',
      requirements: ['configuration.other-keys'],
      observe: async (device) => {
        const remainingLog = async (body?: object): Promise<string> => {
          const { status } = await device.call('put-configuration', body && { body });
          const response = await device.call('get-configuration');
          return `answered with ${status}, and left ${describeValue(response.text)}`;
        };
        return observationOf(`no body: ${await remainingLog()}; {}: ${await remainingLog({})}`);
      },
    },
  ],
});

/** Spec: Device inventory; Device monitor; Device configuration */
export const emptyBodyCases = [...attributes, ...monitors, ...configurations];
