import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Artifact } from '../../../fixtures/contract/resources.ts';
import {
  artifactWithout,
  malformedArtifact,
} from '../../../fixtures/testing/malformed-artifact.ts';
import {
  artifactBytes,
  debianArtifact,
  publish,
  shownArtifact,
  uploadArtifact,
} from '../../testing/test-artifacts.ts';
import { board, deploy, instructionsIn, nextRequests } from '../../testing/test-deployments.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

const uuid = '11111111-2222-4333-8444-555555555555';
let folder: string;
let server: TestServer;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upload-test-'));
  vi.stubEnv('TMPDIR', folder);
  server = await startTestServer();
  vi.unstubAllEnvs();
});

afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the folder in which the server stores its files. */
function storeFolder(): string {
  return join(folder, readdirSync(folder)[0] ?? 'none');
}

/** Returns the files that the server stores, including any left from refused uploads. */
function storedFiles(): string[] {
  return readdirSync(storeFolder());
}

function send(
  body: FormData | Buffer | string,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  return server.call('upload-artifact', { token: server.adminToken, headers, body });
}

/** Returns a form of the parts in the given order; a Buffer becomes a file. */
function formOf(...parts: readonly (readonly [string, string | Buffer])[]): FormData {
  const form = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)]), 'release.mender');
  }
  return form;
}

async function listArtifacts(): Promise<Artifact[]> {
  return (await server.call('list-all-artifacts', { token: server.adminToken })).json<Artifact[]>();
}

describe('an upload of an artifact', () => {
  it('returns 201 with the Location of the artifact', async () => {
    const response = await send(formOf(['artifact', await artifactBytes()]));
    const [artifact] = await listArtifacts();
    expect([response.status, response.text]).toEqual([201, '']);
    expect(response.headers.get('location')).toBe(
      `/api/management/v1/deployments/artifacts/${artifact?.id}`,
    );
    expect(storedFiles()).toHaveLength(1);
  });

  it('accepts description, size and ID before the file, and ignores unknown parts', async () => {
    const response = await send(
      formOf(
        ['description', 'größer'],
        ['size', '1'],
        ['artifact_id', uuid.toUpperCase()],
        ['unknown', 'x'],
        ['attachment', Buffer.from('another file')],
        ['artifact', debianArtifact('conformance-release-1')],
      ),
    );
    expect(response.headers.get('location')).toMatch(new RegExp(`/${uuid}$`));
    expect(await shownArtifact(server, uuid)).toMatchObject({
      id: uuid,
      description: 'größer',
      size: 17408,
    });
    expect(storedFiles()).toHaveLength(1);
  });

  it('ignores all parts after the file', async () => {
    const response = await send(
      formOf(
        ['artifact', await artifactBytes()],
        ['artifact_id', 'not-a-uuid'],
        ['description', 'too late'],
        ['artifact', Buffer.from('no artifact')],
      ),
    );
    expect(response.status).toBe(201);
    const [artifact] = await listArtifacts();
    expect(artifact).not.toHaveProperty('description');
    expect(storedFiles()).toHaveLength(1);
  });

  it('creates an artifact without a description if none is given', async () => {
    const id = await publish(server);
    expect(await shownArtifact(server, id)).not.toHaveProperty('description');
  });

  it('extends the release under an existing name for other device types', async () => {
    await publish(server, { deviceTypes: ['board'] });
    await publish(server, { deviceTypes: ['other'] });
    expect((await listArtifacts()).map(({ name }) => name)).toEqual(['release-1', 'release-1']);
  });
});

describe('an upload of a file that is not a valid artifact', () => {
  it.each<[string, () => Buffer | Promise<Buffer>, RegExp]>([
    ['an empty file', () => Buffer.alloc(0), /artifact: /],
    ['text', () => Buffer.from('no artifact'), /artifact: /],
    ['zeros', () => Buffer.alloc(10_240), /artifact: /],
    ['a cut one', async () => (await artifactBytes()).subarray(0, 2000), /artifact: /],
    [
      'one without its end mark',
      async () => (await artifactBytes()).subarray(0, -1024),
      /end-of-archive marker/,
    ],
    [
      'a wrong checksum of a file',
      () => malformedArtifact({ manifest: (lines) => lines.replace(/^...../, '00000') }),
      /app\.bin: its SHA-256/,
    ],
    [
      'a wrong checksum of the header',
      () =>
        malformedArtifact({ manifest: (lines) => lines.replace(/^.{5}(?=.*header)/m, '00000') }),
      /header\.tar\.gz/,
    ],
    ['no manifest', () => malformedArtifact(artifactWithout('manifest')), /expected manifest/],
    ['no version', () => malformedArtifact(artifactWithout('version')), /expected version/],
    ['no header', () => malformedArtifact(artifactWithout('header.tar.gz')), /header\.tar/],
    [
      'version 2',
      () => malformedArtifact({ version: '{"format":"mender","version":2}' }),
      /version/,
    ],
    [
      'another format',
      () => malformedArtifact({ version: '{"format":"deb","version":3}' }),
      /format/,
    ],
    [
      'a path as a file name',
      () => malformedArtifact({ dataEntries: [{ name: '../evil', content: 'x' }] }),
      /no|not/,
    ],
    [
      'a header that is not JSON',
      () => malformedArtifact({ headerEntries: [{ name: 'header-info', content: '{' }] }),
      /JSON/,
    ],
    ['a compressed file', async () => gzipSync(await artifactBytes()), /is compressed with gzip/],
    ['damaged gzip', () => malformedArtifact({ storeHeader: (archive) => archive }), /gzip/],
  ])('returns 400 and stores nothing for %s', async (_, make, reason) => {
    const response = await uploadArtifact(server, await make());
    expect([response.status, response.json()]).toEqual([
      400,
      { error: expect.stringMatching(reason), request_id: expect.any(String) },
    ]);
    expect([await listArtifacts(), storedFiles()]).toEqual([[], []]);
  });
});

describe('a malformed upload', () => {
  const head = '--cut\r\nContent-Disposition: form-data; name="artifact"; filename="a"\r\n\r\n';
  const multipart = { 'Content-Type': 'multipart/form-data; boundary=cut' };

  it.each<[string, string, Record<string, string>]>([
    ['no body', '', multipart],
    ['no parts', '--cut--\r\n', multipart],
    ['text in place of parts', 'no parts', multipart],
    ['another boundary', `${head}x\r\n--other--\r\n`, multipart],
    ['an end in the middle of the file', `${head}x`, multipart],
    ['an end in the middle of another file', `${head.replace('artifact', 'other')}x`, multipart],
    [
      'an end in the middle of a text part',
      '--cut\r\nContent-Disposition: form-data; name="size"\r\n\r\n1',
      multipart,
    ],
    ['an end in the head of a part', '--cut\r\nContent-Dispos', multipart],
    ['no boundary', head, { 'Content-Type': 'multipart/form-data' }],
    ['an empty boundary', head, { 'Content-Type': 'multipart/form-data; boundary=' }],
    ['no media type', head, { 'Content-Type': '' }],
    ['an invalid media type', head, { 'Content-Type': 'multipart' }],
  ])('returns 400 and stores nothing for %s', async (_, body, headers) => {
    const response = await send(body, headers);
    expect([response.status, response.json()]).toEqual([
      400,
      { error: expect.any(String), request_id: expect.any(String) },
    ]);
    expect([await listArtifacts(), storedFiles()]).toEqual([[], []]);
  });

  it('returns 415 for another media type', async () => {
    for (const type of ['application/json', 'application/octet-stream', 'multipart/related']) {
      expect((await send('{}', { 'Content-Type': type })).status).toBe(415);
    }
  });

  it('returns 400 and stores nothing without a part named artifact', async () => {
    const response = await send(formOf(['description', 'x'], ['file', await artifactBytes()]));
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringContaining('"artifact"'),
    ]);
    expect(storedFiles()).toEqual([]);
  });

  it('returns 400 if the artifact is a text part instead of a file', async () => {
    expect((await send(formOf(['artifact', 'text']))).status).toBe(400);
  });

  it.each(['', 'artifact-1', `${uuid}0`, `{${uuid}}`, '../../etc/passwd'])(
    'returns 400 and stores nothing for the artifact_id %j',
    async (id) => {
      const response = await uploadArtifact(server, await artifactBytes(), { artifact_id: id });
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringContaining('artifact_id'),
      ]);
      expect([await listArtifacts(), storedFiles()]).toEqual([[], []]);
    },
  );
});

describe('an upload beside an existing artifact', () => {
  it('returns 422 for the same ID', async () => {
    await uploadArtifact(server, await artifactBytes(), { artifact_id: uuid });
    const another = await artifactBytes({ name: 'release-2' });
    const response = await uploadArtifact(server, another, { artifact_id: uuid });
    expect([response.status, response.json().error]).toEqual([422, expect.stringContaining(uuid)]);
    expect((await listArtifacts()).map(({ name }) => name)).toEqual(['release-1']);
    expect(storedFiles()).toHaveLength(1);
  });

  it.each([
    ['the very same file', {}],
    ['the same device type', { files: [] }],
    ['one device type in common', { deviceTypes: ['board', 'other'] }],
  ])('returns 409 for the same name and %s', async (_, spec) => {
    const id = await publish(server);
    const response = await uploadArtifact(server, await artifactBytes(spec));
    expect([response.status, response.json()]).toEqual([
      409,
      {
        error: expect.stringContaining(id),
        request_id: expect.any(String),
        metadata: { conflict: { device_type: ['board'] } },
      },
    ]);
    expect([(await listArtifacts()).length, storedFiles().length]).toEqual([1, 1]);
  });

  it.each([
    ['another name', { name: 'release-2' }],
    ['no device type in common', { deviceTypes: ['other'] }],
    ['a dependency that only the new one has', { depends: { slot: ['a'] } }],
    [
      'a dependency with the name of a member',
      { depends: { constructor: ['a'], toString: ['b'] } },
    ],
  ])('returns 201 for %s', async (_, spec) => {
    await publish(server);
    expect((await uploadArtifact(server, await artifactBytes(spec))).status).toBe(201);
  });

  it('succeeds for a delta, and each device gets the artifact that it fits', async () => {
    const whole = await publish(server, { files: [{ name: 'w', content: Buffer.alloc(9000) }] });
    const delta = await publish(server, { depends: { checksum: ['old'] } });
    expect((await uploadArtifact(server, await artifactBytes())).status).toBe(409);
    const otherDelta = await artifactBytes({ depends: { checksum: ['older', 'old'] } });
    expect((await uploadArtifact(server, otherDelta)).status).toBe(409);
    const [near, far] = [await acceptedDevice(server, 'near'), await acceptedDevice(server, 'far')];
    await deploy(server, [near, far]);
    const given = async ({ token }: { token: string }, provides: Record<string, string>) =>
      instructionsIn(await nextRequests['POST v1'](server, token, { ...board, ...provides }))
        .artifact.id;
    expect(await given(near, { checksum: 'old' })).toBe(delta);
    expect(await given(far, { checksum: 'else' })).toBe(whole);
  });

  it('succeeds if its dependencies exclude the existing artifact', async () => {
    await publish(server, { depends: { slot: ['a', 'b'] } });
    const otherSlot = await artifactBytes({ depends: { slot: ['c'] } });
    const overlapping = await artifactBytes({ depends: { slot: ['b', 'd'] } });
    expect((await uploadArtifact(server, otherSlot)).status).toBe(201);
    expect((await uploadArtifact(server, overlapping)).status).toBe(409);
  });

  it('succeeds once if the same file comes ten times at once', async () => {
    const bytes = await artifactBytes();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => uploadArtifact(server, bytes)),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([
      201,
      ...new Array(9).fill(409),
    ]);
    expect([(await listArtifacts()).length, storedFiles().length]).toEqual([1, 1]);
  });
});

describe('an upload without permission', () => {
  it.each(['nobody', 'device'])('returns 401 for %s and stores nothing', async (who) => {
    const token = who === 'device' ? (await acceptedDevice(server, 'uploader')).token : 'x';
    const body = formOf(['artifact', await artifactBytes()]);
    expect((await server.call('upload-artifact', { token, body })).status).toBe(401);
    expect(storedFiles()).toEqual([]);
  });
});

describe('an upload to a storage folder that does not exist', () => {
  it('returns 507 without the path, and the server still works', async () => {
    const store = storeFolder();
    await rm(store, { recursive: true });
    const refused = await uploadArtifact(server, await artifactBytes());
    expect(refused.status).toBe(507);
    expect(refused.text).not.toContain(store);
    await mkdir(store);
    expect((await uploadArtifact(server, await artifactBytes())).status).toBe(201);
  });
});
