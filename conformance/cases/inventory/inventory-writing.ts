/** Writes the attributes of a device, and reads them as a user, for the inventory cases. */
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { ShownAttribute } from '../../context/target-admin.ts';
import type { TestContext } from '../../context/test-context.ts';
import { expectEqual } from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

/** The two operations that write. */
export type WriteOperation = 'patch-attributes' | 'put-attributes';

/** Sends the attributes as a JSON array. */
export function writeAttributes(
  device: SuiteDevice,
  how: WriteOperation,
  ...attributes: readonly unknown[]
): Promise<HttpResponse> {
  return device.call(how, { body: attributes });
}

/** Returns the attributes that the device wrote, as users see them once the predicate holds. */
export async function shownAttributes(
  context: TestContext,
  device: SuiteDevice,
  holds: (attributes: Readonly<Record<string, ShownAttribute>>) => boolean,
): Promise<Readonly<Record<string, ShownAttribute>>> {
  return context.eventually(async () => {
    const attributes = await context.admin.attributes(device.id);
    return Object.fromEntries(attributes.map((attribute) => [attribute.name, attribute]));
  }, holds);
}

/** Returns the attribute `probe` once users see it. */
export async function shownProbe(
  context: TestContext,
  device: SuiteDevice,
): Promise<ShownAttribute | undefined> {
  return (await shownAttributes(context, device, ({ probe }) => probe !== undefined)).probe;
}

/** Asserts that users see each of the attributes with its value. */
export async function expectShown(
  context: TestContext,
  device: SuiteDevice,
  expected: Readonly<Record<string, unknown>>,
): Promise<void> {
  const names = Object.keys(expected);
  const shownValues = await shownAttributes(context, device, (all) =>
    names.every((name) => name in all),
  );
  const values = Object.fromEntries(names.map((name) => [name, shownValues[name]?.value]));
  expectEqual('values', values, expected);
}
