import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '../../testing/test-artifacts.ts';
import { entries } from '../../testing/test-audit.ts';
import { abort, board, deploy, nextRequests, report } from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { explanationOf } from '../../testing/test-explanations.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server);
});

afterAll(() => server.close());

const pausing = { priority: 1, states: { ArtifactInstall_Enter: { action: 'pause' } } };
const goingOn = { priority: 2, states: { ArtifactInstall_Enter: { action: 'continue' } } };

/** Returns a device that pauses in a deployment, which has no map if `map` is null. */
async function pausedDevice(map: object | null = pausing) {
  deviceCount += 1;
  const device = await acceptedDevice(server, `paused-${deviceCount}`);
  const id = await deploy(server, [device], map ? { update_control_map: map } : {});
  await nextRequests['POST v2'](server, device.token, board);
  await report(server, device, { id, status: 'pause_before_installing' });
  return { device, id };
}

function change(id: string, json: unknown): Promise<TestResponse> {
  const call = { token: server.adminToken, parameters: { id }, json };
  return server.call('update-deployment', call);
}

async function mapOf({ token }: AcceptedDevice, id: string): Promise<unknown> {
  return (await server.call('get-update-control-map', { token, parameters: { id } })).json();
}

describe('a control map that is changed while a device pauses', () => {
  it('is served at the next poll under the deployment ID', async () => {
    const { device, id } = await pausedDevice();
    expect(await mapOf(device, id)).toEqual({ update_control_map: { id, ...pausing } });
    const response = await change(id, { update_control_map: goingOn });
    expect([response.status, response.text]).toEqual([204, '']);
    expect(await mapOf(device, id)).toEqual({ update_control_map: { id, ...goingOn } });
    const call = { token: server.adminToken, parameters: { id } };
    expect((await server.call('get-deployment', call)).json()).toMatchObject({
      update_control_map: { id, ...goingOn },
    });
  });

  it('replaces the earlier map completely', async () => {
    const { device, id } = await pausedDevice();
    await change(id, { update_control_map: {} });
    expect(await mapOf(device, id)).toEqual({ update_control_map: { id } });
  });

  it('is in the instructions for devices that poll later', async () => {
    const { id } = await pausedDevice();
    const laterDevice = await acceptedDevice(server, `later-${id}`);
    const second = await deploy(server, [laterDevice], { update_control_map: pausing });
    await change(second, { update_control_map: goingOn });
    const json = { device_provides: board, update_control_map: true };
    const response = await server.call('post-next-deployment-v2', {
      token: laterDevice.token,
      json,
    });
    expect(response.json()).toMatchObject({ artifact: { update_control_map: goingOn } });
  });

  it('is logged in the audit log', async () => {
    const { id } = await pausedDevice();
    await change(id, { update_control_map: goingOn });
    const [entry] = await entries(server, { object_id: id });
    expect(entry).toMatchObject({
      action: 'update',
      object: { id, type: 'deployment', deployment: { name: 'spring' } },
      change: expect.stringContaining('"priority":2'),
    });
  });
});

describe('a change of an update control map', () => {
  it('returns 409 if the deployment was created without a map', async () => {
    const { device, id } = await pausedDevice(null);
    const response = await change(id, { update_control_map: goingOn });
    expect([response.status, response.json().error]).toEqual([
      409,
      expect.stringContaining('without'),
    ]);
    const { expected, actual } = (await explanationOf(server, response)).problem;
    expect([expected, actual]).toEqual([expect.stringContaining('with an'), 'one without']);
    expect(await mapOf(device, id)).toEqual({});
  });

  it.each(['aborted', 'finished'])('returns 409 once the deployment is %s', async (end) => {
    const { device, id } = await pausedDevice();
    if (end === 'aborted') await abort(server, id);
    else await report(server, device, { id, status: 'success' });
    const response = await change(id, { update_control_map: goingOn });
    expect([response.status, response.json().error]).toEqual([
      409,
      expect.stringContaining('finished'),
    ]);
  });

  it.each<[string, unknown]>([
    ['no map', {}],
    ['a map that is null', { update_control_map: null }],
    ['an unknown state', { update_control_map: { states: { Idle: {} } } }],
    ['a priority above 10', { update_control_map: { priority: 11 } }],
    ['an unknown field', { update_control_map: { expiry: 60 } }],
    ['a map that is a list', { update_control_map: [goingOn] }],
    ['a body that is a list', []],
  ])('returns 400 with %s, and the map stays unchanged', async (_, json) => {
    const { device, id } = await pausedDevice();
    const response = await change(id, json);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^body: /),
    ]);
    expect(await mapOf(device, id)).toMatchObject({ update_control_map: pausing });
  });

  it.each([
    [404, '00000000-0000-4000-8000-000000000000'],
    [400, 'no-uuid'],
  ])('returns %i for the deployment ID %s', async (status, id) => {
    expect((await change(id, { update_control_map: goingOn })).status).toBe(status);
  });
});
