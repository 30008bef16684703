import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../fixtures/base/random.ts';
import type { ArtifactLink } from '../../../fixtures/contract/resources.ts';
import { artifactBytes, fetchFile, linkTo, publish } from '../../testing/test-artifacts.ts';
import { board, deploy, instructionsIn, nextRequests } from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startOfTest, startTestServer, type TestServer } from '../../testing/test-server.ts';

const lifetimeSeconds = 600;
let server: TestServer;
let device: AcceptedDevice;
let bytes: Buffer;
let artifactId: string;

beforeEach(async () => {
  server = await startTestServer({ linkLifetimeSeconds: lifetimeSeconds });
  device = await acceptedDevice(server, 'link-reader');
  bytes = await artifactBytes();
  artifactId = await publish(server, bytes);
});

afterEach(() => server.close());

/** Returns the link with its query changed by `change`. */
function changed({ uri }: ArtifactLink, change: (query: URLSearchParams) => void): string {
  const url = new URL(uri);
  change(url.searchParams);
  return url.href;
}

describe('a download link of an artifact', () => {
  it('returns the file without a token, more than once', async () => {
    const { uri, expire } = await linkTo(server, device.token, artifactId);
    expect(expire).toBe(new Date(startOfTest + lifetimeSeconds * 1000).toISOString());
    for (const use of [1, 2]) {
      const { status, bytes: got } = await fetchFile(uri);
      expect([use, status, got.equals(bytes)]).toEqual([use, 200, true]);
    }
  });

  it('is issued to users and by each operation for the next deployment', async () => {
    const call = { token: server.adminToken, parameters: { id: artifactId } };
    const links = [(await server.call('get-artifact-download', call)).json<ArtifactLink>().uri];
    await deploy(server, [device]);
    for (const ask of Object.values(nextRequests)) {
      const response = await ask(server, device.token, board);
      links.push(`${instructionsIn(response).artifact.source.uri}`);
    }
    for (const uri of links) expect((await fetchFile(uri)).bytes.equals(bytes)).toBe(true);
    expect(links).toHaveLength(4);
  });

  it('expires exactly at its expiry time', async () => {
    const { uri, expire } = await linkTo(server, device.token, artifactId);
    server.clock.advance(Date.parse(expire) - startOfTest - 1);
    expect((await fetchFile(uri)).status).toBe(200);
    server.clock.advance(1);
    const { status, bytes: body } = await fetchFile(uri);
    expect([status, JSON.parse(`${body}`)]).toEqual([
      403,
      { error: expect.stringContaining('expired'), request_id: expect.any(String) },
    ]);
  });

  it('still works after another upload under the same artifact name', async () => {
    const { uri } = await linkTo(server, device.token, artifactId);
    await publish(server, { deviceTypes: ['other'] });
    expect((await fetchFile(uri)).bytes.equals(bytes)).toBe(true);
  });

  it('returns 404 once the artifact is deleted', async () => {
    const { uri } = await linkTo(server, device.token, artifactId);
    const call = { token: server.adminToken, parameters: { id: artifactId } };
    expect((await server.call('delete-artifact', call)).status).toBe(204);
    expect((await fetchFile(uri)).status).toBe(404);
  });
});

describe('a download with an altered artifact link', () => {
  const laterExpiry = new Date(startOfTest + 3_600_000).toISOString();

  it.each<[string, (query: URLSearchParams) => void]>([
    ['a later expiry', (query) => query.set('x-svc-expire', laterExpiry)],
    [
      'an expiry in other letters',
      (query) => query.set('x-svc-expire', `${query.get('x-svc-expire')}`.toLowerCase()),
    ],
    ['another signature', (query) => query.set('x-svc-signature', 'A'.repeat(43))],
    ['a signature of one letter', (query) => query.set('x-svc-signature', 'A')],
    [
      'a signature with one letter more',
      (query) => query.set('x-svc-signature', `${query.get('x-svc-signature')}A`),
    ],
    [
      'a signature that is padded',
      (query) => query.set('x-svc-signature', `${query.get('x-svc-signature')}=`),
    ],
    ['a signature that is not ASCII', (query) => query.set('x-svc-signature', 'ü'.repeat(43))],
    ['another tenant', (query) => query.set('tenant_id', 'tenant-1')],
  ])('returns 403 for %s', async (_, change) => {
    const link = await linkTo(server, device.token, artifactId);
    const { status, bytes: body } = await fetchFile(changed(link, change));
    expect(status).toBe(403);
    expect(JSON.parse(`${body}`)).toHaveProperty('request_id');
  });

  it('returns 403 for the ID of another artifact', async () => {
    const otherArtifactId = await publish(server, { name: 'other' });
    const { uri } = await linkTo(server, device.token, artifactId);
    expect((await fetchFile(uri.replace(artifactId, otherArtifactId))).status).toBe(403);
  });

  it('returns 403 for a link of another server', async () => {
    const otherServer = await startTestServer({ random: seededRandom('other') });
    const { uri } = await linkTo(server, device.token, artifactId);
    const { status } = await fetchFile(uri.replace(server.baseUrl, otherServer.baseUrl));
    await otherServer.close();
    expect(status).toBe(403);
  });

  it('returns 403 for an expired link with a later expiry', async () => {
    const link = await linkTo(server, device.token, artifactId);
    server.clock.advance(lifetimeSeconds * 1000);
    const moved = changed(link, (query) => query.set('x-svc-expire', laterExpiry));
    expect((await fetchFile(moved)).status).toBe(403);
  });
});

describe('a download with an incomplete artifact link', () => {
  it.each<[string, string, (query: URLSearchParams) => void]>([
    ['no expiry', 'x-svc-expire', (query) => query.delete('x-svc-expire')],
    ['an empty expiry', 'x-svc-expire', (query) => query.set('x-svc-expire', '')],
    [
      'an expiry without an offset',
      'x-svc-expire',
      (query) => query.set('x-svc-expire', '2026-11-21T13:00:00'),
    ],
    [
      'an expiry in Unix seconds',
      'x-svc-expire',
      (query) => query.set('x-svc-expire', '1795266000'),
    ],
    [
      'an expiry on no day',
      'x-svc-expire',
      (query) => query.set('x-svc-expire', '2026-02-30T00:00:00Z'),
    ],
    ['no signature', 'x-svc-signature', (query) => query.delete('x-svc-signature')],
    ['an empty signature', 'x-svc-signature', (query) => query.set('x-svc-signature', '')],
  ])('returns 400 for %s', async (_, name, change) => {
    const link = await linkTo(server, device.token, artifactId);
    const { status, bytes: body } = await fetchFile(changed(link, change));
    expect([status, JSON.parse(`${body}`).error]).toEqual([400, expect.stringContaining(name)]);
  });

  it('returns 400 without a query, even with a device token', async () => {
    const { uri } = await linkTo(server, device.token, artifactId);
    const headers = { Authorization: `Bearer ${device.token}` };
    expect((await fetchFile(uri.split('?')[0] ?? '', { headers })).status).toBe(400);
  });
});

describe('a non-GET request for a download link of an artifact', () => {
  it.each(['HEAD', 'PUT', 'POST', 'DELETE', 'PATCH'])('returns 405 for %s', async (method) => {
    const { uri } = await linkTo(server, device.token, artifactId);
    const { status, headers } = await fetchFile(uri, { method });
    expect([status, headers.allow]).toEqual([405, 'GET, OPTIONS']);
    expect(headers['x-svc-requestid']).toMatch(/./);
  });
});
