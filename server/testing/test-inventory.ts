/** Reports the attributes of devices in tests, and reads the inventory as users do. */
import type { InventoryDevice } from '../../fixtures/contract/management/inventory.ts';
import type { AcceptedDevice } from './test-device.ts';
import { acceptedDevice } from './test-device.ts';
import type { TestResponse, TestServer } from './test-server.ts';

/** Creates an accepted device that reports these attributes. */
export async function reportingDevice(
  server: TestServer,
  name: string,
  attributes: Readonly<Record<string, unknown>> = {},
): Promise<AcceptedDevice> {
  const device = await acceptedDevice(server, name);
  const json = Object.entries(attributes).map(([key, value]) => ({ name: key, value }));
  const response = await server.call('put-attributes', { token: device.token, json });
  if (response.status !== 200)
    throw new Error(`attributes were refused: ${response.status} ${response.text}`);
  return device;
}

/** Puts a device into a group, as a user. */
export function setGroup(server: TestServer, id: string, group: string): Promise<TestResponse> {
  const call = { token: server.adminToken, parameters: { id }, json: { group } };
  return server.call('set-device-group', call);
}

/** Returns the names (`{"mac": name}`) of the devices in a response, in its order. */
export function namesIn(response: TestResponse): unknown[] {
  if (response.status !== 200) throw new Error(`no devices: ${response.status} ${response.text}`);
  return response.json<InventoryDevice[]>().map((device) => valueIn(device, 'identity', 'mac'));
}

/** Returns the value of an attribute, as a user sees it. */
export async function attributeOf(
  server: TestServer,
  id: string,
  scope: string,
  name: string,
): Promise<unknown> {
  const call = { token: server.adminToken, parameters: { id } };
  return valueIn((await server.call('get-inventory', call)).json<InventoryDevice>(), scope, name);
}

function valueIn({ attributes }: InventoryDevice, scope: string, name: string): unknown {
  return attributes.find((one) => one.scope === scope && one.name === name)?.value;
}
