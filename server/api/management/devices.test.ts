import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import { deviceStatuses } from '../../../fixtures/contract/vocabulary.ts';
import { publish } from '../../testing/test-artifacts.ts';
import { deploy, statusOf } from '../../testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  decide,
  newDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestCall, type TestServer } from '../../testing/test-server.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

function userCall(call: TestCall = {}): TestCall {
  return { token: server.adminToken, ...call };
}

async function entriesOf(objectId: string): Promise<AuditLog[]> {
  const call = userCall({ query: { object_id: objectId, sort: 'asc' } });
  return (await server.call('list-audit-logs', call)).json<AuditLog[]>();
}

describe('the list of devices', () => {
  let list: TestServer;
  let accepted: AcceptedDevice;
  let rejected: AcceptedDevice;

  beforeAll(async () => {
    list = await startTestServer();
    accepted = await acceptedDevice(list, 'accepted');
    rejected = await acceptedDevice(list, 'rejected');
    await decide(list, rejected, 'rejected');
    for (const name of ['p1', 'p2', 'p3']) await authenticate(list, newDevice(name));
  });

  afterAll(() => list.close());

  async function namesIn(query: Record<string, string> | URLSearchParams): Promise<unknown[]> {
    const response = await list.call('list-devices', { token: list.adminToken, query });
    expect(response.status).toBe(200);
    return response.json<Device[]>().map(({ identity_data: data }) => data.mac);
  }

  it('is sorted by first contact', async () => {
    expect(await namesIn({})).toEqual(['accepted', 'rejected', 'p1', 'p2', 'p3']);
  });

  it('can be filtered by several statuses and IDs', async () => {
    expect(await namesIn({ status: 'pending' })).toEqual(['p1', 'p2', 'p3']);
    expect(await namesIn({ status: 'noauth' })).toEqual([]);
    expect(await namesIn({ id: rejected.id })).toEqual(['rejected']);
    expect(await namesIn({ id: 'unheard-of' })).toEqual([]);
    const both = new URLSearchParams([
      ['status', 'accepted'],
      ['status', 'rejected'],
    ]);
    expect(await namesIn(both)).toEqual(['accepted', 'rejected']);
    both.append('id', accepted.id);
    both.append('id', unknownId);
    expect(await namesIn(both)).toEqual(['accepted']);
  });

  it('comes in pages with links to the neighbouring pages', async () => {
    const page = async (number: string) => {
      const call = { token: list.adminToken, query: { page: number, per_page: '2' } };
      const response = await list.call('list-devices', call);
      const relations = [...(response.headers.get('link') ?? '').matchAll(/rel="(\w+)"/g)];
      return [response.json<Device[]>().length, relations.map(([, relation]) => relation)];
    };
    expect(await page('1')).toEqual([2, ['first', 'next']]);
    expect(await page('2')).toEqual([2, ['first', 'next', 'prev']]);
    expect(await page('3')).toEqual([1, ['first', 'prev']]);
    expect(await page('4')).toEqual([0, ['first', 'prev']]);
  });

  it.each([
    ['page', '0'],
    ['page', '-1'],
    ['page', 'x'],
    ['page', '1e3'],
    ['per_page', '0'],
    ['per_page', '501'],
    ['status', 'unheard-of'],
    ['status', ''],
  ])('returns 400 for %s=%s, with the parameter name in the error', async (name, value) => {
    const call = { token: list.adminToken, query: { [name]: value } };
    const response = await list.call('list-devices', call);
    expect(response.status).toBe(400);
    expect(response.json().error).toContain(`query: ${name}`);
  });

  it('has a count of all devices or of those with given statuses', async () => {
    const count = async (...statuses: readonly string[]): Promise<unknown> => {
      const query = new URLSearchParams(
        statuses.map((status): [string, string] => ['status', status]),
      );
      return (await list.call('count-devices', { token: list.adminToken, query })).json().count;
    };
    expect(await count()).toBe(5);
    const counts = await Promise.all(deviceStatuses.map((status) => count(status)));
    expect(counts).toEqual([3, 1, 1, 0, 0]);
    expect(await count('pending', 'rejected')).toBe(4);
  });

  it('returns 400 for a count of an unknown status', async () => {
    const call = { token: list.adminToken, query: { status: 'all' } };
    expect((await list.call('count-devices', call)).status).toBe(400);
  });
});

describe('the search for devices', () => {
  let search: TestServer;
  let accepted: AcceptedDevice;

  beforeAll(async () => {
    search = await startTestServer();
    accepted = await acceptedDevice(search, 'accepted');
    for (const name of ['p1', 'p2', 'p3']) await authenticate(search, newDevice(name));
  });

  afterAll(() => search.close());

  const send = (json: unknown, query: Record<string, string> = {}) =>
    search.call('search-devices', { token: search.adminToken, json, query });

  async function namesIn(json: unknown, query: Record<string, string> = {}): Promise<unknown[]> {
    const response = await send(json, query);
    expect(response.status).toBe(200);
    return response.json<Device[]>().map(({ identity_data: data }) => data.mac);
  }

  it('can be filtered by status, by ID and by both', async () => {
    expect(await namesIn({})).toEqual(['accepted', 'p1', 'p2', 'p3']);
    expect(await namesIn({ status: 'pending' })).toEqual(['p1', 'p2', 'p3']);
    expect(await namesIn({ status: ['accepted', 'rejected'] })).toEqual(['accepted']);
    expect(await namesIn({ id: accepted.id })).toEqual(['accepted']);
    expect(await namesIn({ id: [accepted.id, unknownId], status: 'pending' })).toEqual([]);
    expect(await namesIn({ unheard: 'of' })).toHaveLength(4);
  });

  it('comes in pages with links to the neighbouring pages', async () => {
    expect(await namesIn({ status: 'pending' }, { page: '2', per_page: '2' })).toEqual(['p3']);
    expect(await namesIn({}, { page: '9' })).toEqual([]);
    const { headers } = await send({}, { per_page: '2' });
    expect(headers.get('link')).toContain('rel="next"');
  });

  it.each([
    [{ status: 'all' }, 'body: status.0'],
    [{ status: ['pending', 7] }, 'body: status.1'],
    [{ status: null }, 'body: status'],
    [{ id: 7 }, 'body: id.0'],
    [{ id: { $ne: '' } }, 'body: id.0'],
    [{ id: Array.from({ length: 1001 }, () => 'x') }, 'body: id: must hold at most 1000'],
    [[], 'body: must be an object'],
    ['pending', 'body: must be an object'],
    [null, 'body: must be an object'],
  ])('returns 400 for the body %j', async (json, problem) => {
    const response = await send(json);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringContaining(problem),
    ]);
  });

  it.each([
    ['page', '0'],
    ['per_page', '501'],
  ])('returns 400 for the query %s=%s', async (name, value) => {
    const response = await send({}, { [name]: value });
    expect([response.status, response.json().error]).toEqual([400, expect.stringContaining(name)]);
  });
});

describe('a request for one device', () => {
  it('returns its identity, its authentication sets and its times', async () => {
    const device = await acceptedDevice(server, 'shown');
    const response = await server.call('get-device', userCall({ parameters: { id: device.id } }));
    expect(response.status).toBe(200);
    const nowText = new Date(server.clock.now()).toISOString();
    expect(response.json()).toEqual({
      id: device.id,
      identity_data: { mac: 'shown' },
      status: 'accepted',
      created_ts: nowText,
      updated_ts: nowText,
      decommissioning: false,
      auth_sets: [
        {
          id: device.authSetId,
          identity_data: { mac: 'shown' },
          pubkey: device.publicKeyPem,
          status: 'accepted',
          ts: nowText,
        },
      ],
    });
  });

  it.each([unknownId, 'x', '%', "' OR 1=1"])('returns 404 for the ID %s', async (id) => {
    const response = await server.call('get-device', userCall({ parameters: { id } }));
    expect([response.status, response.json().error]).toEqual([404, 'no device has this ID']);
  });
});

describe('decommissioning a device', () => {
  it('returns 404 for an unknown device and at the second call', async () => {
    const device = await acceptedDevice(server, 'gone');
    const remove = (id: string) =>
      server.call('decommission-device', userCall({ parameters: { id } }));
    expect((await remove(unknownId)).status).toBe(404);
    expect((await remove(device.id)).status).toBe(204);
    expect((await remove(device.id)).status).toBe(404);
  });

  it('deletes all data of the device and stops its deployments', async () => {
    const [device, other] = [
      await acceptedDevice(server, 'all'),
      await acceptedDevice(server, 'left'),
    ];
    const { id, token } = device;
    await publish(server);
    const deployment = await deploy(server, [device, other]);
    await server.call('put-configuration', { token, json: { a: '1' } });
    await server.call('put-attributes', { token, json: [{ name: 'a', value: 1 }] });
    await server.call('decommission-device', userCall({ parameters: { id } }));
    for (const operation of ['get-device', 'show-configuration', 'get-inventory'] as const) {
      expect((await server.call(operation, userCall({ parameters: { id } }))).status).toBe(404);
    }
    expect(await statusOf(server, deployment, device)).toBe('decommissioned');
    expect(await statusOf(server, deployment, other)).toBe('pending');
    expect((await entriesOf(id)).at(-1)).toMatchObject({
      action: 'decommission',
      object: { device: { identity_data: '{"mac":"all"}' } },
    });
  });

  it('leaves no data or token to a new device with the same identity', async () => {
    const device = await acceptedDevice(server, 'back');
    const json = { secret: 'of the former owner' };
    await server.call('put-configuration', { token: device.token, json });
    await server.call('decommission-device', userCall({ parameters: { id: device.id } }));
    const back = await acceptedDevice(server, 'back');
    expect(back.id).not.toBe(device.id);
    const response = await server.call('get-configuration', { token: back.token });
    expect(response.json()).toEqual({});
    expect((await server.call('get-configuration', { token: device.token })).status).toBe(401);
  });
});
