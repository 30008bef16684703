/** These tests cover what the operations on devices, inventory, configuration and alerts refuse. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import type { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { type AcceptedDevice, acceptedDevice, knownDevices } from '../../testing/test-device.ts';
import { namesIn, setGroup } from '../../testing/test-inventory.ts';
import { startTestServer, type TestCall, type TestServer } from '../../testing/test-server.ts';
import {
  groupScope,
  secondTenant,
  type TestTenant,
  type TestUser,
  userWithSets,
} from '../../testing/test-tenants.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

let server: TestServer;
let foreign: TestTenant;
let bluesUser: TestUser;
let redsUser: TestUser;
let device: AcceptedDevice;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
  foreign = await secondTenant(server);
  bluesUser = await userOf('blue');
  redsUser = await userOf('red');
});

afterAll(() => server.close());

function userOf(group: string): Promise<TestUser> {
  const names = ['ReadDevices', 'ManageDevices', 'ConfigureDevices'] as const;
  const sets = names.map((name) => ({ name, scope: groupScope(group) }));
  return userWithSets(server, `${group}@example.com`, sets);
}

beforeEach(async () => {
  deviceCount += 1;
  device = await acceptedDevice(server, `device-${deviceCount}`);
  await setGroup(server, device.id, 'blue');
});

type Id = keyof typeof managementOperations;

/** Each entry is an operation on one device, its status of success and, if needed, a valid body. */
const onOneDevice: readonly [id: Id, success: number, json?: unknown][] = [
  ['get-device', 200],
  ['decommission-device', 204],
  ['get-auth-set-status', 200],
  ['set-auth-set-status', 204, { status: 'rejected' }],
  ['delete-auth-set', 204],
  ['revoke-token', 204],
  ['get-inventory', 200],
  ['replace-tags', 200, []],
  ['add-tags', 200, []],
  ['get-device-group', 200],
  ['set-device-group', 204, { group: 'blue' }],
  ['clear-device-group', 204],
  ['list-alerts', 200],
  ['list-latest-alerts', 200],
  ['show-monitor-configuration', 200],
  ['show-configuration', 200],
  ['set-configuration', 204, {}],
  ['deploy-configuration', 200, {}],
];

const otherBodies: readonly [id: Id, json: unknown][] = [
  ['search-devices', {}],
  ['preauthorize-device', { identity_data: {}, pubkey: 'x' }],
  ['add-group-devices', [unknownId]],
  ['remove-group-devices', [unknownId]],
  ['search-inventory', {}],
  ['switch-alert-emails', { enabled: true }],
];

const withBody: readonly [Id, unknown][] = [
  ...onOneDevice.flatMap(([id, , json]): [Id, unknown][] =>
    json === undefined ? [] : [[id, json]],
  ),
  ...otherBodies,
];

function call(id: Id, callOptions: TestCall = {}) {
  const parameters = { id: device.id, aid: device.authSetId, jti: device.authSetId, name: 'blue' };
  return server.call(id, { token: server.adminToken, parameters, ...callOptions });
}

const everyOne = onOneDevice.map(([id, success, json]) => [id, success, json] as const);

describe.each(everyOne)('the operation %s', (id, success, json) => {
  const send = (callOptions: TestCall) =>
    call(id, { ...(json !== undefined && { json }), ...callOptions });

  it('returns 404 for an unknown device', async () => {
    for (const unknown of [unknownId, 'x', "' OR 1=1"]) {
      const parameters = { id: unknown, aid: device.authSetId, jti: unknown, name: 'blue' };
      expect((await send({ parameters })).status).toBe(404);
    }
  });

  it('returns 404 for the device of another tenant and does not change it', async () => {
    const [deviceBefore] = await knownDevices(server, { id: device.id });
    expect((await send({ token: foreign.token })).status).toBe(404);
    expect((await knownDevices(server, { id: device.id }))[0]).toEqual(deviceBefore);
  });

  it('returns 403 to a user of another group, not to one of the same group', async () => {
    const refused = await send({ token: redsUser.token });
    expect([refused.status, refused.json().error]).toEqual([
      403,
      expect.stringContaining('not in the groups of'),
    ]);
    expect((await send({ token: bluesUser.token })).status).toBe(success);
  });
});

describe.each(withBody)('the body of %s', (id, json) => {
  const headers = { 'Content-Type': 'application/json' };

  it('returns 400 if it is empty or not JSON', async () => {
    for (const body of ['', '{', '{"a":', 'status=accepted', '\u0000']) {
      const response = await call(id, { headers, body });
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringMatching(/^body: /),
      ]);
    }
  });

  it.each([[['x', null]], 'text', 7, null, true])('returns 400 if it is %j', async (given) => {
    expect((await call(id, { json: given })).status).toBe(400);
  });

  it('returns 415 with another media type than JSON', async () => {
    const body = JSON.stringify(json);
    const response = await call(id, { headers: { 'Content-Type': 'text/plain' }, body });
    expect(response.status).toBe(415);
  });

  it('returns 413 beyond 1 MiB', async () => {
    const body = JSON.stringify(json).padEnd(1_048_577, ' ');
    expect((await call(id, { headers, body })).status).toBe(413);
  });
});

describe('a user who is limited to one group', () => {
  let blue: TestServer;
  let user: TestUser;

  beforeAll(async () => {
    blue = await startTestServer();
    for (const name of ['in blue', 'in red', 'in none']) await acceptedDevice(blue, name);
    const known = await knownDevices(blue);
    const idOf = (name: string) => known.find(({ identity_data: data }) => data.mac === name)?.id;
    await setGroup(blue, idOf('in blue') ?? '', 'blue');
    await setGroup(blue, idOf('in red') ?? '', 'red');
    const sets = [{ name: 'ManageDevices', scope: groupScope('blue') } as const];
    const reads = [{ name: 'ReadDevices', scope: groupScope('blue') } as const];
    user = await userWithSets(blue, 'blue@example.com', [...sets, ...reads]);
  });

  afterAll(() => blue.close());

  const ask = (id: Id, callOptions: TestCall = {}) =>
    blue.call(id, { token: user.token, ...callOptions });

  it('sees only the devices of the group in every list and count', async () => {
    const devices = [await ask('list-devices'), await ask('search-devices', { json: {} })];
    for (const response of devices) {
      const names = response.json<Device[]>().map(({ identity_data: data }) => data.mac);
      expect(names).toEqual(['in blue']);
    }
    expect((await ask('count-devices')).json()).toEqual({ count: 1 });
    expect(namesIn(await ask('list-inventory'))).toEqual(['in blue']);
    expect(namesIn(await ask('list-inventory', { query: { group: 'red' } }))).toEqual([]);
    expect(namesIn(await ask('list-inventory', { query: { has_group: 'false' } }))).toEqual([]);
    const sort = [{ scope: 'identity', attribute: 'mac', order: 'asc' }];
    expect(namesIn(await ask('search-inventory', { json: { sort } }))).toEqual(['in blue']);
    const counts = (await ask('list-filterable-attributes')).json<{ count: number }[]>();
    expect(counts.every(({ count }) => count === 1)).toBe(true);
  });

  it('sees only that group in the list of groups', async () => {
    expect((await ask('list-groups')).json()).toEqual(['blue']);
    const listGroupDevices = (name: string) => ask('list-group-devices', { parameters: { name } });
    expect((await listGroupDevices('blue')).json()).toHaveLength(1);
    expect([
      (await listGroupDevices('red')).status,
      (await listGroupDevices('none')).status,
    ]).toEqual([403, 403]);
  });

  it('cannot move devices into or out of the group', async () => {
    const ids = (await knownDevices(blue)).map(({ id }) => id);
    const own = (await ask('list-devices')).json<Device[]>()[0]?.id ?? '';
    const add = (name: string) => ask('add-group-devices', { parameters: { name }, json: ids });
    expect((await add('blue')).json()).toEqual({ updated_count: 0, matched_count: 1 });
    expect((await add('red')).status).toBe(403);
    const remove = { parameters: { name: 'red' }, json: ids };
    expect((await ask('remove-group-devices', remove)).status).toBe(403);
    const move = { parameters: { id: own }, json: { group: 'red' } };
    expect((await ask('set-device-group', move)).status).toBe(403);
    expect((await ask('get-device-group', { parameters: { id: own } })).json().group).toBe('blue');
  });
});
