/** Creates and uploads artifacts in tests, and fetches their files. */
import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import type { Artifact, ArtifactLink } from '../../fixtures/contract/resources.ts';
import { writeArtifact } from '../../fixtures/formats/mender-artifact.ts';
import { startOfTest, type TestResponse, type TestServer } from './test-server.ts';

/** The input of `writeArtifact`: names, device types, payloads. */
type ArtifactSpec = Parameters<typeof writeArtifact>[0];

/** The response to a link's file. */
export interface FileResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Returns the bytes of a small artifact `release-1` for the device type `board`. */
export function artifactBytes(spec: Partial<ArtifactSpec> = {}): Promise<Buffer> {
  return writeArtifact({
    name: 'release-1',
    deviceTypes: ['board'],
    payloadType: 'single-file',
    files: [{ name: 'app.bin', content: Buffer.from('content of app.bin') }],
    modifiedMs: startOfTest,
    ...spec,
  });
}

/** Returns the bytes of a file written by Debian's tool, such as `signed`. */
export function debianArtifact(name: string): Buffer {
  const vectors = new URL('../../fixtures/vectors/mender-artifact/', import.meta.url);
  return readFileSync(new URL(`${name}.mender`, vectors));
}

/** Uploads the file as a user; `fields` are the parts before it. */
export function uploadArtifact(
  server: TestServer,
  file: Buffer,
  fields: Readonly<Record<string, string>> = {},
): Promise<TestResponse> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('artifact', new Blob([new Uint8Array(file)]), 'release.mender');
  return server.call('upload-artifact', { token: server.adminToken, body: form });
}

/** Uploads an artifact that must be accepted; returns its ID. @throws Error when it is refused */
export async function publish(
  server: TestServer,
  file: Buffer | Partial<ArtifactSpec> = {},
): Promise<string> {
  const bytes = Buffer.isBuffer(file) ? file : await artifactBytes(file);
  const response = await uploadArtifact(server, bytes);
  const id = response.headers.get('location')?.split('/').at(-1);
  if (response.status !== 201 || id === undefined)
    throw new Error(`the upload was refused: ${response.text}`);
  return id;
}

/** Returns the artifact as users see it. */
export async function shownArtifact(server: TestServer, id: string): Promise<Artifact> {
  const response = await server.call('show-artifact', {
    token: server.adminToken,
    parameters: { id },
  });
  return response.json<Artifact>();
}

/** Returns a device's link to the artifact's file. */
export async function linkTo(server: TestServer, token: string, id: string): Promise<ArtifactLink> {
  const response = await server.call('get-artifact-link', { token, parameters: { id } });
  return response.json<ArtifactLink>();
}

/**
 * Requests a URL unchanged and without a token. Not with `fetch`, which adds headers of its own
 * when there is a precondition.
 */
export function fetchFile(
  url: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: OutgoingHttpHeaders } = {},
): Promise<FileResponse> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(url, { method, headers });
    clientRequest.on('error', reject);
    clientRequest.on('response', async (response) => {
      const bytes = Buffer.concat(await response.toArray());
      resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes });
    });
    clientRequest.end();
  });
}
