import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchFile, publish, shownArtifact } from '../../testing/test-artifacts.ts';
import {
  abort,
  board,
  deploy,
  instructionsIn,
  nextRequests,
} from '../../testing/test-deployments.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let target: string;

beforeEach(async () => {
  server = await startTestServer();
  await publish(server, { name: 'release-0' });
  target = await publish(server, { name: 'release-1' });
});

afterEach(() => server.close());

function list(query: Record<string, string> = {}): Promise<TestResponse> {
  return server.call('list-delta-jobs', { token: server.adminToken, query });
}

async function jobs(): Promise<Record<string, unknown>[]> {
  return (await list()).json();
}

function show(id: string): Promise<TestResponse> {
  return server.call('get-delta-job', { token: server.adminToken, parameters: { id } });
}

describe('a deployment with autogenerate_delta', () => {
  it('starts a job when a device polls, and serves the whole artifact', async () => {
    const device = await acceptedDevice(server, 'one');
    const id = await deploy(server, [device], { autogenerate_delta: true });
    expect(await jobs()).toEqual([]);
    const instructions = instructionsIn(await nextRequests['POST v2'](server, device.token, board));
    const [listed] = await jobs();
    const fields = {
      id: expect.any(String),
      from_version: 'release-0',
      to_version: 'release-1',
      devices_types_compatible: ['board'],
      started: new Date(server.clock.now()).toISOString(),
      status: 'failed',
    };
    expect(listed).toEqual(fields);
    const { size } = await shownArtifact(server, target);
    expect((await show(`${listed?.id}`)).json()).toMatchObject({
      ...fields,
      deployment_id: id,
      to_artifact_size: size,
      exit_code: 1,
      log: expect.stringContaining('binary deltas are not supported'),
    });
    expect((await fetchFile(`${instructions.artifact.source.uri}`)).bytes.length).toBe(size);
    const call = { token: server.adminToken, parameters: { id } };
    expect((await server.call('get-deployment', call)).json()).toMatchObject({
      autogenerate_delta: true,
    });
  });

  it('starts one job per pair of artifacts, for any number of requests', async () => {
    await publish(server, { name: 'release-00' });
    const devices = [];
    for (const name of ['a', 'b', 'c']) devices.push(await acceptedDevice(server, name));
    await deploy(server, devices, { autogenerate_delta: true });
    for (const { token } of devices) {
      const artifact_name = token === devices[2]?.token ? 'release-00' : 'release-0';
      for (const operation of ['GET v1', 'GET v1'] as const) {
        await nextRequests[operation](server, token, { ...board, artifact_name });
      }
    }
    expect((await jobs()).map(({ from_version }) => from_version)).toEqual([
      'release-00',
      'release-0',
    ]);
  });

  it.each<[string, Record<string, string>]>([
    ['an artifact that is not stored', { artifact_name: 'release-9' }],
    ['one that is stored for other devices only', { artifact_name: 'elsewhere' }],
    ['the target itself', { artifact_name: 'release-1' }],
  ])('starts no job for a device that has %s', async (_, has) => {
    await publish(server, { name: 'elsewhere', deviceTypes: ['other'] });
    const device = await acceptedDevice(server, 'one');
    await deploy(server, [device], { autogenerate_delta: true, force_installation: true });
    instructionsIn(await nextRequests['POST v2'](server, device.token, { ...board, ...has }));
    expect(await jobs()).toEqual([]);
  });
});

describe('a deployment without autogenerate_delta', () => {
  it.each([{}, { autogenerate_delta: false }])('starts no delta job: %j', async (body) => {
    const device = await acceptedDevice(server, 'one');
    await deploy(server, [device], body);
    instructionsIn(await nextRequests['POST v2'](server, device.token, board));
    expect(await jobs()).toEqual([]);
  });
});

describe('the list of delta jobs', () => {
  beforeEach(async () => {
    const device = await acceptedDevice(server, 'one');
    for (const name of ['a', 'b', 'c']) {
      const id = await deploy(server, [device], { name, autogenerate_delta: true });
      await nextRequests['POST v2'](server, device.token, board);
      await abort(server, id);
      server.clock.advance(1000);
    }
  });

  it('is sorted from newest to oldest and comes in pages', async () => {
    const response = await list({ page: '2', per_page: '2' });
    expect([response.json(), response.headers.get('x-total-count')]).toEqual([
      [expect.objectContaining({ started: '2026-11-21T12:00:00.000Z' })],
      '3',
    ]);
    expect((await list({ page: '3', per_page: '2' })).json()).toEqual([]);
  });

  it.each([{ page: '0' }, { per_page: '501' }, { page: 'x' }])(
    'returns 400 for the query %j',
    async (query) => {
      expect((await list(query)).status).toBe(400);
    },
  );

  it.each(['00000000-0000-4000-8000-000000000000', 'no-uuid'])(
    'returns 404 for the job ID %s',
    async (id) => {
      expect((await show(id)).status).toBe(404);
    },
  );

  it('keeps its jobs when their artifacts are deleted', async () => {
    const query = new URLSearchParams('name=release-0&name=release-1');
    const call = { token: server.adminToken, query };
    expect((await server.call('delete-releases', call)).status).toBe(204);
    expect(await jobs()).toHaveLength(3);
  });
});
