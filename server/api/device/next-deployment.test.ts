import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeploymentInstructionsV2 } from '../../../fixtures/contract/resources.ts';
import { publish } from '../../testing/test-artifacts.ts';
import {
  abort,
  board,
  deploy,
  instructionsIn,
  type NextRequestCall,
  nextRequests,
  report,
  statusOf,
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

function someDevice(): Promise<AcceptedDevice> {
  deviceCount += 1;
  return acceptedDevice(server, `next-${deviceCount}`);
}

const pollOperations = Object.entries(nextRequests) as [
  keyof typeof nextRequests,
  NextRequestCall,
][];
const pollOperationPairs = pollOperations.flatMap(([first, ask]) =>
  pollOperations
    .filter(([second]) => second !== first)
    .map(([second, again]) => ({ first, ask, second, again })),
);
const tooLong = 'x'.repeat(4097);

describe.each(pollOperations)('the next deployment through %s', (_name, ask) => {
  it('returns 204 without a body if the device has none', async () => {
    const response = await ask(server, (await someDevice()).token, board);
    expect([response.status, response.text]).toEqual([204, '']);
  });

  it('contains the deployment ID and the artifact for the device', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device]);
    expect(instructionsIn(await ask(server, device.token, board))).toEqual({
      id,
      artifact: {
        ...(ask === nextRequests['POST v2']
          ? {}
          : { id: expect.stringMatching(/^[0-9a-f-]{36}$/) }),
        artifact_name: 'release-1',
        source: {
          uri: expect.stringContaining(`${server.baseUrl}/`),
          expire: new Date(server.clock.now() + 86_400_000).toISOString(),
        },
        device_types_compatible: ['board'],
      },
    });
  });

  it('leaves the device deployment pending until the device reports', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device]);
    await ask(server, device.token, board);
    expect(await statusOf(server, id, device)).toBe('pending');
  });

  it('is never the deployment of another device', async () => {
    const [one, other] = [await someDevice(), await someDevice()];
    await deploy(server, [one]);
    expect((await ask(server, other.token, board)).status).toBe(204);
  });

  it('is the oldest deployment until it is finished, then the next one', async () => {
    const device = await someDevice();
    const first = await deploy(server, [device], { name: 'first' });
    const second = await deploy(server, [device], { name: 'second' });
    expect(instructionsIn(await ask(server, device.token, board)).id).toBe(first);
    await report(server, device, { id: first, status: 'success' });
    expect(instructionsIn(await ask(server, device.token, board)).id).toBe(second);
    await report(server, device, { id: second, status: 'failure' });
    expect((await ask(server, device.token, board)).status).toBe(204);
  });

  it.each(['success', 'failure', 'already-installed'])(
    'returns 204 after a report of %s',
    async (status) => {
      const device = await someDevice();
      const id = await deploy(server, [device]);
      await ask(server, device.token, board);
      await report(server, device, { id, status });
      expect((await ask(server, device.token, board)).status).toBe(204);
    },
  );

  it('returns 204 for an aborted deployment, offered or not', async () => {
    const [offered, waiting] = [await someDevice(), await someDevice()];
    const id = await deploy(server, [offered, waiting]);
    await ask(server, offered.token, board);
    await abort(server, id);
    for (const { token } of [offered, waiting]) {
      expect((await ask(server, token, board)).status).toBe(204);
    }
  });

  it.each([
    ['no device_type', { artifact_name: 'a' }],
    ['no artifact_name', { device_type: 'board' }],
    ['an empty device_type', { device_type: '', artifact_name: 'a' }],
    ['an empty artifact_name', { device_type: 'board', artifact_name: '' }],
    ['a device_type that is too long', { device_type: tooLong, artifact_name: 'a' }],
    ['an artifact_name that is too long', { device_type: 'board', artifact_name: tooLong }],
  ])('returns 400 for %s with the field name in the error', async (title, provides) => {
    const response = await ask(server, (await someDevice()).token, provides as never);
    expect(response.status).toBe(400);
    const field = title.includes('device_type') ? 'device_type' : 'artifact_name';
    expect(response.json().error).toContain(field);
  });

  it('accepts texts of 4096 characters', async () => {
    const { token } = await someDevice();
    const longest = { device_type: 'x'.repeat(4096), artifact_name: 'y'.repeat(4096) };
    expect((await ask(server, token, longest)).status).toBe(204);
  });

  it.each([
    ['an empty token', ''],
    ["a user's token", 'admin'],
  ])('returns 401 to %s', async (_, who) => {
    const response = await ask(server, who && server.adminToken, board);
    expect(response.status).toBe(401);
  });
});

describe('a repeated request while a deployment is in progress', () => {
  it.each(pollOperationPairs)(
    'gets the same deployment through $first and then $second',
    async ({ ask, again }) => {
      const device = await someDevice();
      await deploy(server, [device]);
      const { id } = instructionsIn(await ask(server, device.token, board));
      expect(instructionsIn(await again(server, device.token, board)).id).toBe(id);
    },
  );

  it.each([
    'downloading',
    'installing',
    'rebooting',
    'pause_before_installing',
    'pause_before_rebooting',
    'pause_before_committing',
  ])('gets the same deployment in the status %s', async (status) => {
    const device = await someDevice();
    const id = await deploy(server, [device]);
    await deploy(server, [device], { name: 'younger' });
    await nextRequests['POST v1'](server, device.token, board);
    await report(server, device, { id, status });
    const secondPoll = await nextRequests['POST v1'](server, device.token, board);
    expect(instructionsIn(secondPoll).id).toBe(id);
    expect(await statusOf(server, id, device)).toBe(status);
  });

  it('gets a fresh link each time', async () => {
    const device = await someDevice();
    await deploy(server, [device]);
    const { source: first } = instructionsIn(
      await nextRequests['GET v1'](server, device.token, board),
    ).artifact;
    server.clock.advance(5000);
    const { source: second } = instructionsIn(
      await nextRequests['GET v1'](server, device.token, board),
    ).artifact;
    expect(Date.parse(`${second.expire}`) - Date.parse(`${first.expire}`)).toBe(5000);
    expect(second.uri).not.toBe(first.uri);
  });

  it('gets a finished deployment again once the device reports progress on it', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device]);
    await nextRequests['POST v2'](server, device.token, board);
    await report(server, device, { id, status: 'failure' });
    await report(server, device, { id, status: 'downloading' });
    const laterPoll = await nextRequests['POST v2'](server, device.token, board);
    expect(instructionsIn(laterPoll).id).toBe(id);
  });
});

it.each(['POST v1', 'POST v2'] as const)(
  'a next-deployment request can have an empty free-form value: %s',
  async (operation) => {
    const { token } = await someDevice();
    expect((await nextRequests[operation](server, token, { ...board, checksum: '' })).status).toBe(
      204,
    );
  },
);

describe('the version 1 request body for the next deployment', () => {
  it.each([
    ['an array', []],
    ['a string', 'board'],
    ['null', null],
    ['a number as a value', { ...board, checksum: 7 }],
    ['null as a value', { ...board, checksum: null }],
    ['an object as a value', { ...board, artifact_provides: { checksum: 'abc' } }],
    ['a free-form value that is too long', { ...board, checksum: tooLong }],
  ])('returns 400 for %s', async (_, json) => {
    const { token } = await someDevice();
    const response = await server.call('post-next-deployment', { token, json });
    expect(response.status).toBe(400);
    expect(response.json().error).toMatch(/^body: /);
  });

  it('returns 400 if it is empty or not JSON', async () => {
    const { token } = await someDevice();
    const headers = { 'Content-Type': 'application/json' };
    for (const body of ['', '{"device_type":', '\u{FEFF}']) {
      const response = await server.call('post-next-deployment', { token, headers, body });
      expect(response.status).toBe(400);
    }
  });
});

describe('the version 2 request body for the next deployment', () => {
  it.each([
    ['no device_provides', {}],
    ['version 1 in its place', board],
    ['device_provides that is null', { device_provides: null }],
    ['device_provides that is an array', { device_provides: [board] }],
    ['a number among the provides', { device_provides: { ...board, checksum: 7 } }],
    ['update_control_map as a string', { device_provides: board, update_control_map: 'true' }],
    ['update_control_map as a number', { device_provides: board, update_control_map: 1 }],
    ['update_control_map as null', { device_provides: board, update_control_map: null }],
  ])('returns 400 for %s', async (_, json) => {
    const { token } = await someDevice();
    const response = await server.call('post-next-deployment-v2', { token, json });
    expect(response.status).toBe(400);
    expect(response.json().error).toMatch(/device_provides|update_control_map/);
  });

  it('returns 204 for 1000 pairs and 400 beyond', async () => {
    const { token } = await someDevice();
    const statuses: number[] = [];
    for (const extra of [998, 999]) {
      const pairs = Object.fromEntries(
        Array.from({ length: extra }, (_, at) => [`key-${at}`, 'x']),
      );
      const json = { device_provides: { ...board, ...pairs } };
      statuses.push((await server.call('post-next-deployment-v2', { token, json })).status);
    }
    expect(statuses).toEqual([204, 400]);
  });
});

describe('the update control map in deployment instructions', () => {
  const update_control_map = {
    priority: 1,
    states: { ArtifactInstall_Enter: { action: 'pause' } },
  };

  it.each([
    [true, true],
    [false, false],
    [undefined, false],
  ])('is present, if requested with %s, in artifact: %s', async (takesMap, isThere) => {
    const device = await someDevice();
    const id = await deploy(server, [device], { update_control_map });
    const json = { device_provides: board, update_control_map: takesMap };
    const response = await server.call('post-next-deployment-v2', { token: device.token, json });
    const { artifact, ...rest } = response.json<DeploymentInstructionsV2>();
    expect(rest).toEqual({ id });
    expect(artifact.update_control_map).toEqual(
      isThere ? { id, ...update_control_map } : undefined,
    );
  });

  it('is absent if the deployment has none, and in version 1', async () => {
    const [plain, old] = [await someDevice(), await someDevice()];
    await deploy(server, [plain]);
    await deploy(server, [old], { update_control_map });
    const json = { device_provides: board, update_control_map: true };
    const response = await server.call('post-next-deployment-v2', { token: plain.token, json });
    expect(instructionsIn(response).artifact).not.toHaveProperty('update_control_map');
    const older = await nextRequests['POST v1'](server, old.token, board);
    expect(instructionsIn(older).artifact).not.toHaveProperty('update_control_map');
  });

  it("has the deployment's ID instead of the ID that the user gave", async () => {
    const device = await someDevice();
    const given = { id: '11111111-2222-4333-8444-555555555555', ...update_control_map };
    const id = await deploy(server, [device], { update_control_map: given });
    const json = { device_provides: board, update_control_map: true };
    const response = await server.call('post-next-deployment-v2', { token: device.token, json });
    expect(response.json<DeploymentInstructionsV2>().artifact.update_control_map?.id).toBe(id);
  });
});
