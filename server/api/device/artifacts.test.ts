import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Artifact } from '../../../fixtures/contract/resources.ts';
import { debianArtifact, publish, shownArtifact } from '../../testing/test-artifacts.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'artifact-reader');
});

afterAll(() => server.close());

function list(query: Record<string, string>): Promise<TestResponse> {
  return server.call('list-artifacts', { token: device.token, query });
}

function one(id: string): Promise<TestResponse> {
  return server.call('get-artifact', { token: device.token, parameters: { id } });
}

const CHECKSUM_1 = 'f7e243f8d26f2b0609d7b22ce0d164496be619672f8a96b5b6211d78a000b630';
const CHECKSUM_2 = '9a458fe6deb531295ac80d08adcab392ca5ea3846031cae671ac51dfc22fc192';
const FILE_1 = {
  name: 'release-1.bin',
  checksum: CHECKSUM_1,
  size: 12288,
  date: '2026-01-02T03:04:05.000Z',
};
const FILE_2 = {
  name: 'release-2.bin',
  checksum: CHECKSUM_2,
  size: 16000,
  date: '2026-02-03T04:05:06.000Z',
};
const FILE_EXTRA = {
  name: 'extra.bin',
  checksum: '554fff45542d2d523c7b03dd9e9b9149d01e703b2fec54e5f13998c65ed11f92',
  size: 9000,
  date: '2026-03-04T05:06:07.000Z',
};
const META_DATA = { mode: 'fast', retries: 3, paths: ['a', 'b'] };
const KEYS_AND_VALUES = [
  { Key: 'mode', Value: 'fast' },
  { Key: 'paths', Value: ['a', 'b'] },
  { Key: 'retries', Value: 3 },
];
const BOARDS = ['conformance-board', 'conformance board 2', 'conformance/board-3'];

/** Each entry holds the expected fields of an artifact, without its ID and the common fields. */
const resources: readonly (readonly [string, object])[] = [
  [
    'conformance-release-1',
    {
      name: 'conformance-release-1',
      device_types_compatible: ['conformance-board'],
      signed: false,
      updates: [{ type_info: { type: 'single-file' }, files: [FILE_1] }],
      artifact_provides: {
        artifact_name: 'conformance-release-1',
        'rootfs-image.checksum': CHECKSUM_1,
        'rootfs-image.single-file.version': 'conformance-release-1',
      },
      artifact_depends: { device_type: ['conformance-board'] },
      clears_artifact_provides: ['rootfs-image.single-file.*'],
      size: 17408,
    },
  ],
  [
    'conformance-release-2',
    {
      name: 'conformance-release-2',
      device_types_compatible: ['conformance-board'],
      signed: false,
      updates: [
        {
          type_info: { type: 'single-file' },
          files: [FILE_2],
          meta_data: KEYS_AND_VALUES,
          metadata: META_DATA,
        },
      ],
      artifact_provides: {
        artifact_name: 'conformance-release-2',
        'rootfs-image.checksum': CHECKSUM_2,
        'rootfs-image.single-file.version': 'conformance-release-2',
      },
      artifact_depends: {
        device_type: ['conformance-board'],
        'rootfs-image.checksum': [CHECKSUM_1],
      },
      clears_artifact_provides: ['rootfs-image.*', 'rootfs-image.single-file.*'],
      size: 20992,
    },
  ],
  [
    'bootstrap',
    {
      name: 'conformance-bootstrap',
      device_types_compatible: ['conformance-board'],
      signed: false,
      updates: [{ type_info: { type: null }, files: [] }],
      artifact_provides: {
        artifact_name: 'conformance-bootstrap',
        'rootfs-image.checksum': CHECKSUM_1,
      },
      artifact_depends: { device_type: ['conformance-board'] },
      clears_artifact_provides: ['rootfs-image.*'],
      size: 5120,
    },
  ],
  [
    'signed',
    {
      name: 'conformance-signed',
      device_types_compatible: BOARDS,
      signed: true,
      updates: [
        {
          type_info: { type: 'single-file' },
          files: [FILE_1, FILE_EXTRA],
          meta_data: KEYS_AND_VALUES,
          metadata: META_DATA,
        },
      ],
      artifact_provides: {
        artifact_name: 'conformance-signed',
        artifact_group: 'stable',
        'rootfs-image.single-file.version': 'conformance-signed',
      },
      artifact_depends: {
        artifact_name: ['conformance-release-1', 'conformance-release-2'],
        device_type: BOARDS,
        artifact_group: ['stable', 'beta'],
      },
      clears_artifact_provides: ['rootfs-image.single-file.*'],
      size: 27648,
    },
  ],
  [
    'augmented',
    {
      name: 'conformance-augmented',
      device_types_compatible: ['conformance-board'],
      signed: false,
      updates: [
        {
          type_info: { type: 'single-file' },
          files: [FILE_1, FILE_EXTRA],
          meta_data: KEYS_AND_VALUES,
          metadata: META_DATA,
        },
      ],
      artifact_provides: {
        artifact_name: 'conformance-augmented',
        'delta.algorithm': 'none',
        'rootfs-image.single-file.version': 'conformance-augmented',
      },
      artifact_depends: {
        device_type: ['conformance-board'],
        'rootfs-image.checksum': [CHECKSUM_1],
      },
      clears_artifact_provides: ['rootfs-image.single-file.*'],
      size: 28672,
    },
  ],
  [
    'uncompressed',
    {
      name: 'conformance-uncompressed',
      device_types_compatible: ['conformance-board'],
      signed: false,
      updates: [{ type_info: { type: 'single-file' }, files: [FILE_EXTRA] }],
      artifact_provides: {
        artifact_name: 'conformance-uncompressed',
        'rootfs-image.single-file.version': 'conformance-uncompressed',
      },
      artifact_depends: { device_type: ['conformance-board'] },
      clears_artifact_provides: ['rootfs-image.single-file.*'],
      size: 17920,
    },
  ],
  [
    'xz',
    {
      name: 'conformance-xz',
      device_types_compatible: ['conformance-board'],
      signed: false,
      updates: [{ type_info: { type: 'single-file' }, files: [FILE_EXTRA] }],
      artifact_provides: {
        artifact_name: 'conformance-xz',
        'rootfs-image.single-file.version': 'conformance-xz',
      },
      artifact_depends: { device_type: ['conformance-board'] },
      clears_artifact_provides: ['rootfs-image.single-file.*'],
      size: 14336,
    },
  ],
];

describe('an artifact from mender-artifact 3.9.0 of Debian', () => {
  it.each(resources)(
    'is shown to devices and users with all its fields: %s',
    async (file, members) => {
      const id = await publish(server, debianArtifact(file));
      const modified = new Date(server.clock.now()).toISOString();
      const whole = { id, info: { format: 'mender', version: 3 }, modified, ...members };
      expect((await one(id)).json()).toEqual(whole);
      expect(await shownArtifact(server, id)).toEqual(whole);
      const { name, device_types_compatible: types } = members as Artifact;
      for (const device_type of types) {
        expect((await list({ release_name: name, device_type })).json()).toEqual([whole]);
      }
    },
  );
});

describe("the device's list of artifacts by release and device type", () => {
  beforeAll(async () => {
    await publish(server, { name: 'release', deviceTypes: ['board', 'board/2 ü'] });
    await publish(server, { name: 'release', deviceTypes: ['other'] });
    await publish(server, { name: 'release-2', deviceTypes: ['board'] });
    await publish(server, { name: 'release*', deviceTypes: ['board'] });
  });

  it.each([
    ['another release', { release_name: 'releases', device_type: 'board' }],
    ['another device type', { release_name: 'release', device_type: 'boar' }],
    ['other letters', { release_name: 'Release', device_type: 'board' }],
    ['a list of device types', { release_name: 'release', device_type: '["board"]' }],
    ['a sign that stands for any text in SQL', { release_name: 'release%', device_type: 'board' }],
    ['an attempt at SQL', { release_name: "release' OR '1'='1", device_type: 'board' }],
  ])('returns 200 and is empty for %s', async (_, query) => {
    const response = await list(query);
    expect([response.status, response.json()]).toEqual([200, []]);
  });

  it.each(['board', 'board/2 ü', 'other'])(
    'contains the one matching artifact for the device type %s',
    async (device_type) => {
      const found = (await list({ release_name: 'release', device_type })).json<Artifact[]>();
      expect(found.map(({ name, device_types_compatible: types }) => [name, types])).toEqual([
        ['release', device_type === 'other' ? ['other'] : ['board', 'board/2 ü']],
      ]);
    },
  );

  it('treats a star in release_name as a literal character', async () => {
    const found = (await list({ release_name: 'release*', device_type: 'board' })).json<
      Artifact[]
    >();
    expect(found.map(({ name }) => name)).toEqual(['release*']);
  });

  it.each([
    ['no release_name', { device_type: 'board' }, 'release_name'],
    ['no device_type', { release_name: 'release' }, 'device_type'],
    ['an empty release_name', { release_name: '', device_type: 'board' }, 'release_name'],
    ['an empty device_type', { release_name: 'release', device_type: '' }, 'device_type'],
    [
      'a name that is too long',
      { release_name: 'x'.repeat(4097), device_type: 'b' },
      'release_name',
    ],
    ['neither', {}, 'release_name'],
  ])('returns 400 for %s', async (_, query, field) => {
    const response = await list(query as Record<string, string>);
    expect([response.status, response.json().error]).toEqual([400, expect.stringContaining(field)]);
  });

  it('returns 400 if a parameter is given twice', async () => {
    const query = new URLSearchParams('release_name=a&release_name=b&device_type=board');
    expect((await server.call('list-artifacts', { token: device.token, query })).status).toBe(400);
  });

  it('contains at most 100 artifacts', async () => {
    for (let slot = 0; slot < 101; slot += 1) {
      await publish(server, { name: 'many', files: [], depends: { slot: [String(slot)] } });
    }
    const found = (await list({ release_name: 'many', device_type: 'board' })).json<Artifact[]>();
    expect(found).toHaveLength(100);
    expect(new Set(found.map(({ id }) => id)).size).toBe(100);
  });
});

describe("a device's request for artifacts", () => {
  it.each(['00000000-0000-4000-8000-000000000000', 'no-uuid', 'ü', "' OR 1=1 --"])(
    'returns 404 for the unknown ID %s, as does a request for its link',
    async (id) => {
      for (const operation of ['get-artifact', 'get-artifact-link'] as const) {
        const response = await server.call(operation, { token: device.token, parameters: { id } });
        expect([response.status, response.json()]).toEqual([
          404,
          { error: expect.any(String), request_id: expect.any(String) },
        ]);
      }
    },
  );

  it.each(['list-artifacts', 'get-artifact', 'get-artifact-link'] as const)(
    'returns 401 by %s without a token and with a user token',
    async (operation) => {
      const id = await publish(server, { name: `secret-${operation}` });
      const call = { parameters: { id }, query: { release_name: 'release', device_type: 'board' } };
      expect((await server.call(operation, call)).status).toBe(401);
      expect((await server.call(operation, { ...call, token: server.adminToken })).status).toBe(
        401,
      );
    },
  );
});
