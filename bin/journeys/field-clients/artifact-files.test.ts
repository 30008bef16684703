import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeArtifact } from '../../../fixtures/formats/mender-artifact.ts';
import {
  artifactBytes,
  fetchFile,
  publish,
  shownArtifact,
  uploadArtifact,
} from '../../../server/testing/test-artifacts.ts';
import { deploy, instructionsIn, nextRequests } from '../../../server/testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../../server/testing/test-device.ts';
import {
  startOfTest,
  startTestServer,
  type TestServer,
} from '../../../server/testing/test-server.ts';
import { type ArtifactTool, openArtifactTool } from './testing/artifact-tool.ts';

let server: TestServer;
let tool: ArtifactTool;

beforeAll(async () => {
  server = await startTestServer({ headerPrefix: 'X-MEN' });
  tool = openArtifactTool();
});

afterAll(async () => {
  tool.close();
  await server.close();
});

/** Returns the tool's description of a file, once the tool has accepted the file. */
function readByTool(file: Buffer): string {
  tool.put('ours.mender', file);
  const verdict = tool.run('validate', 'ours.mender');
  expect(verdict).toEqual({ code: 0, text: expect.stringContaining('validated successfully') });
  return tool.run('read', 'ours.mender').text;
}

type Spec = Parameters<typeof writeArtifact>[0];

const plain: Spec = {
  name: 'release-1',
  deviceTypes: ['board', 'board 2'],
  payloadType: 'single-file',
  files: [{ name: 'app.bin', content: Buffer.from('abc') }],
  modifiedMs: startOfTest,
};

/** Artifacts that we write, with parts of the description that the tool must print. */
const ours: readonly [kind: string, spec: Spec, lines: readonly RegExp[]][] = [
  [
    'a payload for an update module, with all that can be said of it',
    {
      ...plain,
      group: 'stable',
      provides: { 'app.version': '7' },
      depends: {
        artifact_name: ['release-0'],
        artifact_group: ['beta'],
        'app.version': ['5', '6'],
      },
      clearsProvides: ['app.*'],
      metaData: { mode: 'fast', paths: ['ä', ''] },
    },
    [
      /^ {2}Name: release-1$/m,
      /^ {2}Version: 3$/m,
      /^ {2}Compatible devices: '\[board board 2\]'$/m,
      /^ {2}Provides group: stable$/m,
      /^ {2}Depends on one of artifact\(s\): \[release-0\]$/m,
      /^ {2}Depends on one of group\(s\): \[beta\]$/m,
      /^ {4}Type: +single-file$/m,
      /^\tapp\.version: 7$/m,
      /^\tapp\.version: \[5 6\]$/m,
      /Clears Provides: \["app\.\*"\]/,
      /"mode": "fast"/,
      /name: +app\.bin\n +size: +3\n +modified: 2026-11-21 12:00:00 /,
      /checksum: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/,
    ],
  ],
  [
    'a root file system',
    { ...plain, payloadType: 'rootfs-image', provides: { 'rootfs-image.version': 'release-1' } },
    [/Type: +rootfs-image/, /^\trootfs-image\.version: release-1$/m],
  ],
  ['an artifact without compression', { ...plain, compression: 'none' }, [/name: +app\.bin/]],
  ['an empty payload', { ...plain, payloadType: null, files: [] }, [/Empty type/, /Files: None/]],
];

describe("Debian's mender-artifact", () => {
  it.each(ours)('accepts %s that this project writes', async (_, spec, lines) => {
    const text = readByTool(await writeArtifact(spec));
    for (const line of lines) expect(text).toMatch(line);
  });

  it('accepts an artifact that the server generates from a plain file', async () => {
    const form = new FormData();
    const type = 'single-file';
    const args = '{"dest_dir":"/opt"}';
    const fields = { name: 'generated', device_types_compatible: 'plain', type, args };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob(['abc']), 'app.bin');
    const response = await server.call('generate-artifact', {
      token: server.adminToken,
      body: form,
    });
    expect(response.status, response.text).toBe(201);
    const device = await acceptedDevice(server, 'plain');
    await deploy(server, [device], { artifact_name: 'generated' });
    const text = readByTool(await nextFile(device, 'plain'));
    expect(text).toMatch(/Name: generated$/m);
    expect(text).toMatch(/Type: +single-file$/m);
    expect(text).toMatch(/name: +app\.bin\n +size: +3\n/);
  });

  it('accepts a configuration artifact that the server deploys', async () => {
    const device = await acceptedDevice(server, 'configuration');
    const call = { token: server.adminToken, parameters: { id: device.id } };
    await server.call('set-configuration', { ...call, json: { timezone: 'UTC', 'ü "x"': '<&>' } });
    await server.call('deploy-configuration', { ...call, json: {} });
    const text = readByTool(await nextFile(device));
    expect(text).toMatch(/Name: configuration-[0-9a-f-]{36}$/m);
    expect(text).toMatch(/Type: +mender-configure$/m);
    expect(text).toMatch(/data-partition\.mender-configure\.version: configuration-/);
    expect(text).toContain('"timezone": "UTC"');
  });
});

/** Returns the file of the device's next deployment, downloaded through its link. */
async function nextFile(device: AcceptedDevice, deviceType = 'board'): Promise<Buffer> {
  const provides = { device_type: deviceType, artifact_name: 'release-0' };
  const { artifact } = instructionsIn(
    await nextRequests['POST v2'](server, device.token, provides),
  );
  const response = await fetchFile(artifact.source.uri ?? '');
  expect(response.status).toBe(200);
  return response.bytes;
}

describe('a damaged artifact file', () => {
  /** Returns a file in which the byte at this distance from the end is changed. */
  const damageFile = (file: Buffer, fromEnd: number): Buffer => {
    const copy = Buffer.from(file);
    const at = copy.length - fromEnd;
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
    return copy;
  };
  const distanceFromEnd = (file: Buffer, text: string) => file.length - file.lastIndexOf(text);

  it.each<[fault: string, spoil: (file: Buffer) => Buffer]>([
    ['a file that ends too soon', (file) => file.subarray(0, 3000)],
    [
      'a file without its payload',
      (file) => Buffer.concat([file.subarray(0, -3072), Buffer.alloc(1024)]),
    ],
    [
      'a payload that its checksum does not fit',
      (file) => damageFile(file, distanceFromEnd(file, 'content of')),
    ],
    ['an invalid checksum', (file) => damageFile(file, distanceFromEnd(file, '  header.tar') + 1)],
    ['an unknown version', (file) => damageFile(file, distanceFromEnd(file, '3}'))],
    ['something else', () => Buffer.from('not an artifact'.repeat(100))],
  ])("is refused by the server and Debian's mender-artifact: %s", async (_, spoil) => {
    const file = spoil(await artifactBytes({ compression: 'none' }));
    tool.put('bad.mender', file);
    expect(tool.run('validate', 'bad.mender').code).not.toBe(0);
    const response = await uploadArtifact(server, file);
    expect(response.status, response.text).toBe(400);
  });
});

/** Text that a compression takes several blocks for. */
const large = Array.from({ length: 300_000 }, (_, index) => (index * index) % 7919).join(' ');

/** Arguments of `mender-artifact write`, with what users see of the resulting file. */
type Written = readonly [kind: string, args: readonly string[], view: object];
const theirs: readonly Written[] = [
  [
    'a payload for an update module',
    ['module-image', '--type', 'single-file', '--file', 'app.bin', '--meta-data', 'meta.json'],
    {
      signed: false,
      artifact_provides: { 'rootfs-image.single-file.version': expect.any(String) },
      clears_artifact_provides: ['rootfs-image.single-file.*'],
      updates: [{ type_info: { type: 'single-file' }, files: [{ name: 'app.bin', size: 3 }] }],
    },
  ],
  [
    'a root file system',
    ['rootfs-image', '--file', 'app.bin'],
    {
      artifact_provides: { 'rootfs-image.checksum': expect.stringMatching(/^ba7816bf/) },
      updates: [{ type_info: { type: 'rootfs-image' } }],
    },
  ],
  [
    'a signed one',
    ['module-image', '--type', 'script', '--file', 'app.bin', '--key', 'key.pem'],
    { signed: true },
  ],
  ...(['lzma', 'none'] as const).map(
    (compression): Written => [
      `a large payload with compression ${compression}`,
      ['module-image', '--type', 'script', '--file', 'large.txt', '--compression', compression],
      { updates: [{ files: [{ name: 'large.txt', size: large.length }] }] },
    ],
  ),
  ['an empty payload', ['bootstrap-artifact'], { updates: [{ type_info: { type: null } }] }],
];

describe("an artifact file of Debian's mender-artifact", () => {
  beforeAll(() => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    tool.put('key.pem', privateKey.export({ type: 'pkcs1', format: 'pem' }));
    tool.put('app.bin', 'abc');
    tool.put('large.txt', large);
    tool.put('meta.json', '{"mode":"fast"}');
  });

  it.each(theirs)('is accepted and deployed by the server: %s', async (kind, options, view) => {
    // The tool does not accept spaces in a name.
    const name = kind.replaceAll(' ', '-');
    const file = tool.write(...options, '--artifact-name', name, '--device-type', 'board');
    const id = await publish(server, file);
    const artifact = await shownArtifact(server, id);
    expect(artifact).toMatchObject({ name, size: file.length, ...view });
    const device = await acceptedDevice(server, name);
    await deploy(server, [device], { artifact_name: name });
    expect((await nextFile(device)).equals(file)).toBe(true);
  });
});
