import { afterEach, describe, expect, it } from 'vitest';
import { type DialectName, dialectNames } from '../../fixtures/contract/dialects.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { SettingError } from '../settings.ts';
import { publish } from '../testing/test-artifacts.ts';
import { abort, board, deploy, instructionsIn, nextRequests } from '../testing/test-deployments.ts';
import { acceptedDevice, authenticate, newDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { secondTenant } from '../testing/test-tenants.ts';

const servers: TestServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function startAs(...dialects: DialectName[]): Promise<TestServer> {
  const server = await startTestServer({ dialects: new Set(dialects) });
  servers.push(server);
  return server;
}

const rows = Object.values({ ...operations, ...managementOperations }) as Operation[];
const enterprise = [
  'post-next-deployment-v2',
  'get-update-control-map',
  'list-artifacts',
  'get-artifact',
  'get-artifact-link',
  'post-alerts',
  'post-monitor-configuration',
  'list-audit-logs',
  'export-audit-logs',
  'list-alerts',
  'list-latest-alerts',
  'show-monitor-configuration',
  'switch-alert-emails',
  'get-own-tenant-v1',
  'get-own-tenant',
  'get-tenant-token',
];

function targetOf({ path }: Operation): string {
  return path.replace(/\{\w+\}/g, 'some');
}

describe('the set of dialects', () => {
  it('keeps the server from starting if it names an unknown dialect', async () => {
    const dialects = new Set(['open-sauce' as DialectName]);
    const starting = startTestServer({ dialects });
    await expect(starting).rejects.toThrow(SettingError);
    await expect(startTestServer({ dialects })).rejects.toThrow('dialect "open-sauce" is unknown');
  });

  it('can contain all dialects at once', async () => {
    const server = await startAs(...dialectNames);
    expect((await server.call('count-devices', { token: server.adminToken })).status).toBe(200);
  });
});

describe('the dialect open-source', () => {
  it.each(enterprise)('returns 404 for %s, with a token and without', async (id) => {
    const server = await startAs('open-source');
    const operation = rows.find((row) => row.id === id);
    if (!operation) throw new Error(`there is no operation ${id}`);
    for (const call of [{}, { token: server.adminToken }]) {
      const response = await server.request(operation.method, targetOf(operation), call);
      expect(response.status).toBe(404);
      expect(response.json().error).toBe('this API has no such path');
    }
  });

  it('serves every operation of the open-source edition', async () => {
    const server = await startAs('open-source');
    const refused: string[] = [];
    for (const row of rows) {
      const response = await server.request(row.method, targetOf(row));
      if (response.text.includes('no such path')) refused.push(row.id);
    }
    expect(refused.toSorted()).toEqual(enterprise.toSorted());
  });

  it('lets a client fall back from version 2 to version 1', async () => {
    const server = await startAs('open-source');
    const { token } = await acceptedDevice(server, 'falls back');
    const provides = { device_type: 'board', artifact_name: 'one' };
    const v2 = { token, json: { device_provides: provides } };
    expect((await server.call('post-next-deployment-v2', v2)).status).toBe(404);
    const v1 = { token, json: provides };
    expect((await server.call('post-next-deployment', v1)).status).toBe(204);
  });

  it('ignores the tenant_token of a device', async () => {
    const [open, strict] = [await startAs('open-source'), await startAs()];
    for (const server of [open, strict]) await secondTenant(server);
    for (const [server, sentence] of [
      [open, 'device not authorized'],
      [strict, 'the tenant_token is unknown'],
    ] as const) {
      const device = newDevice('of a tenant');
      const body = JSON.stringify({
        id_data: device.idData,
        pubkey: device.publicKeyPem,
        tenant_token: 'from elsewhere',
      });
      const response = await authenticate(server, device, { body });
      expect(response.status).toBe(401);
      expect(response.json().error).toContain(sentence);
    }
  });
});

describe('the dialect token-before-routing', () => {
  const unknown = ['/api/devices/v1/deployments/nowhere', '/api/management/v1/nowhere'] as const;

  it.each(unknown)(
    'returns 401, not 404, for an unknown path without a token: %s',
    async (path) => {
      const [server, plain] = [await startAs('token-before-routing'), await startAs()];
      expect((await server.request('GET', path)).status).toBe(401);
      expect((await server.request('GET', path, { token: 'no token' })).status).toBe(401);
      expect((await plain.request('GET', path)).status).toBe(404);
    },
  );

  it('returns 404 for an unknown path with a valid token', async () => {
    const server = await startAs('token-before-routing');
    const { token } = await acceptedDevice(server, 'lost');
    expect((await server.request('GET', unknown[0], { token })).status).toBe(404);
    const admin = { token: server.adminToken };
    expect((await server.request('GET', unknown[1], admin)).status).toBe(404);
    expect((await server.request('GET', unknown[0], admin)).status).toBe(401);
  });

  it('returns 401, not 405, for a wrong method without a token', async () => {
    const server = await startAs('token-before-routing');
    const { path } = operations['get-configuration'];
    expect((await server.request('DELETE', path)).status).toBe(401);
    const { token } = await acceptedDevice(server, 'wrong method');
    expect((await server.request('DELETE', path, { token })).status).toBe(405);
  });

  it('requires no token for a path outside the API', async () => {
    const server = await startAs('token-before-routing');
    expect((await server.request('GET', '/nowhere')).status).toBe(404);
  });
});

describe('the dialect storage-host', () => {
  async function linkOf(server: TestServer): Promise<URL> {
    const { token } = await acceptedDevice(server, 'reader');
    const parameters = { id: await publish(server) };
    const response = await server.call('get-artifact-link', { token, parameters });
    return new URL(response.json<{ uri: string }>().uri);
  }

  it('serves artifact files at a separate port, and nothing else there', async () => {
    const server = await startAs('storage-host');
    const link = await linkOf(server);
    expect(link.origin).toBe(server.storageUrl);
    expect(link.origin).not.toBe(server.baseUrl);
    expect((await fetch(link)).status).toBe(200);
    const { path } = managementOperations['count-devices'];
    const headers = { Authorization: `Bearer ${server.adminToken}` };
    expect((await fetch(link.origin + path, { headers })).status).toBe(404);
  });

  it('applies to all links to artifact files, not to configuration links', async () => {
    const server = await startAs('storage-host');
    const device = await acceptedDevice(server, 'reader');
    const parameters = { id: await publish(server) };
    const admin = { token: server.adminToken };
    const response = await server.call('get-artifact-download', { ...admin, parameters });
    const links = [response.json<{ uri: string }>().uri];
    const deployment = await deploy(server, [device]);
    for (const ask of Object.values(nextRequests)) {
      links.push(`${instructionsIn(await ask(server, device.token, board)).artifact.source.uri}`);
    }
    for (const link of links) {
      expect(new URL(link).origin).toBe(server.storageUrl);
      expect((await fetch(link)).status).toBe(200);
    }
    await abort(server, deployment);
    const call = { ...admin, parameters: { id: device.id }, json: {} };
    await server.call('deploy-configuration', call);
    const offered = instructionsIn(await nextRequests['POST v2'](server, device.token, board));
    const { origin } = new URL(`${offered.artifact.source.uri}`);
    expect([origin, (await fetch(`${offered.artifact.source.uri}`)).status]).toEqual([
      server.baseUrl,
      200,
    ]);
  });

  it('serves no artifact file at the port of the API', async () => {
    const server = await startAs('storage-host');
    const link = await linkOf(server);
    expect((await fetch(server.baseUrl + link.pathname + link.search)).status).toBe(404);
  });

  it('checks the parameters of a link at the separate port too', async () => {
    const server = await startAs('storage-host');
    const link = await linkOf(server);
    link.searchParams.set('x-svc-expire', '2030-01-01T00:00:00.000Z');
    expect((await fetch(link)).status).toBe(403);
  });

  it('keeps the host name that the caller used in the link', async () => {
    const server = await startAs('storage-host');
    const { token } = await acceptedDevice(server, 'reader');
    const parameters = { id: await publish(server) };
    const byName = server.baseUrl.replace('127.0.0.1', 'localhost');
    const path = operations['get-artifact-link'].path.replace('{id}', parameters.id);
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(byName + path, { headers });
    const { uri } = (await response.json()) as { uri: string };
    expect(new URL(uri).hostname).toBe('localhost');
    expect(new URL(uri).port).toBe(new URL(server.storageUrl ?? '').port);
  });

  it('closes the separate port together with the server', async () => {
    const server = await startTestServer({ dialects: new Set(['storage-host']) });
    await server.close();
    await expect(fetch(server.storageUrl ?? '')).rejects.toThrow();
  });
});

describe('the dialect rs256', () => {
  it('signs tokens with an RSA key and accepts them', async () => {
    const server = await startAs('rs256');
    const { token } = await acceptedDevice(server, 'rs256');
    const [head = '', , signature = ''] = token.split('.');
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({
      alg: 'RS256',
      typ: 'JWT',
    });
    expect(Buffer.from(signature, 'base64url')).toHaveLength(256);
    expect((await server.call('get-configuration', { token })).status).toBe(200);
  });

  it('returns 401 for tokens of another server and altered tokens', async () => {
    const [server, other] = [await startAs('rs256'), await startAs('rs256')];
    const { token } = await acceptedDevice(server, 'rs256');
    expect((await other.call('get-configuration', { token })).status).toBe(401);
    const [head, payload, signature = ''] = token.split('.');
    const altered = `${head}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    expect((await server.call('get-configuration', { token: altered })).status).toBe(401);
    const plain = await startAs();
    expect((await plain.call('get-configuration', { token })).status).toBe(401);
  });
});
