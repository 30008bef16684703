import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeploymentDevice } from '../../../fixtures/contract/management/deployments.ts';
import { publish, shownArtifact } from '../../testing/test-artifacts.ts';
import { entries } from '../../testing/test-audit.ts';
import {
  board,
  deploy,
  deviceDeploymentOf,
  instructionsIn,
  nextRequests,
  report,
  statusOf,
} from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import {
  startTestServer,
  type TestCall,
  type TestResponse,
  type TestServer,
} from '../../testing/test-server.ts';

let server: TestServer;
let artifactId: string;
let deviceCount = 0;
const unknownId = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  server = await startTestServer();
  artifactId = await publish(server);
});

afterAll(() => server.close());

async function someDevice(): Promise<AcceptedDevice> {
  deviceCount += 1;
  return acceptedDevice(server, `deployment-devices-${deviceCount}`);
}

function call(
  id: Parameters<TestServer['call']>[0],
  parameters: NonNullable<TestCall['parameters']>,
  query: Record<string, string> = {},
): Promise<TestResponse> {
  return server.call(id, { token: server.adminToken, parameters, query });
}

/** Returns a device that has reported this status in a deployment of its own. */
async function deviceAt(status?: string): Promise<{ device: AcceptedDevice; id: string }> {
  const device = await someDevice();
  const id = await deploy(server, [device]);
  if (status !== undefined) {
    await nextRequests['POST v2'](server, device.token, board);
    await report(server, device, { id, status });
  }
  return { device, id };
}

describe('a device in the device list of a deployment', () => {
  it('has its artifact and the number of its offers', async () => {
    const { device, id } = await deviceAt('installing');
    const artifact = await shownArtifact(server, artifactId);
    expect(await deviceDeploymentOf(server, id, device)).toMatchObject({
      status: 'installing',
      attempts: 1,
      image: {
        id: artifactId,
        meta: { description: '' },
        meta_artifact: { name: 'release-1', device_types_compatible: ['board'], signed: false },
        size: artifact.size,
        modified: artifact.modified,
      },
    });
  });

  it('has no artifact before it was offered one', async () => {
    const { device, id } = await deviceAt();
    const deviceDeployment = await deviceDeploymentOf(server, id, device);
    expect(deviceDeployment).toMatchObject({ status: 'pending', attempts: 0 });
    expect(deviceDeployment).not.toHaveProperty('image');
  });
});

describe('the deprecated device list of a deployment', () => {
  it('contains all devices without pages, like the list that replaces it', async () => {
    const devices = [];
    for (const _ of Array.from({ length: 25 })) devices.push(await someDevice());
    const id = await deploy(server, devices);
    const v1Response = await call('list-deployment-devices-v1', { deployment_id: id });
    const paged = await call('list-deployment-devices', { id }, { per_page: '500' });
    expect(v1Response.json<DeploymentDevice[]>()).toHaveLength(25);
    expect(v1Response.json()).toEqual(paged.json());
  });

  it.each([
    [404, unknownId],
    [400, 'no-uuid'],
  ])('returns %i for the deployment ID %s', async (status, deployment_id) => {
    expect((await call('list-deployment-devices-v1', { deployment_id })).status).toBe(status);
  });
});

describe('the list of device IDs of a deployment', () => {
  it('contains all its devices, even those that never polled', async () => {
    const devices = [await someDevice(), await someDevice()];
    const id = await deploy(server, devices);
    const response = await call('list-deployment-device-ids', { id });
    expect(response.json<string[]>()).toEqual(devices.map((device) => device.id).toSorted());
  });

  it.each([
    [404, unknownId],
    [400, 'no-uuid'],
  ])('returns %i for the deployment ID %s', async (status, id) => {
    expect((await call('list-deployment-device-ids', { id })).status).toBe(status);
  });
});

describe('the list of deployments of a device', () => {
  it('is sorted from newest to oldest, with at most 20 per page', async () => {
    const device = await someDevice();
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.unshift(await deploy(server, [device], { name }));
    await nextRequests['POST v2'](server, device.token, board);
    const response = await call('list-device-deployments', { id: device.id });
    expect(response.headers.get('x-total-count')).toBe('3');
    expect(response.json()).toEqual(
      ids.map((id) => ({
        id,
        deployment: expect.objectContaining({ id, artifact_name: 'release-1' }),
        device: expect.objectContaining({ id: device.id, status: 'pending' }),
      })),
    );
    const second = await call(
      'list-device-deployments',
      { id: device.id },
      { page: '2', per_page: '2' },
    );
    expect(second.json<{ id: string }[]>().map(({ id }) => id)).toEqual([ids[2]]);
    expect(second.headers.get('link')).toMatch(/page=1[^>]*>; rel="prev"/);
  });

  it('can be filtered by a status or a group of statuses', async () => {
    const { device, id } = await deviceAt('success');
    await deploy(server, [device], { name: 'second' });
    const found: Record<string, string[]> = {};
    for (const status of ['success', 'finished', 'active', 'pause']) {
      const response = await call('list-device-deployments', { id: device.id }, { status });
      found[status] = response.json<{ id: string }[]>().map((entry) => entry.id);
    }
    expect(found).toEqual({
      success: [id],
      finished: [id],
      active: [expect.not.stringContaining(id)],
      pause: [],
    });
  });

  it.each(['per_page=21', 'per_page=0', 'page=0', 'status=done', 'status='])(
    'returns 400 for %s',
    async (text) => {
      const { device } = await deviceAt();
      const query = Object.fromEntries(new URLSearchParams(text));
      const response = await call('list-device-deployments', { id: device.id }, query);
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringMatching(/^query: /),
      ]);
    },
  );
});

describe("the deletion of a device's deployment history", () => {
  it('hides finished deployments from the device, but keeps their results', async () => {
    const { device, id } = await deviceAt('success');
    expect((await call('reset-device-deployments', { id: device.id })).status).toBe(204);
    const listed = await call('list-device-deployments', { id: device.id });
    expect([listed.json(), listed.headers.get('x-total-count')]).toEqual([[], '0']);
    expect((await report(server, device, { id, status: 'failure' })).status).toBe(404);
    expect(await statusOf(server, id, device)).toBe('success');
  });

  it('makes a running deployment available to the device again', async () => {
    const [device, other] = [await someDevice(), await someDevice()];
    const id = await deploy(server, [device, other]);
    await nextRequests['POST v2'](server, device.token, board);
    await report(server, device, { id, status: 'failure' });
    expect((await nextRequests['POST v2'](server, device.token, board)).status).toBe(204);
    await call('reset-device-deployments', { id: device.id });
    expect(instructionsIn(await nextRequests['POST v2'](server, device.token, board)).id).toBe(id);
    expect(await deviceDeploymentOf(server, id, device)).toMatchObject({
      status: 'pending',
      attempts: 1,
    });
  });

  it('makes a deployment available that is older than the last finished one', async () => {
    const [device, other] = [await someDevice(), await someDevice()];
    const older = await deploy(server, [device, other], { name: 'older' });
    const newer = await deploy(server, [device], { name: 'newer' });
    await call('abort-device-deployments', { id: device.id });
    await call('reset-device-deployments', { id: device.id });
    expect(await statusOf(server, newer, device)).toBe('aborted');
    expect(instructionsIn(await nextRequests['POST v2'](server, device.token, board)).id).toBe(
      older,
    );
  });

  it('does not affect a deployment that is in progress on the device', async () => {
    const { device, id } = await deviceAt('installing');
    await call('reset-device-deployments', { id: device.id });
    expect(await statusOf(server, id, device)).toBe('installing');
    expect((await report(server, device, { id, status: 'success' })).status).toBe(204);
  });

  it('is logged in the audit log', async () => {
    const { device } = await deviceAt('success');
    await call('reset-device-deployments', { id: device.id });
    const [entry] = await entries(server, { object_id: device.id });
    expect(entry).toMatchObject({ action: 'update', object: { type: 'device' } });
  });
});

describe.each(['list-device-deployments', 'reset-device-deployments'] as const)(
  'the operation %s',
  (id) => {
    it.each([unknownId, 'no-uuid', 'ü'])('returns 404 for the device ID %s', async (device) => {
      expect((await call(id, { id: device })).status).toBe(404);
    });
  },
);
