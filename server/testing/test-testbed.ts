/** Creates devices and artifacts in a testbed's tenants, and reads refusals. */
import { operations } from '../../fixtures/contract/operations.ts';
import { AdminRefusal, type Testbed, type TestbedTenant } from '../testbed.ts';
import { artifactBytes } from './test-artifacts.ts';
import { newDevice, signatureOf, type TestDevice } from './test-device.ts';

/** Requests a token as a device that names its tenant. */
export function authenticateIn(
  testbed: Testbed,
  tenant: TestbedTenant,
  device: TestDevice,
): Promise<Response> {
  const body = JSON.stringify({
    id_data: device.idData,
    pubkey: device.publicKeyPem,
    tenant_token: tenant.tenantToken,
  });
  return fetch(testbed.baseUrl + operations['post-auth-request'].path, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      [`${testbed.headerPrefix}-Signature`]: signatureOf(body, device.privateKey),
    },
    body,
  });
}

/** Creates an accepted device of the tenant, with its token. */
export async function acceptedIn(testbed: Testbed, tenant: TestbedTenant, name: string) {
  const device = newDevice(name);
  await authenticateIn(testbed, tenant, device);
  const { body: devices } = await tenant.admin.call('list-devices', { query: { per_page: 500 } });
  const knownDevice = devices.find(({ identity_data: data }) => data.mac === name);
  const { id = '', auth_sets: sets = [] } = knownDevice ?? {};
  const parameters = { id, aid: sets[0]?.id ?? '' };
  await tenant.admin.call('set-auth-set-status', { parameters, json: { status: 'accepted' } });
  return { ...device, id, token: await (await authenticateIn(testbed, tenant, device)).text() };
}

/** Returns 200 or 401 for a call with a device's token. */
export async function statusFor({ baseUrl }: Testbed, token: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(baseUrl + operations['get-configuration'].path, { headers })).status;
}

/** Returns the names of the devices that a tenant's admin sees. */
export function namesIn(tenant: TestbedTenant): Promise<unknown[]> {
  const response = tenant.admin.call('list-devices');
  return response.then(({ body }) => body.map(({ identity_data: data }) => data.mac));
}

/** Returns 200, or the status of the refusal. */
export function statusOf(call: Promise<unknown>): Promise<number> {
  return call.then(
    () => 200,
    (error: unknown) => {
      if (error instanceof AdminRefusal) return error.status;
      throw error;
    },
  );
}

/** Uploads an artifact; returns its ID. */
export async function publishIn({ admin }: TestbedTenant, name: string): Promise<string> {
  const form = new FormData();
  form.append('artifact', new Blob([new Uint8Array(await artifactBytes({ name }))]), 'a.mender');
  const { headers } = await admin.call('upload-artifact', { form });
  return headers.get('location')?.split('/').at(-1) ?? '';
}
