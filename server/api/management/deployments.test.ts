import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  Deployment,
  DeploymentDevice,
} from '../../../fixtures/contract/management/deployments.ts';
import { publish } from '../../testing/test-artifacts.ts';
import {
  abort,
  board,
  createDeployment,
  deploy,
  instructionsIn,
  nextRequests,
  report,
  statusOf,
} from '../../testing/test-deployments.ts';
import { acceptedDevice, authenticate, newDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let artifactId: string;
let deviceCount = 0;
const unknownId = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  server = await startTestServer();
  artifactId = await publish(server);
});

afterAll(() => server.close());

function someDevice() {
  deviceCount += 1;
  return acceptedDevice(server, `deployments-${deviceCount}`);
}

async function someDevices(count: number) {
  const devices = [];
  for (let index = 0; index < count; index += 1) devices.push(await someDevice());
  return devices;
}

function one(id: string): Promise<TestResponse> {
  return server.call('get-deployment', { token: server.adminToken, parameters: { id } });
}

describe('the creation of a deployment', () => {
  it('returns 201 with its Location, where it can be read', async () => {
    const [device] = await someDevices(1);
    const response = await createDeployment(server, [{ id: `${device?.id}` }], { name: 'größer' });
    const location = `${response.headers.get('location')}`;
    expect([response.status, response.text]).toEqual([201, '']);
    expect(location).toMatch(/^\/api\/management\/v1\/deployments\/deployments\/[0-9a-f-]{36}$/);
    const read = await server.request('GET', location, { token: server.adminToken });
    expect(read.json()).toEqual({
      id: location.split('/').at(-1),
      name: 'größer',
      artifact_name: 'release-1',
      type: 'software',
      status: 'pending',
      created: new Date(server.clock.now()).toISOString(),
      device_count: 1,
      force_installation: false,
      retries: 0,
      artifacts: [artifactId],
      statistics: { status: expect.objectContaining({ pending: 1, success: 0, aborted: 0 }) },
    });
  });

  it('counts a device once if it is listed twice', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device, device]);
    expect((await one(id)).json()).toMatchObject({ device_count: 1 });
  });

  it.each<[string, Record<string, unknown>]>([
    ['no name', { name: undefined }],
    ['an empty name', { name: '' }],
    ['a name that is too long', { name: 'x'.repeat(257) }],
    ['a name that is a number', { name: 7 }],
    ['no artifact_name', { artifact_name: undefined }],
    ['an empty artifact_name', { artifact_name: '' }],
    ['neither devices nor all_devices', { devices: undefined }],
    ['both devices and all_devices', { all_devices: true }],
    ['all_devices that is false, alone', { devices: undefined, all_devices: false }],
    ['all_devices that is a string', { devices: undefined, all_devices: 'true' }],
    ['no device in devices', { devices: [] }],
    ['a device that is unknown', { devices: [unknownId] }],
    ['a device that is not a UUID', { devices: ['device-1'] }],
    ['devices that are a string', { devices: unknownId }],
    ['force_installation that is a string', { force_installation: 'yes' }],
  ])('returns 400 for %s, and nothing is created', async (_, overrides) => {
    const device = await someDevice();
    const response = await createDeployment(server, [device], overrides);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^body: /),
    ]);
    expect((await nextRequests['POST v1'](server, device.token, board)).status).toBe(204);
  });

  it('returns 422 for an unknown artifact', async () => {
    const device = await someDevice();
    const response = await createDeployment(server, [device], { artifact_name: 'release-9' });
    expect([response.status, response.json().error]).toEqual([
      422,
      expect.stringContaining('release-9'),
    ]);
  });

  it('returns 409 while an identical deployment is unfinished, in any device order', async () => {
    const [a, b] = [await someDevice(), await someDevice()];
    const id = await deploy(server, [a, b]);
    const response = await createDeployment(server, [b, a]);
    expect([response.status, response.json().error]).toEqual([409, expect.stringContaining(id)]);
    await abort(server, id);
    expect((await createDeployment(server, [b, a])).status).toBe(201);
  });

  it.each([
    ['name', { name: 'autumn' }],
    ['devices', { devices: undefined }],
  ])('returns 201 if only the %s differ', async (field, overrides) => {
    const [a, b] = [await someDevice(), await someDevice()];
    await deploy(server, [a, b]);
    const devices = field === 'devices' ? [a] : [a, b];
    const body = field === 'devices' ? {} : overrides;
    expect((await createDeployment(server, devices, body)).status).toBe(201);
  });
});

describe('a deployment to all devices', () => {
  it('reaches every accepted device and no other', async () => {
    const own = await startTestServer();
    await publish(own);
    const nobody = await createDeployment(own, [], { devices: undefined, all_devices: true });
    expect(nobody.status).toBe(400);
    const devices = [await acceptedDevice(own, 'one'), await acceptedDevice(own, 'two')];
    await authenticate(own, newDevice('pending'));
    const id = await deploy(own, [], { devices: undefined, all_devices: true });
    for (const { token } of devices) {
      expect(instructionsIn(await nextRequests['GET v1'](own, token, board)).id).toBe(id);
    }
    const laterDevice = await acceptedDevice(own, 'later');
    expect((await nextRequests['GET v1'](own, laterDevice.token, board)).status).toBe(204);
    await own.close();
  });
});

describe('the abort of a deployment', () => {
  it('stops unfinished device deployments and keeps the others', async () => {
    const [done, busy, waiting] = [await someDevice(), await someDevice(), await someDevice()];
    const id = await deploy(server, [done, busy, waiting]);
    for (const { token } of [done, busy]) await nextRequests['POST v1'](server, token, board);
    await report(server, done, { id, status: 'success' });
    await report(server, busy, { id, status: 'rebooting' });
    expect((await abort(server, id)).status).toBe(204);
    const statuses = [];
    for (const device of [done, busy, waiting]) statuses.push(await statusOf(server, id, device));
    expect(statuses).toEqual(['success', 'aborted', 'aborted']);
    expect((await one(id)).json()).toMatchObject({
      status: 'finished',
      finished: new Date(server.clock.now()).toISOString(),
    });
  });

  it('returns 422 once the deployment is finished', async () => {
    const [a, b] = [await someDevice(), await someDevice()];
    const aborted = await deploy(server, [a]);
    await abort(server, aborted);
    const finished = await deploy(server, [b]);
    await nextRequests['POST v1'](server, b.token, board);
    await report(server, b, { id: finished, status: 'success' });
    for (const id of [aborted, finished]) {
      expect((await abort(server, id)).status).toBe(422);
    }
    expect(await statusOf(server, finished, b)).toBe('success');
  });

  it.each([
    { status: 'success' },
    { status: 'Aborted' },
    { status: null },
    {},
    [],
    'aborted',
    null,
  ])('returns 400 for %j, and the deployment continues', async (json) => {
    const device = await someDevice();
    const id = await deploy(server, [device]);
    const call = { token: server.adminToken, parameters: { id }, json };
    expect((await server.call('abort-deployment', call)).status).toBe(400);
    expect(await statusOf(server, id, device)).toBe('pending');
  });
});

describe('a finished deployment', () => {
  it('keeps its finish time until a device reports a status that is not final', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device]);
    await nextRequests['POST v1'](server, device.token, board);
    const finishedAfter = async (status: string) => {
      await report(server, device, { id, status });
      const { finished } = (await one(id)).json<Deployment>();
      server.clock.advance(1000);
      return finished;
    };
    const end = new Date(server.clock.now()).toISOString();
    expect(await finishedAfter('success')).toBe(end);
    expect(await finishedAfter('success')).toBe(end);
    expect(await finishedAfter('rebooting')).toBeUndefined();
    const laterTime = new Date(server.clock.now()).toISOString();
    expect(await finishedAfter('failure')).toBe(laterTime);
  });
});

describe('the abort of the deployments of one device', () => {
  it('stops all deployments on that device and on no other', async () => {
    const [one, other] = [await someDevice(), await someDevice()];
    const first = await deploy(server, [one, other]);
    const second = await deploy(server, [one], { name: 'second' });
    const call = { token: server.adminToken, parameters: { id: one.id } };
    expect((await server.call('abort-device-deployments', call)).status).toBe(204);
    expect(await statusOf(server, first, one)).toBe('aborted');
    expect(await statusOf(server, second, one)).toBe('aborted');
    expect(await statusOf(server, first, other)).toBe('pending');
    expect((await nextRequests['POST v1'](server, one.token, board)).status).toBe(204);
  });
});

describe('the list of deployments', () => {
  let own: TestServer;
  const ids: string[] = [];
  const list = (query: string): Promise<TestResponse> =>
    own.call('list-deployments', { token: own.adminToken, query: new URLSearchParams(query) });
  const found = (response: TestResponse) =>
    response.json<Deployment[]>().map(({ id }) => ids.indexOf(id));

  beforeAll(async () => {
    own = await startTestServer();
    await publish(own);
    const device = await acceptedDevice(own, 'listed');
    for (const name of ['a', 'b', 'c', 'd']) ids.push(await deploy(own, [device], { name }));
    await nextRequests['POST v1'](own, device.token, board);
    await report(own, device, { id: `${ids[0]}`, status: 'success' });
    await nextRequests['POST v1'](own, device.token, board);
    await report(own, device, { id: `${ids[1]}`, status: 'installing' });
  });

  afterAll(() => own.close());

  it.each([
    ['', [3, 2, 1, 0]],
    ['sort=asc', [0, 1, 2, 3]],
    ['status=finished', [0]],
    ['status=inprogress', [1]],
    ['status=pending', [3, 2]],
    ['name=b', [1]],
    ['name=b&name=d', [3, 1]],
    ['name=B', []],
    ['name=b&status=pending', []],
    [`id=${unknownId}`, []],
    ['page=2&per_page=3', [0]],
    ['page=9', []],
  ])('contains for the query %j the deployments %j', async (query, expected) => {
    expect(found(await list(query))).toEqual(expected);
  });

  it('can be filtered by IDs and has the count of all matches', async () => {
    const response = await list(`id=${ids[2]}&id=${ids[0]}&per_page=1`);
    expect([found(response), response.headers.get('x-total-count')]).toEqual([[2], '2']);
  });

  it.each(['status=aborted', 'status=', 'sort=up', 'page=0', 'per_page=501', 'sort=asc&sort=desc'])(
    'returns 400 for %s',
    async (query) => {
      expect((await list(query)).status).toBe(400);
    },
  );
});

describe('the device list of a deployment', () => {
  it('can be filtered by a status or a group of statuses', async () => {
    const devices = await someDevices(4);
    const id = await deploy(server, devices);
    const statuses = ['pause_before_installing', 'installing', 'success'];
    for (const [at, status] of statuses.entries()) {
      const device = devices[at];
      if (!device) throw new Error('there are fewer devices than statuses');
      await nextRequests['POST v1'](server, device.token, board);
      await report(server, device, { id, status });
    }
    const counts: Record<string, [number, string | null]> = {};
    for (const status of ['', 'pause', 'active', 'finished', 'success', 'pending', 'failure']) {
      const query = status === '' ? {} : { status };
      const call = { token: server.adminToken, parameters: { id }, query };
      const response = await server.call('list-deployment-devices', call);
      counts[status] = [
        response.json<DeploymentDevice[]>().length,
        response.headers.get('x-total-count'),
      ];
    }
    expect(counts).toEqual({
      '': [4, '4'],
      pause: [1, '1'],
      active: [3, '3'],
      finished: [1, '1'],
      success: [1, '1'],
      pending: [1, '1'],
      failure: [0, '0'],
    });
  });

  it.each(['status=done', 'status=', 'status=constructor', 'page=0', 'per_page=501'])(
    'returns 400 for %s',
    async (text) => {
      const id = await deploy(server, [await someDevice()]);
      const query = new URLSearchParams(text);
      const call = { token: server.adminToken, parameters: { id }, query };
      expect((await server.call('list-deployment-devices', call)).status).toBe(400);
    },
  );
});

const withId = [
  'get-deployment',
  'get-deployment-statistics',
  'list-deployment-devices',
  'get-deployment-log',
  'abort-deployment',
] as const;

describe.each([...withId, 'abort-device-deployments'] as const)('the operation %s', (operation) => {
  it.each([unknownId, 'no-uuid', 'ü'])('returns 400, 404 or 422 for the ID %s', async (id) => {
    const json = operation === 'abort-deployment' ? { status: 'aborted' } : undefined;
    const parameters = { id, device_id: unknownId };
    const response = await server.call(operation, { token: server.adminToken, parameters, json });
    const isOfDevice = ['abort-device-deployments', 'get-deployment-log'].includes(operation);
    const unknown = operation === 'abort-deployment' ? 422 : 404;
    expect([response.status, response.json()]).toEqual([
      id === unknownId || isOfDevice ? unknown : 400,
      { error: expect.any(String), request_id: expect.any(String) },
    ]);
  });

  it('returns 401 without a token and with a device token', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device]);
    const parameters = { id, device_id: device.id };
    for (const who of [{}, { token: device.token }]) {
      expect((await server.call(operation, { ...who, parameters })).status).toBe(401);
    }
    expect(await statusOf(server, id, device)).toBe('pending');
  });
});
