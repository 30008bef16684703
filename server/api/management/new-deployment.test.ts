import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deployment } from '../../../fixtures/contract/management/deployments.ts';
import { publish } from '../../testing/test-artifacts.ts';
import { entries } from '../../testing/test-audit.ts';
import {
  board,
  createDeployment,
  deploy,
  instructionsIn,
  nextRequests,
  report,
  statusOf,
} from '../../testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  decide,
  knownDevices,
  newDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server);
});

afterAll(() => server.close());

async function someDevices(count: number): Promise<AcceptedDevice[]> {
  const devices = [];
  for (let index = 0; index < count; index += 1) {
    deviceCount += 1;
    devices.push(await acceptedDevice(server, `new-deployment-${deviceCount}`));
  }
  return devices;
}

async function putInto(group: string, devices: readonly { id: string }[]): Promise<void> {
  for (const { id } of devices) {
    const call = { token: server.adminToken, parameters: { id }, json: { group } };
    expect((await server.call('set-device-group', call)).status).toBe(204);
  }
}

function deployTo(group: string, overrides: Record<string, unknown> = {}): Promise<TestResponse> {
  const json = { name: 'to a group', artifact_name: 'release-1', ...overrides };
  const call = { token: server.adminToken, parameters: { name: group }, json };
  return server.call('create-group-deployment', call);
}

function next({ token }: AcceptedDevice): Promise<TestResponse> {
  return nextRequests['POST v2'](server, token, board);
}

async function readDeployment(id: string): Promise<Deployment> {
  const call = { token: server.adminToken, parameters: { id } };
  return (await server.call('get-deployment', call)).json();
}

function idIn(response: TestResponse): string {
  expect([response.status, response.text]).toEqual([201, '']);
  const location = `${response.headers.get('location')}`;
  expect(location).toMatch(/^\/api\/management\/v1\/deployments\/deployments\/[0-9a-f-]{36}$/);
  return location.split('/').at(-1) ?? '';
}

describe('a deployment to a group', () => {
  it('reaches the accepted devices of the group and no other', async () => {
    const [inside, rejected, outside] = await someDevices(3);
    if (!inside || !rejected || !outside) throw new Error('there are fewer devices');
    await putInto('north', [inside, rejected]);
    await putInto('south', [outside]);
    await decide(server, rejected, 'rejected');
    const id = idIn(await deployTo('north', { retries: 1 }));
    expect(await readDeployment(id)).toMatchObject({
      name: 'to a group',
      device_count: 1,
      groups: ['north'],
      retries: 1,
    });
    expect(instructionsIn(await next(inside)).id).toBe(id);
    expect((await next(outside)).status).toBe(204);
    const [entry] = await entries(server, { object_id: id });
    expect(entry).toMatchObject({ action: 'create', object: { type: 'deployment' } });
  });

  it('does not reach a device that joins the group later', async () => {
    const [first, laterDevice] = await someDevices(2);
    if (!first || !laterDevice) throw new Error('there are fewer devices');
    await putInto('west', [first]);
    await deployTo('west');
    await putInto('west', [laterDevice]);
    expect((await next(laterDevice)).status).toBe(204);
  });

  it.each(['nobody-is-here', 'ü/%'])('returns 400 if the group %s has no device', async (group) => {
    const response = await deployTo(group);
    expect([response.status, response.json().error]).toEqual([400, expect.stringContaining(group)]);
  });

  it('returns 400 if no device of the group is accepted', async () => {
    await authenticate(server, newDevice('pending-only'));
    const known = await knownDevices(server, { status: 'pending' });
    await putInto(
      'pending-ones',
      known.filter(({ identity_data }) => identity_data.mac === 'pending-only'),
    );
    expect((await deployTo('pending-ones')).status).toBe(400);
  });

  it('returns 422 for an unknown artifact', async () => {
    await putInto('coast', await someDevices(1));
    expect((await deployTo('coast', { artifact_name: 'release-9' })).status).toBe(422);
  });

  it('returns 409 while an identical one is unfinished', async () => {
    await putInto('east', await someDevices(1));
    const id = idIn(await deployTo('east'));
    const response = await deployTo('east');
    expect([response.status, response.json().error]).toEqual([409, expect.stringContaining(id)]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['no name', { name: undefined }],
    ['a name that is too long', { name: 'x'.repeat(257) }],
    ['no artifact_name', { artifact_name: undefined }],
    ['force_installation that is a string', { force_installation: 'yes' }],
    ['retries that are a string', { retries: '1' }],
  ])('returns 400 for %s', async (_, overrides) => {
    const response = await deployTo('north', overrides);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^body: /),
    ]);
  });
});

describe('a deployment to a single device', () => {
  it('shows the group of the device, unlike a deployment to two devices', async () => {
    const devices = await someDevices(1);
    await putInto('alone', devices);
    expect(await readDeployment(await deploy(server, devices))).toMatchObject({
      groups: ['alone'],
    });
    const otherDevices = await someDevices(2);
    await putInto('alone', otherDevices);
    expect(await readDeployment(await deploy(server, otherDevices))).not.toHaveProperty('groups');
  });
});

describe('a new deployment with an invalid setting', () => {
  it.each<[string, Record<string, unknown>]>([
    ['retries below 0', { retries: -1 }],
    ['retries above 100', { retries: 101 }],
    ['half a retry', { retries: 0.5 }],
    ['max_devices of 0', { max_devices: 0 }],
    ['max_devices that are a string', { max_devices: '1' }],
    ['max_devices beyond all bounds', { max_devices: 100_001 }],
    ['autogenerate_delta that is a string', { autogenerate_delta: 'yes' }],
    ['no phases in phases', { phases: [] }],
    ['a list for a phase', { phases: [[]] }],
    ['21 phases', { phases: Array.from({ length: 21 }, () => ({ batch_size: 1 })) }],
    ['a batch_size of 0', { phases: [{ batch_size: 0 }] }],
    ['a batch_size of 101', { phases: [{ batch_size: 101 }] }],
    ['a start_ts that is not a time', { phases: [{ batch_size: 100, start_ts: 'soon' }] }],
    ['phases that do not add up', { phases: [{ batch_size: 50 }] }],
    ['a phase of no device', { phases: [{ batch_size: 1 }, { start_ts: '2026-12-01T00:00:00Z' }] }],
  ])('returns 400 for %s, and nothing is created', async (_, overrides) => {
    const devices = await someDevices(1);
    const response = await createDeployment(server, devices, overrides);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^body: /),
    ]);
    for (const device of devices) expect((await next(device)).status).toBe(204);
  });
});

describe('a deployment with max_devices', () => {
  it('is offered to the first devices that poll, and is finished when those devices have finished', async () => {
    const [a, b, c] = await someDevices(3);
    if (!a || !b || !c) throw new Error('there are fewer devices');
    const id = await deploy(server, [a, b, c], { max_devices: 2 });
    expect((await readDeployment(id)).max_devices).toBe(2);
    instructionsIn(await next(c));
    instructionsIn(await next(a));
    expect((await next(b)).status).toBe(204);
    await report(server, a, { id, status: 'success' });
    expect(await readDeployment(id)).toMatchObject({ status: 'inprogress' });
    expect((await next(b)).status).toBe(204);
    await report(server, c, { id, status: 'failure' });
    expect(await readDeployment(id)).toMatchObject({ status: 'finished' });
    expect((await next(b)).status).toBe(204);
    expect(await statusOf(server, id, b)).toBe('pending');
  });
});

describe('a deployment with phases', () => {
  const start = '2026-11-21T13:00:00.000Z';

  it('starts its devices phase by phase and shows the count per phase', async () => {
    const own = await startTestServer();
    await publish(own);
    const devices: AcceptedDevice[] = [];
    for (const name of ['a', 'b', 'c', 'd']) devices.push(await acceptedDevice(own, name));
    const id = await deploy(own, devices, {
      phases: [
        { batch_size: 25 },
        { batch_size: 50, start_ts: start },
        { start_ts: '2027-01-01T00:00:00+01:00' },
      ],
    });
    const countOffered = async (): Promise<number> => {
      let offered = 0;
      for (const { token } of devices) {
        if ((await nextRequests['POST v2'](own, token, board)).status === 200) offered += 1;
      }
      return offered;
    };
    const begun = [await countOffered(), await countOffered()];
    own.clock.advance(3_599_999);
    begun.push(await countOffered());
    own.clock.advance(1);
    begun.push(await countOffered());
    const call = { token: own.adminToken, parameters: { id } };
    const { phases } = (await own.call('get-deployment', call)).json<Deployment>();
    own.clock.advance(Date.parse('2027-01-01T00:00:00Z') - own.clock.now());
    const renewed = [];
    for (const device of devices) renewed.push((await authenticate(own, device)).text);
    const last = await Promise.all(
      renewed.map((token) => nextRequests['POST v2'](own, token, board)),
    );
    await own.close();
    expect(begun).toEqual([1, 1, 1, 3]);
    expect(phases).toEqual([
      { id: `${id}-1`, batch_size: 25, start_ts: '2026-11-21T12:00:00.000Z', device_count: 1 },
      { id: `${id}-2`, batch_size: 50, start_ts: start, device_count: 2 },
      { id: `${id}-3`, batch_size: 25, start_ts: '2026-12-31T23:00:00.000Z', device_count: 0 },
    ]);
    expect(last.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});
