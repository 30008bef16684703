import { request as send } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';
import { type OpenServer, openServer } from '../server.ts';
import type { MemoryListener, MemoryRequest } from './memory-listener.ts';

let open: OpenServer;
let listener: MemoryListener;
let host: string;
beforeAll(async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 31, 12));
  const settings = { port: 0, controlPort: 0, logLevel: 'silent' } as const;
  open = await openServer({ ...settings, clock, random: seededRandom('memory') });
  listener = open.openInMemory();
  host = new URL(open.server.baseUrl).host;
});
afterAll(() => open.server.close());

interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

function requestInMemory(request: Omit<MemoryRequest, 'host'>): Promise<HttpResponse> {
  return new Promise((resolve) => {
    let head: Pick<HttpResponse, 'status' | 'headers'> = { status: 0, headers: {} };
    const chunks: Buffer[] = [];
    listener(
      { host, ...request },
      {
        onHead: (status, headers) => {
          head = { status, headers };
        },
        onData: (chunk) => chunks.push(chunk),
        onEnd: () => resolve({ ...head, body: Buffer.concat(chunks).toString() }),
      },
    );
  });
}

function requestOverHttp({
  method,
  target,
  headers,
  body,
}: Omit<MemoryRequest, 'host'>): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const url = open.server.baseUrl + target;
    const request = send(url, { method, headers, agent: false }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const { statusCode: status = 0, headers: given } = response;
      // These headers belong to a connection, which a request in memory does not have.
      const { connection: _, 'transfer-encoding': __, ...rest } = given;
      resolve({ status, headers: rest, body: Buffer.concat(chunks).toString() });
    });
    request.on('error', reject).end(body ?? undefined);
  });
}

const json = { 'Content-Type': 'application/json', 'X-SVC-RequestID': 'one' };
const admin = () => ({ ...json, Authorization: `Bearer ${open.server.adminToken}` });
const requests: Readonly<Record<string, () => Omit<MemoryRequest, 'host'>>> = {
  'a path of the table': () => ({
    method: 'GET',
    target: '/api/management/v2/devauth/devices?per_page=5',
    headers: admin(),
  }),
  'a path with a parameter': () => ({
    method: 'GET',
    target: '/api/management/v2/devauth/devices/unknown',
    headers: admin(),
  }),
  'a body that is refused': () => ({
    method: 'POST',
    target: '/api/devices/v1/authentication/auth_requests',
    headers: json,
    body: '{"id_data": 1}',
  }),
  'a token that is missing': () => ({
    method: 'GET',
    target: '/api/devices/v1/deployments/device/deployments/next',
    headers: json,
  }),
  'an unknown path': () => ({ method: 'GET', target: '/nowhere', headers: json }),
  'a method that the path has not': () => ({
    method: 'DELETE',
    target: '/api/devices/v1/authentication/auth_requests',
    headers: json,
  }),
  'a preflight': () => ({
    method: 'OPTIONS',
    target: '/api/devices/v1/authentication/auth_requests',
    headers: { ...json, Origin: 'http://page.example' },
  }),
  'a path in escapes': () => ({
    method: 'GET',
    target: '/api/management/v2/devauth/%64evices',
    headers: admin(),
  }),
};

describe('the API called in memory', () => {
  it.each(Object.entries(requests))('answers as over HTTP: %s', async (_, request) => {
    expect(await requestInMemory(request())).toEqual(await requestOverHttp(request()));
  });

  it('serves byte ranges of artifact files', async () => {
    const artifact = await writeArtifact({
      name: 'release-1',
      deviceTypes: ['board'],
      payloadType: 'single-file',
      files: [{ name: 'app.bin', content: Buffer.alloc(5000, 7) }],
      modifiedMs: 0,
    });
    const form = new FormData();
    form.append('artifact', new Blob([Uint8Array.from(artifact)]), 'release.mender');
    const encoded = new Response(form);
    const uploaded = await requestInMemory({
      method: 'POST',
      target: '/api/management/v1/deployments/artifacts',
      headers: { ...admin(), 'Content-Type': encoded.headers.get('content-type') ?? '' },
      body: Buffer.from(await encoded.arrayBuffer()),
    });
    expect(uploaded.status).toBe(201);
    const id = String(uploaded.headers.location).split('/').at(-1);
    const link = await requestInMemory({
      method: 'GET',
      target: `/api/management/v1/deployments/artifacts/${id}/download`,
      headers: admin(),
    });
    const { pathname, search } = new URL(JSON.parse(link.body).uri);
    const part = () => ({
      method: 'GET',
      target: pathname + search,
      headers: { ...json, Range: 'bytes=0-99' },
    });
    const response = await requestInMemory(part());
    expect(response).toMatchObject({
      status: 206,
      headers: { 'content-length': '100', 'content-range': `bytes 0-99/${artifact.length}` },
    });
    expect(response).toEqual(await requestOverHttp(part()));
  });
});
