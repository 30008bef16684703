import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactBytes, publish, shownArtifact } from '../../testing/test-artifacts.ts';
import {
  board,
  deploy,
  deviceDeploymentOf,
  nextRequests,
  report,
} from '../../testing/test-deployments.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import {
  startTestServer,
  type TestCall,
  type TestResponse,
  type TestServer,
} from '../../testing/test-server.ts';
import { secondTenant } from '../../testing/test-tenants.ts';

type OperationId = Parameters<TestServer['call']>[0];

let server: TestServer;
/** This token belongs to the admin of another tenant. */
let token: string;
let artifact: string;
let device: string;
let deployment: string;
let job: string;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server, { name: 'release-0' });
  artifact = await publish(server);
  const accepted = await acceptedDevice(server, 'of-the-first');
  device = accepted.id;
  const requested = { autogenerate_delta: true, update_control_map: {} };
  deployment = await deploy(server, [accepted], requested);
  await nextRequests['POST v2'](server, accepted.token, board);
  await report(server, accepted, { id: deployment, status: 'downloading' });
  const messages = [{ timestamp: '2026-11-21T12:00:00Z', level: 'info', message: 'secret' }];
  const parameters = { id: deployment };
  const log = { token: accepted.token, parameters, json: { messages } };
  expect((await server.call('put-deployment-log', log)).status).toBe(204);
  const jobs = await server.call('list-delta-jobs', { token: server.adminToken });
  job = `${jobs.json<{ id: string }[]>()[0]?.id}`;
  token = (await secondTenant(server)).token;
});

afterAll(() => server.close());

function ask(id: OperationId, call: TestCall = {}): Promise<TestResponse> {
  return server.call(id, { token, ...call });
}

describe('a user of another tenant', () => {
  it.each<[OperationId, () => TestCall]>([
    ['show-artifact', () => ({ parameters: { id: artifact } })],
    ['get-artifact-download', () => ({ parameters: { id: artifact } })],
    ['update-artifact', () => ({ parameters: { id: artifact }, json: { description: 'x' } })],
    ['delete-artifact', () => ({ parameters: { id: artifact } })],
    ['get-release', () => ({ parameters: { name: 'release-1' } })],
    ['update-release', () => ({ parameters: { name: 'release-1' }, json: { notes: 'x' } })],
    ['put-release-tags', () => ({ parameters: { name: 'release-1' }, json: ['x'] })],
    ['get-delta-job', () => ({ parameters: { id: job } })],
    ['get-deployment', () => ({ parameters: { id: deployment } })],
    ['get-deployment-statistics', () => ({ parameters: { id: deployment } })],
    ['list-deployment-statistics', () => ({ json: { deployment_ids: [deployment] } })],
    ['list-deployment-devices', () => ({ parameters: { id: deployment } })],
    ['list-deployment-devices-v1', () => ({ parameters: { deployment_id: deployment } })],
    ['list-deployment-device-ids', () => ({ parameters: { id: deployment } })],
    ['get-deployment-log', () => ({ parameters: { id: deployment, device_id: device } })],
    [
      'update-deployment',
      () => ({ parameters: { id: deployment }, json: { update_control_map: {} } }),
    ],
    ['abort-deployment', () => ({ parameters: { id: deployment }, json: { status: 'aborted' } })],
    ['list-device-deployments', () => ({ parameters: { id: device } })],
    ['abort-device-deployments', () => ({ parameters: { id: device } })],
    ['reset-device-deployments', () => ({ parameters: { id: device } })],
  ])('gets the same refusal as for unknown resources: %s', async (id, call) => {
    const response = await ask(id, call());
    expect([response.status, response.json()]).toEqual([
      id === 'abort-deployment' ? 422 : 404,
      { error: expect.any(String), request_id: expect.any(String) },
    ]);
  });

  it.each<[OperationId]>([
    ['list-all-artifacts'],
    ['list-artifacts-v1'],
    ['list-paged-artifacts-v1'],
    ['list-releases'],
    ['list-releases-v1'],
    ['list-paged-releases-v1'],
    ['list-release-tags'],
    ['list-release-types'],
    ['list-delta-jobs'],
    ['list-deployments'],
    ['list-deployments-v1'],
  ])('gets an empty list: %s', async (id) => {
    const response = await ask(id);
    expect([response.status, response.json()]).toEqual([200, []]);
  });

  it('has a separate storage usage', async () => {
    expect((await ask('get-storage-usage')).json()).toEqual({ limit: 0, usage: 0 });
  });

  it('cannot deploy to devices of the first tenant or deploy its artifacts', async () => {
    const form = new FormData();
    form.append('artifact', new Blob([new Uint8Array(await artifactBytes())]), 'a.mender');
    const json = { name: 'x', artifact_name: 'release-1', devices: [device] };
    expect((await ask('create-deployment', { json })).status).toBe(400);
    expect((await ask('upload-artifact', { body: form })).status).toBe(201);
    expect((await ask('create-deployment', { json })).status).toBe(400);
    expect((await ask('delete-releases', { query: { name: 'release-1' } })).status).toBe(204);
  });

  it('can upload an artifact with an ID that the first tenant uses', async () => {
    const form = new FormData();
    form.append('artifact_id', artifact);
    form.append('artifact', new Blob([new Uint8Array(await artifactBytes())]), 'a.mender');
    expect((await ask('upload-artifact', { body: form })).status).toBe(201);
    expect((await ask('delete-artifact', { parameters: { id: artifact } })).status).toBe(204);
  });
});

describe('the first tenant', () => {
  it('keeps its artifacts, deployments and releases unchanged', async () => {
    expect(await shownArtifact(server, artifact)).toMatchObject({ name: 'release-1' });
    expect(await shownArtifact(server, artifact)).not.toHaveProperty('description');
    expect(await deviceDeploymentOf(server, deployment, { id: device })).toMatchObject({
      status: 'downloading',
      log: true,
    });
    const call = { token: server.adminToken, parameters: { name: 'release-1' } };
    expect((await server.call('get-release', call)).json()).toMatchObject({ tags: [], notes: '' });
  });
});
