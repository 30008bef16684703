import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Device } from '../../fixtures/contract/management/devices.ts';
import { artifactBytes, publish, uploadArtifact } from '../testing/test-artifacts.ts';
import { entries } from '../testing/test-audit.ts';
import {
  abort,
  board,
  createDeployment,
  deploy,
  nextRequests,
  report,
} from '../testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  newDevice,
  pemOf,
} from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;
let user: object;

beforeEach(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'audited');
  const [accepted] = await entries(server);
  user = { id: accepted?.actor.id, type: 'user', email: server.adminEmail };
});

afterEach(() => server.close());

/** Returns the entries that `act` writes, oldest first. */
async function writtenBy(act: () => Promise<unknown>) {
  const countBefore = (await entries(server)).length;
  await act();
  return (await entries(server, { sort: 'asc' })).slice(countBefore);
}

/** Returns a call of the user about the audited device. */
function userCall(json?: unknown) {
  return { token: server.adminToken, parameters: { id: device.id, aid: device.authSetId }, json };
}

function deviceObject(id = device.id, identity = '{"mac":"audited"}') {
  return { id, type: 'device', device: { id, identity_data: identity } };
}

const nowText = () => new Date(server.clock.now()).toISOString();

describe("the audit log entry for a device's own action", () => {
  it('is create for first contact, by the device with its identity', async () => {
    server.clock.advance(1234);
    const [entry, ...more] = await writtenBy(() => authenticate(server, newDevice('newcomer')));
    expect(entry).toEqual({
      actor: { id: entry?.object.id, type: 'device', identity_data: '{"mac":"newcomer"}' },
      action: 'create',
      object: deviceObject(entry?.object.id, '{"mac":"newcomer"}'),
      change: expect.any(String),
      time: '2026-11-21T12:00:01.234Z',
    });
    expect(more).toEqual([]);
  });

  it('is update for a new key, by the device', async () => {
    const rotated = { ...newDevice('audited') };
    const written = await writtenBy(() => authenticate(server, rotated));
    expect(written).toEqual([
      {
        actor: { id: device.id, type: 'device', identity_data: '{"mac":"audited"}' },
        action: 'update',
        object: deviceObject(),
        change: expect.stringContaining('key'),
        time: nowText(),
      },
    ]);
  });

  it('is update for the first request of a preauthorized device', async () => {
    const known = newDevice('preauthorized');
    const json = { identity_data: { mac: 'preauthorized' }, pubkey: pemOf(known.privateKey) };
    await server.call('preauthorize-device', userCall(json));
    const written = await writtenBy(() => authenticate(server, known));
    expect(written).toMatchObject([{ actor: { type: 'device' }, action: 'update' }]);
  });

  it('is absent for the daily calls of devices', async () => {
    const id = await publish(server).then(() => deploy(server, [device]));
    const written = await writtenBy(async () => {
      await authenticate(server, device);
      await authenticate(server, newDevice('audited'), { signature: 'wrong' });
      await nextRequests['POST v1'](server, device.token, board);
      await report(server, device, { id, status: 'success' });
      await server.call('put-attributes', { token: device.token, json: [] });
      await server.call('put-configuration', { token: device.token, json: { a: 'b' } });
      await server.call('post-alerts', { token: device.token, json: [] });
    });
    expect(written).toEqual([]);
  });
});

describe("the audit log entry for a user's action on a device", () => {
  it.each([
    ['rejected', 'reject'],
    ['pending', 'update'],
  ])('names the change of a device to %s as %s', async (status, action) => {
    const written = await writtenBy(() => server.call('set-auth-set-status', userCall({ status })));
    const change = `status: accepted -> ${status}`;
    expect(written).toEqual([
      { actor: user, action, object: deviceObject(), change, time: nowText() },
    ]);
  });

  it('is update for accepting a device', async () => {
    const all = await entries(server);
    expect(all.filter(({ actor }) => actor.type === 'user')).toEqual([
      {
        actor: user,
        action: 'update',
        object: deviceObject(),
        change: 'status: pending -> accepted',
        time: nowText(),
      },
    ]);
  });

  it('is create for preauthorizing a device', async () => {
    const json = { identity_data: { b: 1, a: 2 }, pubkey: newDevice('x').publicKeyPem };
    const written = await writtenBy(() => server.call('preauthorize-device', userCall(json)));
    const id = written[0]?.object.id;
    expect(written).toMatchObject([
      { actor: user, action: 'create', object: deviceObject(id, '{"a":2,"b":1}') },
    ]);
    const read = { token: server.adminToken, parameters: { id: `${id}` } };
    expect((await server.call('get-device', read)).json<Device>().status).toBe('preauthorized');
  });

  it('is decommission for decommissioning a device', async () => {
    const written = await writtenBy(() => server.call('decommission-device', userCall()));
    expect(written).toEqual([
      { actor: user, action: 'decommission', object: deviceObject(), time: nowText() },
    ]);
  });

  it('is update for setting a configuration, with its pairs', async () => {
    const json = { timezone: 'UTC', empty: '' };
    const written = await writtenBy(() => server.call('set-configuration', userCall(json)));
    expect(written).toMatchObject([
      {
        actor: user,
        action: 'update',
        object: deviceObject(),
        change: 'configuration: {"timezone":"UTC"}',
      },
    ]);
  });

  it("is abort for aborting a device's deployments", async () => {
    const written = await writtenBy(() => server.call('abort-device-deployments', userCall()));
    expect(written).toMatchObject([{ actor: user, action: 'abort', object: deviceObject() }]);
  });
});

describe('the audit log entry for artifacts and deployments', () => {
  it('is create for an upload and delete for a deletion', async () => {
    let id = '';
    const written = await writtenBy(async () => {
      id = await publish(server);
      await server.call('delete-artifact', { token: server.adminToken, parameters: { id } });
    });
    const object = { id, type: 'artifact' };
    const commonFields = { actor: user, object, change: 'release-1', time: nowText() };
    expect(written).toEqual([
      { action: 'create', ...commonFields },
      { action: 'delete', ...commonFields },
    ]);
  });

  it('is create for a new deployment and abort for its abort', async () => {
    await publish(server);
    let id = '';
    const written = await writtenBy(async () => {
      id = await deploy(server, [device], { name: 'spring' });
      await abort(server, id);
    });
    const deployment = { name: 'spring', artifact_name: 'release-1' };
    const commonFields = {
      actor: user,
      object: { id, type: 'deployment', deployment },
      time: nowText(),
    };
    expect(written).toEqual([
      { action: 'create', ...commonFields },
      { action: 'abort', ...commonFields },
    ]);
  });

  it('is create of a deployment for deploying a configuration', async () => {
    let id = '';
    const written = await writtenBy(async () => {
      const response = await server.call('deploy-configuration', userCall({}));
      id = response.json<{ deployment_id: string }>().deployment_id;
    });
    const name = `configuration-${id}`;
    const object = { id, type: 'deployment', deployment: { name, artifact_name: name } };
    expect(written).toEqual([{ actor: user, action: 'create', object, time: nowText() }]);
  });
});

describe('the audit log', () => {
  const unknown = { id: '00000000-0000-4000-8000-000000000000', aid: 'unknown' };

  it.each<[string, number, () => Promise<{ status: number }>]>([
    [
      'the status that it has already',
      204,
      () => server.call('set-auth-set-status', userCall({ status: 'accepted' })),
    ],
    [
      'an invalid status',
      400,
      () => server.call('set-auth-set-status', userCall({ status: 'noauth' })),
    ],
    [
      'an unknown device',
      404,
      () => server.call('decommission-device', { ...userCall(), parameters: unknown }),
    ],
    [
      'a known identity',
      409,
      () =>
        server.call(
          'preauthorize-device',
          userCall({ identity_data: { mac: 'audited' }, pubkey: device.publicKeyPem }),
        ),
    ],
    ['an invalid configuration', 400, () => server.call('set-configuration', userCall({ a: 1 }))],
    [
      'the configuration of an unknown device',
      404,
      () => server.call('set-configuration', { ...userCall({}), parameters: unknown }),
    ],
    ['no artifact', 400, () => uploadArtifact(server, Buffer.from('x'))],
    [
      'an unknown artifact',
      404,
      () => server.call('delete-artifact', { ...userCall(), parameters: unknown }),
    ],
    ['a deployment of nothing', 422, () => createDeployment(server, [device])],
    ['a deployment to nobody', 400, () => createDeployment(server, [])],
    ['aborting an unknown deployment', 422, () => abort(server, unknown.id)],
    [
      'aborting the deployments of nobody',
      404,
      () => server.call('abort-device-deployments', { ...userCall(), parameters: unknown }),
    ],
    ['reading', 200, () => server.call('get-device', userCall())],
    [
      'the token of a device',
      401,
      () => server.call('decommission-device', { ...userCall(), token: device.token }),
    ],
  ])('ignores a call without effect: %s (%d)', async (_, status, act) => {
    let answered = 0;
    const written = await writtenBy(async () => {
      answered = (await act()).status;
    });
    expect([answered, written]).toEqual([status, []]);
  });

  it('ignores duplicates, the deletion of a used artifact, and a late abort', async () => {
    const id = await publish(server);
    const deployment = await deploy(server, [device]);
    const statuses: number[] = [];
    const written = await writtenBy(async () => {
      const bytes = await artifactBytes();
      statuses.push((await uploadArtifact(server, bytes)).status);
      statuses.push((await createDeployment(server, [device])).status);
      const call = { token: server.adminToken, parameters: { id } };
      statuses.push((await server.call('delete-artifact', call)).status);
    });
    await abort(server, deployment);
    const twice = await writtenBy(async () => {
      statuses.push((await abort(server, deployment)).status);
    });
    expect([statuses, written, twice]).toEqual([[409, 409, 409, 422], [], []]);
  });
});
