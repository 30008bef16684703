import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finalStatuses, reportableStatuses } from '../../../fixtures/contract/vocabulary.ts';
import { publish } from '../../testing/test-artifacts.ts';
import {
  abort,
  board,
  createDeployment,
  deploy,
  instructionsIn,
  nextRequests,
  report,
} from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server);
});

afterAll(() => server.close());

const map = {
  priority: -10,
  states: {
    ArtifactInstall_Enter: {
      action: 'pause',
      on_map_expire: 'fail',
      on_action_executed: 'continue',
    },
    ArtifactReboot_Enter: { action: 'force_continue' },
    ArtifactCommit_Enter: {},
  },
};
const nonFinals = reportableStatuses.filter((status) => !finalStatuses.includes(status));
const finals = reportableStatuses.filter((status) => finalStatuses.includes(status));

function someDevice() {
  deviceCount += 1;
  return acceptedDevice(server, `map-${deviceCount}`);
}

/** Returns a device that has been offered a deployment with this map. */
async function offeredDevice(update_control_map: object | undefined = map) {
  const device = await someDevice();
  const id = await deploy(server, [device], { update_control_map });
  instructionsIn(await nextRequests['POST v2'](server, device.token, board));
  return { device, id };
}

function fetchMap({ token }: AcceptedDevice, id: string) {
  return server.call('get-update-control-map', { token, parameters: { id } });
}

describe('the update control map of an active deployment', () => {
  it('is returned as the user gave it with the deployment ID', async () => {
    const { device, id } = await offeredDevice();
    const response = await fetchMap(device, id);
    expect([response.status, response.json()]).toEqual([
      200,
      { update_control_map: { id, ...map } },
    ]);
  });

  it("has the deployment's ID instead of the ID that the user gave", async () => {
    const { device, id } = await offeredDevice({ id: '11111111-2222-4333-8444-555555555555' });
    expect((await fetchMap(device, id)).json()).toEqual({ update_control_map: { id } });
  });

  it('is an empty object if the deployment has none', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device]);
    await nextRequests['POST v2'](server, device.token, board);
    const response = await fetchMap(device, id);
    expect([response.status, response.json()]).toEqual([200, {}]);
  });

  it.each(nonFinals)('is available in the status %s', async (status) => {
    const { device, id } = await offeredDevice();
    await report(server, device, { id, status });
    expect((await fetchMap(device, id)).status).toBe(200);
  });
});

describe('a request for the update control map', () => {
  it.each(finals)('returns 404 once the device has reported %s', async (status) => {
    const { device, id } = await offeredDevice();
    await report(server, device, { id, status });
    const response = await fetchMap(device, id);
    expect([response.status, response.json()]).toEqual([
      404,
      { error: expect.any(String), request_id: expect.any(String) },
    ]);
  });

  it('returns 404 once the deployment is aborted', async () => {
    const { device, id } = await offeredDevice();
    await abort(server, id);
    expect((await fetchMap(device, id)).status).toBe(404);
  });

  it('returns 404 to a device that no artifact of the deployment fits', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device], { update_control_map: map });
    await nextRequests['POST v2'](server, device.token, { ...board, device_type: 'other' });
    expect((await fetchMap(device, id)).status).toBe(404);
  });

  it('returns 404 to a device that has not polled yet', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device], { update_control_map: map });
    expect((await fetchMap(device, id)).status).toBe(404);
  });

  it('returns 404 to a device outside the deployment', async () => {
    const { id } = await offeredDevice();
    expect((await fetchMap(await someDevice(), id)).status).toBe(404);
  });

  it.each(['00000000-0000-4000-8000-000000000000', 'no-uuid', 'ü'])(
    'returns 404 for the deployment ID %s',
    async (id) => {
      expect((await fetchMap(await someDevice(), id)).status).toBe(404);
    },
  );
});

describe('a new deployment with an update control map', () => {
  const states = (entry: unknown) => ({ states: { ArtifactInstall_Enter: entry } });

  it.each([
    ['null', null],
    ['a string', 'pause'],
    ['an array', [map]],
    ['an unknown field', { ...map, expiry: 60 }],
    ['a priority above 10', { priority: 11 }],
    ['a priority below -10', { priority: -11 }],
    ['a priority that is not a whole number', { priority: 0.5 }],
    ['a priority that is a string', { priority: '1' }],
    ['an ID that is not a UUID', { id: 'map-1' }],
    ['states that are an array', { states: [] }],
    ['an unknown state', { states: { ArtifactInstall_Leave: {} } }],
    ['a state in other letters', { states: { artifactinstall_enter: {} } }],
    ['a state that is null', states(null)],
    ['a state that is a string', states('pause')],
    ['an unknown field of a state', states({ action: 'pause', after: 1 })],
    ['an unknown action', states({ action: 'stop' })],
    ['an empty action', states({ action: '' })],
    ['an action that is null', states({ action: null })],
    ['a map that pauses again when it expires', states({ on_map_expire: 'pause' })],
    ['an unknown action on expiry', states({ on_map_expire: 'stop' })],
    ['an unknown action once executed', states({ on_action_executed: 'stop' })],
  ])('returns 400 if the map is or has %s', async (_, update_control_map) => {
    const device = await someDevice();
    const response = await createDeployment(server, [device], { update_control_map });
    expect(response.status).toBe(400);
    expect(response.json().error).toMatch(/^body: update_control_map/);
    expect((await nextRequests['POST v2'](server, device.token, board)).status).toBe(204);
  });

  it.each([-10, 0, 10])('accepts the priority %d', async (priority) => {
    const { device, id } = await offeredDevice({ priority });
    expect((await fetchMap(device, id)).json()).toEqual({ update_control_map: { id, priority } });
  });

  it.each(['continue', 'force_continue', 'pause', 'fail'])(
    'accepts the action %s',
    async (action) => {
      const given = states({ action, on_action_executed: action });
      const { device, id } = await offeredDevice(given);
      expect((await fetchMap(device, id)).json()).toEqual({ update_control_map: { id, ...given } });
    },
  );
});
