import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../../fixtures/base/clock.ts';
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { rawRequest, sendRaw } from '../../testing/raw-http.ts';
import { artifactBytes, shownArtifact, uploadArtifact } from '../../testing/test-artifacts.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let folder: string;
let server: TestServer;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forms-test-'));
  server = await startIn(folder);
});

afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

async function startIn(temporary: string, clock = new ManualClock(0)): Promise<TestServer> {
  vi.stubEnv('TMPDIR', temporary);
  const started = await startTestServer({ clock });
  vi.unstubAllEnvs();
  return started;
}

function storedFiles(): string[] {
  return readdirSync(join(folder, readdirSync(folder)[0] ?? 'none'));
}

/** Sends a handwritten multipart body, as some clients do. */
async function handwritten(mediaType: string, description = 'by hand'): Promise<TestResponse> {
  const part = (head: string, content: Buffer | string): Buffer =>
    Buffer.concat([
      Buffer.from(`--cut\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]);
  const body = Buffer.concat([
    part('name="description"', description),
    part('name="artifact"; filename="a.mender"', await artifactBytes()),
    Buffer.from('--cut--\r\n'),
  ]);
  const headers = { 'Content-Type': `${mediaType}; boundary=cut` };
  return server.call('upload-artifact', { token: server.adminToken, headers, body });
}

describe('an upload of an artifact as multipart data', () => {
  it.each(['multipart/form-data', 'multipart/mixed', 'Multipart/Mixed'])(
    'is accepted with the media type %s',
    async (mediaType) => {
      const response = await handwritten(mediaType);
      expect(response.status).toBe(201);
      const id = `${response.headers.get('location')}`.split('/').at(-1) ?? '';
      expect(await shownArtifact(server, id)).toMatchObject({ description: 'by hand' });
    },
  );

  it('returns 415 in another multipart type, with both types in the error', async () => {
    const response = await handwritten('multipart/related');
    expect([response.status, response.json().error]).toEqual([
      415,
      expect.stringContaining('multipart/form-data" or "multipart/mixed'),
    ]);
  });
});

describe('the deprecated form part size', () => {
  it.each([
    ['before its end of life', '2027-08-24T23:59:59.999Z'],
    ['after it', '2027-08-25T00:00:00.000Z'],
  ])('is accepted and ignored %s, whatever its value', async (_, time) => {
    const own = await startTestServer({ clock: new ManualClock(Date.parse(time)) });
    const ids = ['17408', '1', '-5', 'large', ''];
    for (const [at, size] of ids.entries()) {
      const bytes = await artifactBytes({ name: `release-${at}` });
      const response = await uploadArtifact(own, bytes, { size });
      expect([size, response.status]).toEqual([size, 201]);
      const id = `${response.headers.get('location')}`.split('/').at(-1) ?? '';
      expect((await shownArtifact(own, id)).size).toBe(bytes.length);
    }
    await own.close();
  });
});

describe('a form that is too large', () => {
  const { path } = managementOperations['upload-artifact'];
  const generate = managementOperations['generate-artifact'].path;

  it.each([
    ['of an artifact', path, limits.artifactMaxBytes],
    ['of a plain file', generate, limits.generatedFileMaxBytes],
  ])('returns 413 before the body arrives by its Content-Length: %s', async (_, target, max) => {
    const response = await sendRaw(
      server,
      rawRequest(`POST ${target}`, [
        'Host: x',
        `Authorization: Bearer ${server.adminToken}`,
        'Content-Type: multipart/form-data; boundary=cut',
        `Content-Length: ${max * 2}`,
      ]),
    );
    expect([response.status, JSON.parse(response.body)]).toEqual([
      413,
      { error: expect.stringContaining(String(max)), request_id: expect.any(String) },
    ]);
  });

  it('returns 400 and leaves no file if a text part is too large', async () => {
    const response = await handwritten(
      'multipart/form-data',
      'x'.repeat(limits.uploadFieldMaxBytes + 1),
    );
    expect([response.status, response.json().error]).toEqual([
      400,
      `description: must have at most ${limits.uploadFieldMaxBytes} bytes`,
    ]);
    expect(storedFiles()).toEqual([]);
  });

  const tooManyParts = 'the multipart body has more than 40 parts; send only the required ones';

  it('returns 400 and leaves no file if it has too many parts', async () => {
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, 'x']));
    const response = await uploadArtifact(server, await artifactBytes(), fields);
    expect([response.status, response.json().error, storedFiles()]).toEqual([
      400,
      tooManyParts,
      [],
    ]);
  });

  it('returns 400 and leaves no file if parts behind the file are too large', async () => {
    const form = new FormData();
    form.append('artifact', new Blob([new Uint8Array(await artifactBytes())]), 'a.mender');
    for (let part = 0; part < limits.uploadPartsMax; part += 1) form.append('x', '');
    const response = await server.call('upload-artifact', { token: server.adminToken, body: form });
    expect([response.status, response.json().error]).toEqual([400, tooManyParts]);
    await expect.poll(storedFiles).toEqual([]);
  });
});
