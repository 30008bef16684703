/** Cases: writing attributes again, and the attributes of two devices. Spec: Device inventory */
import { acceptedDevice, requireResponse, twoDevices } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { ShownAttribute } from '../../context/target-admin.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  expectEqual,
  expectThat,
  observationOf,
} from '../../target/expectations.ts';
import {
  expectShown,
  shownAttributes,
  shownProbe,
  type WriteOperation,
  writeAttributes as write,
} from './inventory-writing.ts';

/**
 * Writes, then returns what users see of `changed`, `kept` and `added` once the predicate holds.
 */
async function changeAttributes(
  context: TestContext,
  device: SuiteDevice,
  { how, attributes, holds }: AttributeChange,
): Promise<Readonly<Record<string, unknown>>> {
  requireResponse(how, await write(device, how, ...attributes), 200);
  const shownValues = await shownAttributes(context, device, holds);
  return Object.fromEntries(Object.values(shownValues).map(({ name, value }) => [name, value]));
}

interface AttributeChange {
  readonly how: WriteOperation;
  readonly attributes: readonly unknown[];
  readonly holds: (attributes: Readonly<Record<string, ShownAttribute>>) => boolean;
}

const writeCases = defineScenario({
  area: 'inventory',
  name: 'Writing again',
  start: 'a device that has the attributes kept and changed',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const device = await acceptedDevice(context);
    const initialValues = { kept: 'unchanged', changed: 'before' };
    const attributes = Object.entries(initialValues).map(([name, value]) => ({ name, value }));
    await write(device, 'put-attributes', ...attributes);
    await expectShown(context, device, initialValues);
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
          holds: (all) => all.changed?.value === 'after',
        });
        expectEqual('changed', changed, 'after');
      },
    },
    {
      id: 'patch-to-zero-or-empty',
      title: 'PATCH replaces a value by 0 or an empty string.',
      requirements: ['inventory.patch-upserts', 'inventory.value-kinds'],
      run: async (device, context) => {
        for (const value of [5, 0, 'a string', '']) {
          const { changed } = await changeAttributes(context, device, {
            how: 'patch-attributes',
            attributes: [{ name: 'changed', value }],
            holds: (all) => all.changed?.value === value,
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
          holds: (all) => 'added' in all,
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
          holds: (all) => all.changed?.value === 'after',
        });
        expectEqual('kept', kept, 'unchanged');
      },
    },
    {
      id: 'value-changes-its-type',
      title: 'An attribute that is written with a value of another type has the new type.',
      requirements: ['inventory.value-kinds'],
      run: async (device, context) => {
        for (const value of [7, [1, 2], ['a'], 'a string']) {
          const { changed } = await changeAttributes(context, device, {
            how: 'patch-attributes',
            attributes: [{ name: 'changed', value }],
            holds: (all) => describeValue(all.changed?.value) === describeValue(value),
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
          holds: (all) => 'added' in all && all.changed?.value === 'after',
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
          holds: (all) => !('kept' in all),
        });
        expectThat(kept === undefined, 'no attribute kept', describeValue(kept));
      },
    },
    {
      id: 'empty-put',
      title: 'What PUT with an empty array does.',
      requirements: ['inventory.empty-array'],
      observe: async (device, context) => {
        const response = await write(device, 'put-attributes');
        const remainingNames = Object.keys(await shownAttributes(context, device, () => true));
        return observationOf(
          `answered with ${response.status}, and left ${describeValue(remainingNames)}`,
        );
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
        const shownValues = await shownAttributes(
          context,
          device,
          ({ probe }) => probe?.value === 2,
        );
        return observationOf(
          `description ${describeValue(shownValues.probe?.description ?? 'gone')}`,
        );
      },
    },
  ],
});

const twoDevicesCases = defineScenario({
  area: 'inventory',
  name: 'Two devices',
  start: 'two accepted devices, each with the attribute probe',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const { device, otherDevice } = await twoDevices(context);
    await write(otherDevice, 'put-attributes', { name: 'probe', value: 'theirs' });
    await expectShown(context, otherDevice, { probe: 'theirs' });
    return { device, otherDevice };
  },
  cases: [
    {
      id: 'attributes-are-apart',
      title: 'A device does not change the attributes of another device.',
      requirements: ['inventory.own-attributes'],
      run: async ({ device, otherDevice }, context) => {
        await write(device, 'put-attributes', { name: 'probe', value: 'own' });
        await shownProbe(context, device);
        const { probe } = await shownAttributes(context, otherDevice, () => true);
        expectEqual('probe of the other device', probe?.value, 'theirs');
      },
    },
  ],
});

export const inventoryChangeCases = [...writeCases, ...twoDevicesCases];
