import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArtifactLink, DeploymentInstructionsV1 } from '../../fixtures/contract/resources.ts';
import { openApiOf } from '../../fixtures/reference/openapi.ts';
import { artifactBytes, publish } from '../../server/testing/test-artifacts.ts';
import { board, deploy } from '../../server/testing/test-deployments.ts';
import { acceptedDevice, newDevice, signatureOf } from '../../server/testing/test-device.ts';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';
import { DocumentClient } from '../testing/document-client.ts';

let server: TestServer;
let client: DocumentClient;

beforeAll(async () => {
  server = await startTestServer();
  const document = openApiOf({ apis: ['device'], url: server.baseUrl });
  client = new DocumentClient(document, { deviceToken: '' });
});

afterAll(() => server.close());

const alert = {
  name: 'disk',
  level: 'CRITICAL',
  subject: { name: 'disk.service', type: 'systemd.unit', status: 'killed' },
  timestamp: '2026-11-21T12:00:00Z',
};

describe('a client made from the OpenAPI document of the device API', () => {
  it('authenticates, and is refused before the device is accepted', async () => {
    const { idData, publicKeyPem, privateKey } = newDevice('new');
    const body = { id_data: idData, pubkey: publicKeyPem };
    const headers = { 'X-SVC-Signature': signatureOf(JSON.stringify(body), privateKey) };
    await expect(client.call('post-auth-request', { body, headers })).rejects.toThrow('401');
    expect(client.problems).toEqual([]);
  });

  it('drives every operation, and every response is as the document says', async () => {
    const device = await acceptedDevice(server, 'one');
    const otherDevice = await acceptedDevice(server, 'other');
    const body = { id_data: device.idData, pubkey: device.publicKeyPem };
    const headers = { 'X-SVC-Signature': signatureOf(JSON.stringify(body), device.privateKey) };
    const { text: secret } = await client.call('post-auth-request', { body, headers });
    const artifactId = await publish(server, await artifactBytes());
    const id = await deploy(server, [device]);

    const query = { release_name: 'release-1', device_type: 'board' };
    await client.call('list-artifacts', { secret, query });
    await client.call('get-artifact', { secret, path: { id: artifactId } });
    const link = await client.call('get-artifact-link', { secret, path: { id: artifactId } });
    const { uri } = link.json<ArtifactLink>();
    await client.followLink('download-artifact', uri);
    const part = await client.followLink('download-artifact', uri, {
      headers: { Range: 'bytes=0-9' },
    });
    expect([part.status, part.text.length]).toEqual([206, 10]);
    await client.call('get-next-deployment', { secret, query: board });
    await client.call('post-next-deployment', { secret, body: board });
    const log = { messages: [{ timestamp: alert.timestamp, level: 'info', message: 'begun' }] };
    await client.call('put-deployment-log', { secret, path: { id }, body: log });
    await client.call('put-deployment-status', {
      secret,
      path: { id },
      body: { status: 'success' },
    });
    const nothing = await client.call('get-next-deployment', { secret, query: board });
    expect(nothing.status).toBe(204);

    const map = { priority: 1, states: { ArtifactInstall_Enter: { action: 'pause' } } };
    await deploy(server, [otherDevice], { name: 'with a map', update_control_map: map });
    const asked = { device_provides: board, update_control_map: true };
    const offer = await client.call('post-next-deployment-v2', {
      secret: otherDevice.token,
      body: asked,
    });
    const mapped = offer.json<{ id: string }>().id;
    await client.call('get-update-control-map', {
      secret: otherDevice.token,
      path: { id: mapped },
    });

    const call = {
      token: server.adminToken,
      parameters: { id: device.id },
      json: { key: 'v' },
    };
    await server.call('set-configuration', call);
    await server.call('deploy-configuration', { ...call, json: {} });
    const next = await client.call('get-next-deployment', { secret, query: board });
    const { source } = next.json<DeploymentInstructionsV1>().artifact;
    await client.followLink('download-configuration', source.uri ?? '');
    await client.call('put-configuration', { secret, body: { key: 'v' } });
    await client.call('get-configuration', { secret });

    await client.call('post-alerts', { secret, body: [alert] });
    const monitored = [{ name: 'disk', status: 'enabled', type: 'log' }];
    await client.call('post-monitor-configuration', { secret, body: monitored });
    const attributes = [{ name: 'ip_addr', value: ['10.0.0.1'] }];
    await client.call('patch-attributes', { secret, body: attributes });
    await client.call('put-attributes', { secret, body: attributes });
    const socket = await client.connect('connect', { secret });
    const closed = once(socket, 'close');
    socket.close();
    await closed;

    expect(client.problems).toEqual([]);
    expect([...client.driven].toSorted()).toEqual(client.operationIds.toSorted());
  });

  it('gets a documented 401 from every operation that needs a token', async () => {
    const responses = await Promise.all(
      client.protectedIds.map((id) => client.sendUnauthorized(id)),
    );
    expect(responses.map(({ status }) => status)).toEqual(client.protectedIds.map(() => 401));
    expect(client.problems).toEqual([]);
  });
});
