/** One resource of each kind of a tenant, and the management operations that name each. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { publish } from './test-artifacts.ts';
import { board, deploy, nextRequests, report } from './test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from './test-device.ts';
import { setGroup } from './test-inventory.ts';
import type { TestCall, TestResponse, TestServer } from './test-server.ts';
import { testPassword } from './test-tenants.ts';

type ManagementRows = typeof managementOperations;
/** An operation with a resource in its path. */
export type ResourceCallId = {
  [Id in keyof ManagementRows]: ManagementRows[Id]['path'] extends `${string}{${string}`
    ? Id
    : never;
}[keyof ManagementRows];

/** Creates a resource of the first tenant, a new one per number; returns its path parameters. */
type ResourceMaker = (server: TestServer, round: number) => Promise<ResourceNames>;
type ResourceNames = Readonly<Record<string, string>>;

/**
 * How a test calls an operation on its resource, and the response when there is no such resource.
 */
interface ResourceCall {
  /** This member is absent where the resource is the same for all tenants. */
  readonly make?: ResourceMaker;
  /** The contents of the call besides the path parameters. */
  readonly call?: (names: ResourceNames) => TestCall;
  /** Status of a valid call on a resource of the caller's tenant; by default the success of the row. */
  readonly ownStatus?: number;
  /**
   * Status of a valid call on a resource that belongs to another tenant or does not exist; by
   * default 404.
   */
  readonly foreign?: number;
  /** Status of a valid call on a malformed name; by default 404. */
  readonly malformed?: number;
}

const device: ResourceMaker = async (server, round) => namesOf(await groupedDevice(server, round));

async function groupedDevice(server: TestServer, round: number): Promise<AcceptedDevice> {
  const newDevice = await acceptedDevice(server, `device-${round}`);
  const moved = await setGroup(server, newDevice.id, `group-${round}`);
  if (moved.status !== 204) throw new Error(`the group was not set: ${moved.status} ${moved.text}`);
  return newDevice;
}

function namesOf({ id, authSetId }: AcceptedDevice) {
  return { id, aid: authSetId, jti: authSetId };
}

/** Creates a group with one device. */
const group: ResourceMaker = async (server, round) => ({
  ...(await device(server, round)),
  name: `group-${round}`,
});

const groupAndRelease: ResourceMaker = async (server, round) => {
  await publish(server, { name: 'for-groups', deviceTypes: [`board-${round}`] });
  return group(server, round);
};

const artifact: ResourceMaker = async (server, round) => ({
  id: await publish(server, { name: `release-${round}` }),
});

const release: ResourceMaker = async (server, round) => {
  await artifact(server, round);
  return { name: `release-${round}` };
};

const user: ResourceMaker = async (server, round) => {
  const json = { email: `user-${round}@first.example`, password: testPassword };
  return { id: idIn(await server.call('create-user-v1', { token: server.adminToken, json })) };
};

const role: ResourceMaker = async (server, round) => {
  const json = { name: `role-${round}`, permission_sets_with_scope: [{ name: 'ReadDevices' }] };
  return { id: idIn(await server.call('create-role', { token: server.adminToken, json })) };
};

const personalToken: ResourceMaker = async (server, round) => {
  const call = { token: server.adminToken, json: { name: `token-${round}` } };
  await server.call('create-personal-token', call);
  const list = await server.call('list-personal-tokens', { token: server.adminToken });
  return { id: list.json<{ id: string }[]>().at(-1)?.id ?? '' };
};

function idIn(response: TestResponse): string {
  if (response.status !== 201)
    throw new Error(`nothing was created: ${response.status} ${response.text}`);
  return response.headers.get('location')?.split('/').at(-1) ?? '';
}

/** Publishes the artifact that devices start with, so that a delta job has a base. */
async function publishBase(server: TestServer): Promise<void> {
  const call = { token: server.adminToken, parameters: { name: 'release-0' } };
  const release = await server.call('get-release', call);
  if (release.status === 404) await publish(server, { name: 'release-0' });
}

/** Creates a deployment that a device has begun, with a log and a delta job. */
async function begun(server: TestServer, round: number) {
  await publishBase(server);
  await publish(server, { name: `release-${round}` });
  const one = await groupedDevice(server, round);
  const id = await deploy(server, [one], {
    name: `deployment-${round}`,
    artifact_name: `release-${round}`,
    autogenerate_delta: true,
    update_control_map: {},
  });
  await nextRequests['POST v2'](server, one.token, board);
  await report(server, one, { id, status: 'downloading' });
  const messages = [{ timestamp: '2026-11-21T12:00:00Z', level: 'info', message: 'begun' }];
  const log = { token: one.token, parameters: { id }, json: { messages } };
  await server.call('put-deployment-log', log);
  return { id, deviceId: one.id };
}

const deployment: ResourceMaker = async (server, round) => {
  const { id, deviceId } = await begun(server, round);
  return { id, deployment_id: id, device_id: deviceId };
};

const deployedDevice: ResourceMaker = async (server, round) => ({
  id: (await begun(server, round)).deviceId,
});

const deltaJob: ResourceMaker = async (server, round) => {
  await begun(server, round);
  const list = await server.call('list-delta-jobs', { token: server.adminToken });
  return { id: list.json<{ id: string }[]>()[0]?.id ?? '' };
};

const json = (body: unknown) => () => ({ json: body });
const path = { path: '/etc/motd' };
const nobody = '00000000-0000-4000-8000-000000000000';
const ids = ({ id = nobody }: ResourceNames) => ({ json: [id] });

function fileForm(): TestCall {
  const body = new FormData();
  body.append('path', '/etc/motd');
  body.append('file', new Blob(['hello']), 'motd');
  return { body };
}

/** Every operation with a resource in its path; none can be omitted. */
export const resourceCalls: Readonly<Record<ResourceCallId, ResourceCall>> = {
  'get-user': { make: user },
  'update-user': { make: user, call: json({ email: 'changed@first.example' }) },
  'delete-user': { make: user },
  'get-role': { make: role },
  'get-role-v1': { make: role },
  'update-role': { make: role, call: json({ description: 'x' }) },
  'update-role-v1': { make: role, call: json({ description: 'x' }) },
  'delete-role': { make: role },
  'delete-role-v1': { make: role },
  'get-permission-set': {},
  'revoke-personal-token': { make: personalToken },

  'get-device': { make: device },
  'decommission-device': { make: device },
  'get-auth-set-status': { make: device },
  'set-auth-set-status': { make: device, call: json({ status: 'rejected' }) },
  'delete-auth-set': { make: device },
  'revoke-token': { make: device },
  'get-limit-by-name': { foreign: 400, malformed: 400 },

  'get-inventory': { make: device },
  'replace-tags': { make: device, call: json([]) },
  'add-tags': { make: device, call: json([]) },
  'get-device-group': { make: device },
  'set-device-group': { make: device, call: json({ group: 'green' }) },
  'clear-device-group': { make: group },
  'list-group-devices': { make: group },
  // A group is created with its first device, so a new name is not an error.
  'add-group-devices': { make: group, call: ids, foreign: 200, malformed: 400 },
  'remove-group-devices': { make: group, call: ids },

  'show-artifact': { make: artifact },
  'update-artifact': { make: artifact, call: json({ description: 'x' }) },
  'delete-artifact': { make: artifact },
  'get-artifact-download': { make: artifact },
  'get-release': { make: release },
  'update-release': { make: release, call: json({ notes: 'x' }) },
  'put-release-tags': { make: release, call: json(['x']) },
  'get-delta-job': { make: deltaJob },

  'create-group-deployment': {
    make: groupAndRelease,
    call: json({ name: 'x', artifact_name: 'for-groups' }),
    foreign: 400,
    malformed: 400,
  },
  'get-deployment': { make: deployment, malformed: 400 },
  'update-deployment': {
    make: deployment,
    call: json({ update_control_map: {} }),
    malformed: 400,
  },
  'abort-deployment': {
    make: deployment,
    call: json({ status: 'aborted' }),
    foreign: 422,
    malformed: 400,
  },
  'get-deployment-statistics': { make: deployment, malformed: 400 },
  'list-deployment-devices': { make: deployment, malformed: 400 },
  'list-deployment-devices-v1': { make: deployment, malformed: 400 },
  'list-deployment-device-ids': { make: deployment, malformed: 400 },
  'get-deployment-log': { make: deployment },
  'list-device-deployments': { make: deployedDevice },
  'abort-device-deployments': { make: deployedDevice },
  'reset-device-deployments': { make: deployedDevice },

  'show-configuration': { make: device },
  'set-configuration': { make: device, call: json({ a: 'b' }) },
  'deploy-configuration': { make: device, call: json({}) },
  'list-alerts': { make: device },
  'list-latest-alerts': { make: device },
  'show-monitor-configuration': { make: device },

  // The device is not connected, a fact that only users of its tenant may see.
  'get-connection': { make: device },
  'connect-device': { make: device, ownStatus: 404 },
  'check-device-update': { make: device, ownStatus: 404 },
  'send-device-inventory': { make: device, ownStatus: 404 },
  'download-device-file': { make: device, call: () => ({ query: path }), ownStatus: 409 },
  'describe-device-file': { make: device, call: () => ({ query: path }), ownStatus: 409 },
  'upload-device-file': { make: device, call: fileForm, ownStatus: 409 },
};

/** The IDs of all operations with a resource in their path, taken from the rows. */
export const resourceCallIds = Object.values(managementOperations)
  .filter(({ path: at }) => at.includes('{'))
  .map(({ id }) => id as ResourceCallId);
