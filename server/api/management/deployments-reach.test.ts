import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  Deployment,
  DeploymentDevice,
} from '../../../fixtures/contract/management/deployments.ts';
import { publish } from '../../testing/test-artifacts.ts';
import { board, deploy, nextRequests, report, statusOf } from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import {
  startTestServer,
  type TestCall,
  type TestResponse,
  type TestServer,
} from '../../testing/test-server.ts';
import { groupScope, userWithSets } from '../../testing/test-tenants.ts';

type OperationId = Parameters<TestServer['call']>[0];

let server: TestServer;
/** This token belongs to a user whose roles are limited to the group north. */
let token: string;
let north: AcceptedDevice;
let south: AcceptedDevice;
/** These deployments have the device in the group north, the device in south, and both. */
let ids: Record<'inside' | 'outside' | 'both', string>;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server);
  [north, south] = [await acceptedDevice(server, 'north'), await acceptedDevice(server, 'south')];
  for (const [group, { id }] of [
    ['north', north],
    ['south', south],
  ] as const) {
    const call = { token: server.adminToken, parameters: { id }, json: { group } };
    await server.call('set-device-group', call);
  }
  const map = { update_control_map: { priority: 1 } };
  ids = {
    inside: await deploy(server, [north], map),
    outside: await deploy(server, [south], map),
    both: await deploy(server, [north, south], { ...map, name: 'both' }),
  };
  for (const device of [north, south]) {
    await nextRequests['POST v2'](server, device.token, board);
    const id = device === north ? ids.inside : ids.outside;
    const messages = [{ timestamp: '2026-11-21T12:00:00Z', level: 'info', message: 'x' }];
    await report(server, device, { id, status: 'downloading' });
    const call = { token: device.token, parameters: { id }, json: { messages } };
    await server.call('put-deployment-log', call);
  }
  const user = await userWithSets(server, 'limited@example.com', [
    { name: 'ReadDevices', scope: groupScope('north') },
    { name: 'DeployToDevices', scope: groupScope('north') },
  ]);
  token = user.token;
});

afterAll(() => server.close());

function ask(id: OperationId, call: TestCall = {}): Promise<TestResponse> {
  return server.call(id, { token, ...call });
}

const abortBody = { status: 'aborted' };
const mapBody = { update_control_map: { priority: 2 } };

describe('a user limited to a group', () => {
  it.each(['list-deployments', 'list-deployments-v1'] as const)(
    'lists only deployments with a device of the group: %s',
    async (id) => {
      const response = await ask(id);
      const seen = response.json<Deployment[]>().map((deployment) => deployment.id);
      expect(seen.toSorted()).toEqual([ids.both, ids.inside].toSorted());
      expect(response.headers.get('x-total-count')).toBe('2');
    },
  );

  it.each<[OperationId, TestCall]>([
    ['get-deployment', {}],
    ['get-deployment-statistics', {}],
    ['list-deployment-devices', {}],
    ['list-deployment-devices-v1', {}],
    ['list-deployment-device-ids', {}],
    ['update-deployment', { json: mapBody }],
    ['abort-deployment', { json: abortBody }],
  ])('gets 403 for a deployment without a device of the group: %s', async (id, call) => {
    const parameters = { id: ids.outside, deployment_id: ids.outside };
    const response = await ask(id, { ...call, parameters });
    expect([response.status, response.json().error]).toEqual([
      403,
      expect.stringContaining('group'),
    ]);
  });

  it.each<[OperationId]>([
    ['get-deployment'],
    ['get-deployment-statistics'],
    ['list-deployment-devices'],
    ['list-deployment-devices-v1'],
    ['list-deployment-device-ids'],
  ])('can read a deployment that also has other devices: %s', async (id) => {
    const parameters = { id: ids.both, deployment_id: ids.both };
    expect((await ask(id, { parameters })).status).toBe(200);
  });

  it('sees only the devices of the group in a deployment', async () => {
    const parameters = { id: ids.both, deployment_id: ids.both };
    for (const id of ['list-deployment-devices', 'list-deployment-devices-v1'] as const) {
      const deploymentDevices = (await ask(id, { parameters })).json<DeploymentDevice[]>();
      expect(deploymentDevices.map((deviceDeployment) => deviceDeployment.id)).toEqual([north.id]);
    }
    expect((await ask('list-deployment-device-ids', { parameters })).json()).toEqual([north.id]);
  });

  it.each<[OperationId, TestCall]>([
    ['update-deployment', { json: mapBody }],
    ['abort-deployment', { json: abortBody }],
  ])('gets 403 for changes to a deployment that also has other devices: %s', async (id, call) => {
    expect((await ask(id, { ...call, parameters: { id: ids.both } })).status).toBe(403);
    expect(await statusOf(server, ids.both, north)).toBe('pending');
  });

  it('gets statistics only if all requested deployments are visible', async () => {
    const statusFor = async (...deployment_ids: string[]): Promise<number> =>
      (await ask('list-deployment-statistics', { json: { deployment_ids } })).status;
    expect([
      await statusFor(ids.inside, ids.both),
      await statusFor(ids.inside, ids.outside),
    ]).toEqual([200, 403]);
  });

  it('can read only the logs of devices of the group', async () => {
    const statusFor = async (id: string, device_id: string): Promise<number> =>
      (await ask('get-deployment-log', { parameters: { id, device_id } })).status;
    expect([await statusFor(ids.inside, north.id), await statusFor(ids.outside, south.id)]).toEqual(
      [200, 403],
    );
  });

  it.each([
    'list-device-deployments',
    'reset-device-deployments',
    'abort-device-deployments',
  ] as const)('gets 403 for a device of another group: %s', async (id) => {
    expect((await ask(id, { parameters: { id: south.id } })).status).toBe(403);
    expect(await statusOf(server, ids.outside, south)).toBe('downloading');
  });

  it('can deploy only to devices of the group', async () => {
    const deployTo = (body: object): Promise<TestResponse> => {
      const json = { name: 'by the limited', artifact_name: 'release-1', ...body };
      return ask('create-deployment', { json });
    };
    const refused = [
      await deployTo({ devices: [south.id] }),
      await deployTo({ devices: [north.id, south.id] }),
      await deployTo({ all_devices: true }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect((await deployTo({ devices: [north.id] })).status).toBe(201);
  });

  it('can deploy to the group and to no other group', async () => {
    const deployTo = (name: string): Promise<TestResponse> => {
      const json = { name: 'group', artifact_name: 'release-1' };
      return ask('create-group-deployment', { parameters: { name }, json });
    };
    expect((await deployTo('south')).status).toBe(403);
    expect((await deployTo('north')).status).toBe(201);
  });

  it('can change and abort a deployment with devices of the group alone', async () => {
    const parameters = { id: ids.inside };
    expect((await ask('update-deployment', { parameters, json: mapBody })).status).toBe(204);
    expect((await ask('abort-deployment', { parameters, json: abortBody })).status).toBe(204);
    expect(await statusOf(server, ids.inside, north)).toBe('aborted');
  });
});

describe('a user with read permissions only', () => {
  it.each<[OperationId, TestCall]>([
    ['create-deployment', { json: { name: 'x', artifact_name: 'release-1', all_devices: true } }],
    ['create-group-deployment', { json: { name: 'x', artifact_name: 'release-1' } }],
    ['update-deployment', { json: mapBody }],
    ['abort-deployment', { json: abortBody }],
    ['abort-device-deployments', {}],
    ['reset-device-deployments', {}],
    ['upload-artifact', {}],
    ['generate-artifact', {}],
    ['update-artifact', { json: { description: 'x' } }],
    ['delete-artifact', {}],
    ['delete-releases', { query: { name: 'release-1' } }],
    ['update-release', { json: { notes: 'x' } }],
    ['put-release-tags', { json: ['x'] }],
  ])('gets 403 for %s', async (id, call) => {
    const observer = await userWithSets(server, `${id}@example.com`, [
      { name: 'ReadDevices' },
      { name: 'ReadReleases' },
    ]);
    const parameters = { id: ids.both, name: 'release-1' };
    const form = new FormData();
    form.append('artifact', new Blob(['x']), 'x');
    const body = ['upload-artifact', 'generate-artifact'].includes(id) ? { body: form } : {};
    const response = await server.call(id, { token: observer.token, parameters, ...call, ...body });
    expect([response.status, response.json().error]).toEqual([403, expect.any(String)]);
  });
});
