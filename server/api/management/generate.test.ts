import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Artifact } from '../../../fixtures/contract/resources.ts';
import { readArtifact } from '../../../fixtures/formats/mender-artifact.ts';
import { fetchFile, linkTo, publish, shownArtifact } from '../../testing/test-artifacts.ts';
import { board, deploy, instructionsIn, nextRequests } from '../../testing/test-deployments.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let folder: string;
let server: TestServer;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generate-test-'));
  vi.stubEnv('TMPDIR', folder);
  server = await startTestServer();
  vi.unstubAllEnvs();
});

afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const plainFile = Buffer.from('what the file holds\n'.repeat(100));
const sumOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const checksum = sumOf(plainFile);
const validFields = {
  name: 'release-1',
  device_types_compatible: 'board,other',
  type: 'single-file',
  args: '{"dest_dir":"/opt/app"}',
};
const [destDirSum, fileNameSum] = ['/opt/app\n', 'app.conf\n'].map(sumOf);

function storedFiles(): string[] {
  return readdirSync(join(folder, readdirSync(folder)[0] ?? 'none'));
}

/** Requests the generation of an artifact as a user; undefined fields are omitted. */
function generate(
  fields: object = {},
  { file = plainFile, fileName = 'app.conf' }: { file?: Buffer; fileName?: string } = {},
): Promise<TestResponse> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...validFields, ...fields })) {
    if (value !== undefined) form.append(name, value);
  }
  form.append('file', new Blob([new Uint8Array(file)]), fileName);
  return server.call('generate-artifact', { token: server.adminToken, body: form });
}

async function generated(...args: Parameters<typeof generate>): Promise<Artifact> {
  const response = await generate(...args);
  const location = `${response.headers.get('location')}`;
  expect([response.status, location]).toEqual([
    201,
    expect.stringMatching(/^\/api\/management\/v1\/deployments\/artifacts\/[0-9a-f-]{36}$/),
  ]);
  return shownArtifact(server, location.split('/').at(-1) ?? '');
}

function namesOfFiles({ updates }: Artifact): unknown {
  return updates?.[0]?.files?.map(({ name }) => name);
}

describe('an artifact generated from a plain file', () => {
  it('has the provides and clears that the common artifact tool writes', async () => {
    const artifact = await generated({ description: 'settings' });
    expect(artifact).toMatchObject({
      name: 'release-1',
      description: 'settings',
      device_types_compatible: ['board', 'other'],
      signed: false,
      updates: [
        {
          type_info: { type: 'single-file' },
          files: [
            { name: 'dest_dir', checksum: destDirSum, size: 9 },
            { name: 'filename', checksum: fileNameSum, size: 9 },
            { name: 'app.conf', checksum, size: plainFile.length },
          ],
        },
      ],
      artifact_provides: {
        artifact_name: 'release-1',
        'rootfs-image.single-file.version': 'release-1',
      },
      clears_artifact_provides: ['rootfs-image.single-file.*'],
    });
    expect(storedFiles()).toHaveLength(1);
  });

  it('can be deployed and downloaded as a whole artifact', async () => {
    await generated();
    const device = await acceptedDevice(server, 'reader');
    const id = await deploy(server, [device]);
    const instructions = instructionsIn(await nextRequests['POST v2'](server, device.token, board));
    expect(instructions.id).toBe(id);
    const { bytes } = await fetchFile(`${instructions.artifact.source.uri}`);
    const contents = await readArtifact(Readable.from([bytes]));
    const modified = new Date(server.clock.now()).toISOString();
    expect(contents.payloads[0]?.files.at(-1)).toMatchObject({
      name: 'app.conf',
      checksum,
      date: Date.parse(modified),
    });
  });

  it('contains the destination of the file for the update module', async () => {
    const args = { filename: 'settings.conf', dest_dir: '/etc/app', further: [1] };
    const artifact = await generated({ args: JSON.stringify(args) });
    expect(namesOfFiles(artifact)).toEqual(['dest_dir', 'filename', 'settings.conf']);
    const { token } = await acceptedDevice(server, 'reader');
    const { uri } = await linkTo(server, token, artifact.id);
    const text = (await fetchFile(uri)).bytes.toString('latin1');
    expect(text).toContain('/etc/app\n');
    expect(text).toContain('settings.conf\n');
  });

  it('has provides with the software name and version from args', async () => {
    const software = { software_filesystem: 'data', software_name: 'app', software_version: '7' };
    const args = { ...software, dest_dir: '/opt' };
    expect(await generated({ args: JSON.stringify(args) })).toMatchObject({
      artifact_provides: { 'data.app.version': '7' },
      clears_artifact_provides: ['data.app.*'],
    });
  });

  it('ignores spaces in the list of device types', async () => {
    const artifact = await generated({ device_types_compatible: ' board , raspberry pi ' });
    expect(artifact.device_types_compatible).toEqual(['board', 'raspberry pi']);
  });

  it('ignores the part size and unknown parts', async () => {
    await generated({ size: 'seven', unknown: 'x', artifact_id: 'no-uuid' });
  });

  it.each([
    ['größe.txt', 'gr__e.txt'],
    ['a b.txt', 'a_b.txt'],
    ['../../etc/passwd', 'passwd'],
    ['..', 'file'],
    [`${'x'.repeat(150)}.txt`, `${'x'.repeat(96)}.txt`],
  ])('has a safe file name made from %j', async (fileName, expected) => {
    const artifact = await generated({}, { fileName });
    expect(namesOfFiles(artifact)).toEqual(['dest_dir', 'filename', expected]);
  });

  it('can contain an empty file', async () => {
    const artifact = await generated({}, { file: Buffer.alloc(0) });
    expect(artifact.updates?.[0]?.files?.at(-1)).toMatchObject({ size: 0 });
  });

  it.each([
    ['directory', '{"dest_dir":"/opt/app/"}', 'app.tar', ['dest_dir', 'update.tar']],
    ['script', '{}', 'install.sh', ['install.sh']],
    ['deb', undefined, 'app.deb', ['app.deb']],
    ['rpm', undefined, 'app.rpm', ['app.rpm']],
    ['rootfs-image', undefined, 'root.img', ['root.img']],
    ['own-module', undefined, 'app.bin', ['app.bin']],
    ['own-module', '{"dest_dir":"/"}', 'app.bin', ['dest_dir', 'filename', 'app.bin']],
    ['constructor', undefined, 'app.bin', ['app.bin']],
  ])(
    'contains the files that the module %s reads, with args %s',
    async (type, args, fileName, expected) => {
      expect(namesOfFiles(await generated({ type, args }, { fileName }))).toEqual(expected);
    },
  );
});

describe('a malformed request to generate an artifact', () => {
  it.each<[string, object, string]>([
    ['no name', { name: undefined }, 'name: is required'],
    ['an empty name', { name: '' }, 'name: '],
    ['a name that is too long', { name: 'x'.repeat(4097) }, 'name: '],
    ['no device types', { device_types_compatible: undefined }, 'device_types_compatible: '],
    ['empty device types', { device_types_compatible: '' }, 'device_types_compatible.0: '],
    ['an empty one among them', { device_types_compatible: 'a,,b' }, 'device_types_compatible.1'],
    ['one that is too long', { device_types_compatible: 'x'.repeat(257) }, 'device_types_compa'],
    ['no type', { type: undefined }, 'type: is required'],
    ['an empty type', { type: '' }, 'type: '],
    ['args that are not JSON', { args: '{' }, 'args: must be JSON text'],
    ['args that are a list', { args: '[]' }, 'args: must be an object'],
    ['args that are null', { args: 'null' }, 'args: must be an object'],
    ['a dest_dir that is relative', { args: '{"dest_dir":"etc"}' }, 'args.dest_dir: '],
    ['a dest_dir of two lines', { args: '{"dest_dir":"/etc\\n/x"}' }, 'args.dest_dir: '],
    ['a path for a filename', { args: '{"filename":"../x"}' }, 'args.filename: '],
    ['dots for a filename', { args: '{"filename":".."}' }, 'args.filename: '],
    ...['dest_dir', 'filename', 'permissions'].map((filename): [string, object, string] => [
      `the filename ${filename}, which single-file reads`,
      { args: JSON.stringify({ filename, dest_dir: '/etc' }) },
      'args.filename: must be a name other than dest_dir, filename and permissions',
    ]),
    [
      'a filename that an unknown module may read',
      { type: 'own-module', args: '{"filename":"dest_dir","dest_dir":"/etc"}' },
      'two files have this name',
    ],
    [
      'no args for single-file',
      { args: undefined },
      'args.dest_dir: must be the absolute path of the directory on the device that the file goes to, in a part args before the file',
    ],
    ['no dest_dir for single-file', { args: '{"filename":"x"}' }, 'args.dest_dir: must be the abs'],
    ['an empty dest_dir', { args: '{"dest_dir":""}' }, 'args.dest_dir: '],
    ['no dest_dir for directory', { type: 'directory', args: '{}' }, 'args.dest_dir: must be the'],
    ...['/', '//', '/opt/..', '/./', '/my app', '/opt/*', '/$HOME'].map(
      (path): [string, object, string] => [
        `the dest_dir ${path} for directory, which removes it first`,
        { type: 'directory', args: JSON.stringify({ dest_dir: path }) },
        'args.dest_dir: must be the absolute path of the directory on the device that the tar',
      ],
    ),
    ...['script', 'deb', 'rpm', 'rootfs-image'].map((type): [string, object, string] => [
      `a dest_dir for ${type}, which has no use for it`,
      { type },
      `args.dest_dir: must be absent, as the type ${type} has no use for it`,
    ]),
    [
      'another file for deb',
      { type: 'deb', args: '{}' },
      'args.filename: must be a name that ends',
    ],
    [
      'another file for rpm',
      { type: 'rpm', args: '{}' },
      'args.filename: must be a name that ends',
    ],
    ['the type docker', { type: 'docker' }, 'type: must be a type that installs a file, which'],
    ['the type mender-configure', { type: 'mender-configure' }, 'set the configuration of the'],
    ['a software_name that is a number', { args: '{"software_name":7}' }, 'args.software_name: '],
  ])('returns 400 and stores no file for %s', async (_, fields, reason) => {
    const response = await generate(fields);
    expect([response.status, response.json()]).toEqual([
      400,
      { error: expect.stringContaining(reason), request_id: expect.any(String) },
    ]);
    expect(storedFiles()).toEqual([]);
  });

  it('returns 400 and stores no file without a part named file', async () => {
    const body = new FormData();
    body.append('name', 'release-1');
    body.append('artifact', new Blob([plainFile]), 'app.conf');
    const response = await server.call('generate-artifact', { token: server.adminToken, body });
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringContaining('"file"'),
    ]);
    expect(storedFiles()).toEqual([]);
  });

  it('returns 400 and stores no file if the fields come after the file', async () => {
    const body = new FormData();
    body.append('file', new Blob([plainFile]), 'app.conf');
    for (const [name, value] of Object.entries(validFields)) body.append(name, value);
    const response = await server.call('generate-artifact', { token: server.adminToken, body });
    expect([response.status, storedFiles()]).toEqual([400, []]);
  });
});

describe('a refused request to generate an artifact', () => {
  it('returns 409 if the name exists for the same devices, and stores nothing', async () => {
    const id = await publish(server);
    const response = await generate();
    expect([response.status, response.json()]).toEqual([
      409,
      {
        error: expect.stringContaining(id),
        metadata: { conflict: { device_type: ['board'] } },
        request_id: expect.any(String),
      },
    ]);
    expect(storedFiles()).toHaveLength(1);
  });

  it('returns 401 without a token and with a device token', async () => {
    const { token } = await acceptedDevice(server, 'asker');
    for (const who of [{}, { token }]) {
      const body = new FormData();
      body.append('file', new Blob([plainFile]), 'x');
      expect((await server.call('generate-artifact', { ...who, body })).status).toBe(401);
    }
  });

  it('returns 415 for a JSON body', async () => {
    const call = { token: server.adminToken, json: validFields };
    expect((await server.call('generate-artifact', call)).status).toBe(415);
  });
});
