import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  decide,
  knownDevices,
  newDevice,
} from '../../testing/test-device.ts';
import {
  startTestServer,
  type TestCall,
  type TestResponse,
  type TestServer,
} from '../../testing/test-server.ts';

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

async function lastActOn(objectId: string): Promise<unknown> {
  const { action, change } = (await entriesOf(objectId)).at(-1) ?? {};
  return [action, change];
}

/** Returns the status of a call with the token. */
async function statusWith(token: string): Promise<number> {
  return (await server.call('get-configuration', { token })).status;
}

type Set = Pick<AcceptedDevice, 'id' | 'authSetId'>;

function callOnSet(
  operation: 'get-auth-set-status' | 'delete-auth-set',
  { id, authSetId: aid }: Set,
): Promise<TestResponse> {
  return server.call(operation, userCall({ parameters: { id, aid } }));
}

/** Returns a device with a second key that waits to be accepted. */
async function withSecondKey(name: string) {
  const first = await acceptedDevice(server, name);
  const withOtherKey = newDevice(name);
  await authenticate(server, withOtherKey);
  const [known] = await knownDevices(server, { id: first.id });
  const set = known?.auth_sets.find(({ pubkey }) => pubkey === withOtherKey.publicKeyPem);
  return { first, second: { ...withOtherKey, id: first.id, authSetId: set?.id ?? '' } };
}

/** Returns a device that a user preauthorized before its first request. */
async function preauthorized(name: string) {
  const device = newDevice(name);
  const json = { identity_data: JSON.parse(device.idData), pubkey: device.publicKeyPem };
  const response = await server.call('preauthorize-device', userCall({ json }));
  const id = response.headers.get('location')?.split('/').at(-1) ?? '';
  const [known] = await knownDevices(server, { id });
  return { ...device, id, authSetId: known?.auth_sets[0]?.id ?? '' };
}

describe('the status of an authentication set', () => {
  async function settle(device: AcceptedDevice, status: unknown, json: unknown = { status }) {
    const parameters = { id: device.id, aid: device.authSetId };
    return server.call('set-auth-set-status', userCall({ parameters, json }));
  }

  it.each(['preauthorized', 'noauth', 'ACCEPTED', '', null, 7, ['accepted']])(
    'returns 400 if set to %j',
    async (status) => {
      const device = await acceptedDevice(server, `status ${JSON.stringify(status)}`);
      const response = await settle(device, status);
      expect(response.status).toBe(400);
      expect(response.json().error).toContain('body: status: must be');
      const [known] = await knownDevices(server, { id: device.id });
      expect(known?.status).toBe('accepted');
    },
  );

  it.each([{}, [], null, 'accepted'])('returns 400 for the body %j', async (json) => {
    const device = await acceptedDevice(server, `body ${JSON.stringify(json)}`);
    expect((await settle(device, '', json)).status).toBe(400);
  });

  it('returns 204 without another audit entry if set to the same value again', async () => {
    const device = await acceptedDevice(server, 'twice');
    expect((await settle(device, 'rejected')).status).toBe(204);
    expect((await settle(device, 'rejected')).status).toBe(204);
    const acts = (await entriesOf(device.id)).map(({ action, actor }) => [action, actor.type]);
    expect(acts).toEqual([
      ['create', 'device'],
      ['update', 'user'],
      ['reject', 'user'],
    ]);
  });

  it('is logged with the user and the identity when it changes', async () => {
    const device = await acceptedDevice(server, 'audit');
    await settle(device, 'rejected');
    expect((await entriesOf(device.id)).at(-1)).toMatchObject({
      action: 'reject',
      actor: { type: 'user', email: server.adminEmail },
      object: { id: device.id, type: 'device', device: { identity_data: '{"mac":"audit"}' } },
      change: 'status: accepted -> rejected',
    });
  });

  it('returns 404 for unknown IDs', async () => {
    const device = await acceptedDevice(server, 'of unknown IDs');
    expect((await settle({ ...device, id: unknownId }, 'rejected')).status).toBe(404);
    expect((await settle({ ...device, authSetId: unknownId }, 'rejected')).status).toBe(404);
  });

  it('returns 400 for the set of another device', async () => {
    const one = await acceptedDevice(server, 'one');
    const other = await acceptedDevice(server, 'other');
    const mixed = await settle({ ...one, authSetId: other.authSetId }, 'rejected');
    expect([mixed.status, mixed.json().error]).toEqual([
      400,
      expect.stringContaining('belongs to another device'),
    ]);
    const known = await knownDevices(server, { id: other.id });
    expect(known[0]?.status).toBe('accepted');
  });

  it.each(['accepted', 'rejected', 'pending'])(
    'cannot be set to %s by a user if the set is preauthorized',
    async (status) => {
      const device = newDevice(`preauthorized ${status}`);
      const json = { identity_data: JSON.parse(device.idData), pubkey: device.publicKeyPem };
      await server.call('preauthorize-device', userCall({ json }));
      const known = await knownDevices(server, { status: 'preauthorized' });
      const { id = '', auth_sets: sets = [] } =
        known.find(({ identity_data: data }) => data.mac === `preauthorized ${status}`) ?? {};
      const response = await decide(server, { id, authSetId: sets[0]?.id ?? '' }, status);
      expect([response.status, response.json().error]).toEqual([
        400,
        `body: status: a preauthorized set cannot become ${status}`,
      ]);
    },
  );
});

describe('a request for one authentication set', () => {
  it('returns 200 with its status', async () => {
    const { first, second } = await withSecondKey('read');
    expect((await callOnSet('get-auth-set-status', first)).json()).toEqual({ status: 'accepted' });
    expect((await callOnSet('get-auth-set-status', second)).json()).toEqual({ status: 'pending' });
    const early = await preauthorized('read early');
    const response = await callOnSet('get-auth-set-status', early);
    expect([response.status, response.json()]).toEqual([200, { status: 'preauthorized' }]);
  });

  it.each(['get-auth-set-status', 'delete-auth-set'] as const)(
    'returns 404 by %s for unknown IDs and sets of other devices',
    async (operation) => {
      const one = await acceptedDevice(server, `one of ${operation}`);
      const other = await acceptedDevice(server, `other of ${operation}`);
      for (const set of [
        { ...one, id: unknownId },
        { ...one, authSetId: unknownId },
        { ...one, authSetId: other.authSetId },
      ]) {
        expect((await callOnSet(operation, set)).status).toBe(404);
      }
      expect([await statusWith(one.token), await statusWith(other.token)]).toEqual([200, 200]);
    },
  );
});

describe('the deletion of an authentication set', () => {
  it('ends its tokens; a device without sets has the status noauth', async () => {
    const device = await acceptedDevice(server, 'deleted');
    expect((await callOnSet('delete-auth-set', device)).status).toBe(204);
    expect(await statusWith(device.token)).toBe(401);
    const [known] = await knownDevices(server, { id: device.id });
    expect([known?.status, known?.auth_sets]).toEqual(['noauth', []]);
    expect(await lastActOn(device.id)).toEqual([
      'delete',
      `accepted authentication set ${device.authSetId}`,
    ]);
    expect((await callOnSet('delete-auth-set', device)).status).toBe(404);
  });

  it('makes the device pending again when it returns with the same key', async () => {
    const device = await acceptedDevice(server, 'returning');
    await callOnSet('delete-auth-set', device);
    expect((await authenticate(server, device)).status).toBe(401);
    const [known] = await knownDevices(server, { id: device.id });
    expect([known?.status, known?.auth_sets.length]).toEqual(['pending', 1]);
    expect(known?.auth_sets[0]?.id).not.toBe(device.authSetId);
  });

  it('keeps the other sets and the device status that results from them', async () => {
    const { first, second } = await withSecondKey('two');
    await callOnSet('delete-auth-set', second);
    expect(await statusWith(first.token)).toBe(200);
    const otherDevice = await withSecondKey('two more');
    await callOnSet('delete-auth-set', otherDevice.first);
    const [known] = await knownDevices(server, { id: otherDevice.first.id });
    expect(known).toMatchObject({
      status: 'pending',
      auth_sets: [{ id: otherDevice.second.authSetId }],
    });
  });

  it('deletes a device whose only set is preauthorized', async () => {
    const device = await preauthorized('never came');
    expect((await callOnSet('delete-auth-set', device)).status).toBe(204);
    const parameters = { id: device.id };
    expect((await server.call('get-device', userCall({ parameters }))).status).toBe(404);
    expect(await lastActOn(device.id)).toEqual([
      'delete',
      `preauthorized authentication set ${device.authSetId}`,
    ]);
  });

  it('keeps a device that has another set beside the preauthorized one', async () => {
    const device = await acceptedDevice(server, 'both');
    const withOtherKey = newDevice('both');
    const json = { identity_data: { mac: 'both' }, pubkey: withOtherKey.publicKeyPem, force: true };
    await server.call('preauthorize-device', userCall({ json }));
    const [known] = await knownDevices(server, { id: device.id });
    const set = known?.auth_sets.find(({ status }) => status === 'preauthorized');
    await callOnSet('delete-auth-set', { id: device.id, authSetId: set?.id ?? '' });
    expect(await statusWith(device.token)).toBe(200);
  });
});

describe('the revocation of a device token', () => {
  const revoke = (jti: string) => server.call('revoke-token', userCall({ parameters: { jti } }));

  it('ends the token while the set stays accepted and can get a new one', async () => {
    const device = await acceptedDevice(server, 'revoked');
    expect((await revoke(device.authSetId)).status).toBe(204);
    expect(await statusWith(device.token)).toBe(401);
    expect((await callOnSet('get-auth-set-status', device)).json().status).toBe('accepted');
    const { status, text: token } = await authenticate(server, device);
    expect([status, await statusWith(token), await statusWith(device.token)]).toEqual([
      200, 200, 401,
    ]);
    expect(await lastActOn(device.id)).toEqual([
      'update',
      `revoked the tokens of authentication set ${device.authSetId}`,
    ]);
  });

  it('ends all tokens of the set, also when it is repeated', async () => {
    const device = await acceptedDevice(server, 'often');
    const tokens = [device.token];
    for (let times = 0; times < 3; times += 1) {
      tokens.push((await authenticate(server, device)).text);
      await revoke(device.authSetId);
      for (const token of tokens) expect(await statusWith(token)).toBe(401);
    }
    expect(await statusWith((await authenticate(server, device)).text)).toBe(200);
  });

  it('is permanent, even if the set is rejected and accepted later', async () => {
    const device = await acceptedDevice(server, 'lasting');
    await revoke(device.authSetId);
    server.clock.advance(60_000);
    expect(await statusWith(device.token)).toBe(401);
    const { text: token } = await authenticate(server, device);
    await decide(server, device, 'rejected');
    await decide(server, device, 'accepted');
    expect([await statusWith(device.token), await statusWith(token)]).toEqual([401, 401]);
    expect(await statusWith((await authenticate(server, device)).text)).toBe(200);
  });

  it('does not affect the tokens of other devices', async () => {
    const [one, other] = [
      await acceptedDevice(server, 'this one'),
      await acceptedDevice(server, 'that one'),
    ];
    await revoke(one.authSetId);
    expect(await statusWith(other.token)).toBe(200);
  });

  it('returns 404 for an unknown ID, a device ID and a pending set', async () => {
    const { first, second } = await withSecondKey('no token');
    for (const jti of [unknownId, 'x', first.id, second.authSetId]) {
      expect((await revoke(jti)).status).toBe(404);
    }
    expect(await statusWith(first.token)).toBe(200);
  });

  it('returns 404 for the token of a user', async () => {
    const payload = server.adminToken.split('.')[1] ?? '';
    const { jti } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { jti: string };
    expect((await revoke(jti)).status).toBe(404);
    expect((await server.call('count-devices', userCall())).status).toBe(200);
  });
});

describe('the rotation of a device key', () => {
  it('ends the old key and its token when the new key is accepted', async () => {
    const { first, second } = await withSecondKey('rotated');
    expect((await authenticate(server, second)).status).toBe(401);
    expect((await decide(server, second, 'accepted')).status).toBe(204);
    expect(await statusWith(first.token)).toBe(401);
    expect((await authenticate(server, first)).status).toBe(401);
    expect(await statusWith((await authenticate(server, second)).text)).toBe(200);
    const [known] = await knownDevices(server, { id: first.id });
    expect(statusesIn(known)).toEqual({
      [first.publicKeyPem]: 'rejected',
      [second.publicKeyPem]: 'accepted',
    });
  });

  it('can be reversed, but earlier tokens remain invalid', async () => {
    const { first, second } = await withSecondKey('back and forth');
    await decide(server, second, 'accepted');
    const { text: token } = await authenticate(server, second);
    await decide(server, first, 'accepted');
    expect([await statusWith(first.token), await statusWith(token)]).toEqual([401, 401]);
    expect(await statusWith((await authenticate(server, first)).text)).toBe(200);
  });
});

function statusesIn(device: Device | undefined): Record<string, string> {
  const sets = device?.auth_sets ?? [];
  return Object.fromEntries(sets.map(({ pubkey, status }) => [pubkey, status]));
}
