/** Creates and requests deployments in tests, and reads device deployments. */
import type { DeploymentDevice } from '../../fixtures/contract/management/deployments.ts';
import type { DeploymentInstructionsV1 } from '../../fixtures/contract/resources.ts';
import type { DeviceDeploymentStatus } from '../../fixtures/contract/vocabulary.ts';
import type { AcceptedDevice } from './test-device.ts';
import type { TestResponse, TestServer } from './test-server.ts';

/** The facts that a device reports about itself, by key. */
export type Provides = Readonly<Record<string, string>>;

/** A function that requests the next deployment by one operation. */
export type NextRequestCall = (
  server: TestServer,
  token: string,
  provides: Provides,
) => Promise<TestResponse>;

/** The three operations that request the next deployment, by name. */
export const nextRequests = {
  'GET v1': (server, token, provides) =>
    server.call('get-next-deployment', { token, query: provides }),
  'POST v1': (server, token, provides) =>
    server.call('post-next-deployment', { token, json: provides }),
  'POST v2': (server, token, provides) =>
    server.call('post-next-deployment-v2', { token, json: { device_provides: provides } }),
} as const satisfies Record<string, NextRequestCall>;

/** The reported data of a board with an older artifact than the ones that tests deploy. */
export const board: Provides = { device_type: 'board', artifact_name: 'release-0' };

/** Creates a deployment of `release-1` to the devices. `overrides` changes the body. */
export function createDeployment(
  server: TestServer,
  devices: readonly Pick<AcceptedDevice, 'id'>[],
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<TestResponse> {
  return server.call('create-deployment', {
    token: server.adminToken,
    json: {
      name: 'spring',
      artifact_name: 'release-1',
      devices: devices.map(({ id }) => id),
      ...overrides,
    },
  });
}

/** Creates a deployment that must be accepted; returns its ID. @throws Error when it is refused */
export async function deploy(
  server: TestServer,
  devices: readonly Pick<AcceptedDevice, 'id'>[],
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const response = await createDeployment(server, devices, overrides);
  const id = response.headers.get('location')?.split('/').at(-1);
  if (response.status !== 201 || id === undefined)
    throw new Error(`the deployment was not created: ${response.text}`);
  return id;
}

/** Returns the instructions in a response. @throws Error when there are none */
export function instructionsIn(response: TestResponse): DeploymentInstructionsV1 {
  if (response.status !== 200)
    throw new Error(`no instructions: ${response.status} ${response.text}`);
  return response.json<DeploymentInstructionsV1>();
}

/** Reports a status as the device. */
export function report(
  server: TestServer,
  { token }: Pick<AcceptedDevice, 'token'>,
  { id, ...json }: { id: string; status: string; substate?: string },
): Promise<TestResponse> {
  return server.call('put-deployment-status', { token, parameters: { id }, json });
}

/** Returns a device deployment as users see it, or undefined when the device has none. */
export async function deviceDeploymentOf(
  server: TestServer,
  deploymentId: string,
  device: Pick<AcceptedDevice, 'id'>,
): Promise<DeploymentDevice | undefined> {
  const response = await server.call('list-deployment-devices', {
    token: server.adminToken,
    parameters: { id: deploymentId },
    query: { per_page: '500' },
  });
  return response.json<DeploymentDevice[]>().find(({ id }) => id === device.id);
}

/** Returns the status of a device deployment. */
export async function statusOf(
  server: TestServer,
  deploymentId: string,
  device: Pick<AcceptedDevice, 'id'>,
): Promise<DeviceDeploymentStatus | undefined> {
  return (await deviceDeploymentOf(server, deploymentId, device))?.status;
}

/** Aborts a deployment as a user. */
export function abort(server: TestServer, id: string): Promise<TestResponse> {
  const json = { status: 'aborted' };
  return server.call('abort-deployment', { token: server.adminToken, parameters: { id }, json });
}
