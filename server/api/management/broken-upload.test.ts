import { readdirSync } from 'node:fs';
import { mkdtemp, rm, watch } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { Artifact, AuditLog } from '../../../fixtures/contract/resources.ts';
import { openConnection, rawRequest, readResponse, untilClosed } from '../../testing/raw-http.ts';
import { artifactBytes, uploadArtifact } from '../../testing/test-artifacts.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

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

async function listArtifacts(): Promise<Artifact[]> {
  return (await server.call('list-all-artifacts', { token: server.adminToken })).json<Artifact[]>();
}

describe('an upload whose connection is cut', () => {
  const part = (name: string) =>
    `--cut\r\nContent-Disposition: form-data; name="${name}"; filename="a"\r\n\r\n`;

  it.each([
    ['in the middle of the file', -5000, ''],
    ['after the file, in another part', undefined, `\r\n${part('more')}more`],
  ])('leaves no file and no entry, and the server still works: %s', async (_, end, restOfBody) => {
    const watching = new AbortController();
    const changes = watch(storeFolder(), { signal: watching.signal });
    const upload = request(server.baseUrl + managementOperations['upload-artifact'].path, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${server.adminToken}`,
        'Content-Type': 'multipart/form-data; boundary=cut',
      },
    });
    upload.on('error', () => undefined);
    upload.write(part('artifact'));
    upload.write((await artifactBytes()).subarray(0, end));
    upload.write(restOfBody);
    for await (const _change of changes) {
      // The first change is the arriving file; the last one is its removal.
      if (storedFiles().length === 0) break;
      upload.destroy();
    }
    watching.abort();
    expect(await listArtifacts()).toEqual([]);
    const query = { object_type: 'artifact' };
    const logs = await server.call('list-audit-logs', { token: server.adminToken, query });
    expect(logs.json<AuditLog[]>()).toEqual([]);
    expect((await uploadArtifact(server, await artifactBytes())).status).toBe(201);
  });
});

describe('an upload whose body cannot be read as HTTP', () => {
  const { path } = managementOperations['upload-artifact'];
  const part = '--b\r\nContent-Disposition: form-data; name="artifact"; filename="a"\r\n\r\n';

  async function responseTo(framing: string, body: string, closes = true) {
    const headers = [
      `Authorization: Bearer ${server.adminToken}`,
      'Content-Type: multipart/form-data; boundary=b',
      framing,
    ];
    const socket = await openConnection(server);
    socket.write(rawRequest(`POST ${path}`, headers) + body);
    if (closes) socket.end();
    return readResponse(await untilClosed(socket));
  }

  function chunkOf(text: string, size = text.length.toString(16)): string {
    return `${size}\r\n${text}\r\n`;
  }

  const chunked = 'Transfer-Encoding: chunked';
  it.each([
    [
      'a second chunk that is longer than its size',
      chunked,
      chunkOf(part) + chunkOf('twelve bytes', '3'),
      /chunk does not end after the number of bytes/,
      false,
    ],
    [
      'text instead of chunks',
      chunked,
      `${part}twelve bytes\r\n--b--\r\n`,
      /there is no chunk size at "--b"/,
      false,
    ],
    [
      'no last chunk',
      chunked,
      chunkOf(`${part}twelve bytes`),
      /in the middle of a body in chunks; end the body with a chunk of size 0/,
    ],
    [
      'fewer bytes than Content-Length announces',
      'Content-Length: 5000',
      `${part}twelve bytes`,
      /closed after 82 of the 5,000 bytes that Content-Length announces/,
    ],
    [
      'fewer bytes than announced, before its file',
      'Content-Length: 5000',
      '--b\r\n',
      /closed after 5 of the 5,000 bytes that Content-Length announces/,
    ],
  ])(
    'returns 400 with %s in the error, and leaves no file',
    async (_name, framing, body, error, closes = true) => {
      const response = await responseTo(framing, body, closes);
      expect([response.status, JSON.parse(response.body)]).toEqual([
        400,
        { error: expect.stringMatching(error), request_id: expect.any(String) },
      ]);
      expect(response.headers).toHaveProperty('x-svc-requestid');
      expect(storedFiles()).toHaveLength(0);
    },
  );
});
