import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationView } from '../../../fixtures/contract/management/configuration.ts';
import type { Deployment } from '../../../fixtures/contract/management/deployments.ts';
import { readArtifact } from '../../../fixtures/formats/mender-artifact.ts';
import { fetchFile } from '../../testing/test-artifacts.ts';
import {
  board,
  instructionsIn,
  nextRequests,
  report,
  statusOf,
} from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { connectPeer } from '../../testing/test-peer.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

const lifetimeSeconds = 900;
let server: TestServer;
let device: AcceptedDevice;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer({ linkLifetimeSeconds: lifetimeSeconds });
});

afterAll(() => server.close());

beforeEach(async () => {
  deviceCount += 1;
  device = await acceptedDevice(server, `deployed-${deviceCount}`);
});

function set(json: object, target = device): Promise<TestResponse> {
  const call = { token: server.adminToken, parameters: { id: target.id }, json };
  return server.call('set-configuration', call);
}

/** Deploys the configuration of the device; returns the deployment's ID. */
async function deployConfiguration(target = device): Promise<string> {
  const call = { token: server.adminToken, parameters: { id: target.id }, json: {} };
  const response = await server.call('deploy-configuration', call);
  return response.json<{ deployment_id: string }>().deployment_id;
}

/** Deploys this configuration; returns the link that the device receives. */
async function linkOf(configuration: object, provides = board): Promise<string> {
  await set(configuration);
  await deployConfiguration();
  const response = await nextRequests['POST v2'](server, device.token, provides);
  return `${instructionsIn(response).artifact.source.uri}`;
}

function contentsOf(bytes: Buffer) {
  return readArtifact(Readable.from([bytes]));
}

describe('a deployment of the configuration of a device', () => {
  it('has this one device and is visible to users', async () => {
    await set({ timezone: 'UTC' });
    const id = await deployConfiguration();
    const call = { token: server.adminToken, parameters: { id } };
    expect((await server.call('get-deployment', call)).json<Deployment>()).toMatchObject({
      id,
      name: `configuration-${id}`,
      artifact_name: `configuration-${id}`,
      type: 'configuration',
      status: 'pending',
      device_count: 1,
    });
    const view = await server.call('show-configuration', {
      token: server.adminToken,
      parameters: { id: device.id },
    });
    expect(view.json<ConfigurationView>()).toMatchObject({ deployment_id: id });
    expect(await statusOf(server, id, device)).toBe('pending');
  });

  it.each(Object.entries(nextRequests))(
    'is offered through %s for the device type in the request',
    async (name, ask) => {
      await set({ timezone: 'UTC' });
      const id = await deployConfiguration();
      const { artifact, ...rest } = instructionsIn(await ask(server, device.token, board));
      expect(rest).toEqual({ id });
      expect(artifact).toEqual({
        ...(name === 'POST v2' ? {} : { id: `${id}${device.id}` }),
        artifact_name: `configuration-${id}`,
        device_types_compatible: ['board'],
        source: {
          uri: expect.stringContaining(`/download/configuration/${id}/board/${device.id}?`),
          expire: new Date(server.clock.now() + lifetimeSeconds * 1000).toISOString(),
        },
      });
    },
  );

  it('accepts status reports like any deployment', async () => {
    await set({ timezone: 'UTC' });
    const id = await deployConfiguration();
    await nextRequests['POST v1'](server, device.token, board);
    expect((await report(server, device, { id, status: 'success' })).status).toBe(204);
    expect((await nextRequests['POST v1'](server, device.token, board)).status).toBe(204);
  });

  it('returns 409 if the device changes its request', async () => {
    await linkOf({ timezone: 'UTC' });
    const changed = { ...board, device_type: 'other' };
    expect((await nextRequests['POST v2'](server, device.token, changed)).status).toBe(409);
  });

  it('is offered again after a failure, up to the requested retries', async () => {
    await set({ timezone: 'UTC' });
    const call = { token: server.adminToken, parameters: { id: device.id }, json: { retries: 1 } };
    const response = await server.call('deploy-configuration', call);
    const { deployment_id: id } = response.json<{ deployment_id: string }>();
    for (const expected of [200, 200, 204]) {
      expect((await nextRequests['POST v1'](server, device.token, board)).status).toBe(expected);
      if (expected === 200) await report(server, device, { id, status: 'failure' });
    }
  });

  it('makes the server tell a connected device to check for updates', async () => {
    const peer = await connectPeer(server, device);
    await deployConfiguration();
    expect(await peer.next()).toMatchObject({ typ: 'check-update' });
    peer.socket.terminate();
  });

  it.each([[], 'x', null, ...[-1, 1.5, 101, 'one', null].map((retries) => ({ retries }))])(
    'returns 400 for the body %j',
    async (json) => {
      const call = { token: server.adminToken, parameters: { id: device.id }, json };
      expect((await server.call('deploy-configuration', call)).status).toBe(400);
      expect((await nextRequests['POST v2'](server, device.token, board)).status).toBe(204);
    },
  );

  it('returns 400 without a body', async () => {
    const call = { token: server.adminToken, parameters: { id: device.id } };
    expect((await server.call('deploy-configuration', call)).status).toBe(400);
  });
});

describe('the artifact file of a configuration deployment', () => {
  it('has the type mender-configure and contains the configuration', async () => {
    const configuration = { timezone: 'UTC', 'key.with$signs/ü': 'wért 😀\n', toString: 'x' };
    const uri = await linkOf(configuration);
    const { status, headers, bytes } = await fetchFile(uri);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/vnd.mender-artifact',
      'content-length': String(bytes.length),
      'content-disposition': 'attachment; filename="artifact.mender"',
    });
    const name = `configuration-${uri.split('/').at(-3)}`;
    expect(await contentsOf(bytes)).toMatchObject({
      name,
      format: 'mender',
      version: 3,
      signed: false,
      deviceTypesCompatible: ['board'],
      provides: { artifact_name: name, 'data-partition.mender-configure.version': name },
      depends: { device_type: ['board'] },
      clearsProvides: ['data-partition.mender-configure.*'],
      payloads: [{ type: 'mender-configure', metaData: configuration, files: [] }],
    });
  });

  it.each([
    'board 2',
    'board/2',
    'größe/ü 😀',
    'a+b&c=d?e#f',
    '%2F',
    'x'.repeat(200),
    "it's;(a)*test!",
  ])('is available for the device type %j and compatible with it alone', async (device_type) => {
    const uri = await linkOf({ timezone: 'UTC' }, { ...board, device_type });
    const { status, bytes } = await fetchFile(uri);
    expect(status).toBe(200);
    expect((await contentsOf(bytes)).deviceTypesCompatible).toEqual([device_type]);
  });

  it('contains the configuration from the moment of deployment', async () => {
    const uri = await linkOf({ timezone: 'UTC' });
    await set({ timezone: 'CET' });
    const { payloads } = await contentsOf((await fetchFile(uri)).bytes);
    expect(payloads[0]?.metaData).toEqual({ timezone: 'UTC' });
  });

  it('is the same at each download', async () => {
    const uri = await linkOf({ timezone: 'UTC' });
    const [first, second] = [await fetchFile(uri), await fetchFile(uri)];
    expect(first.bytes.equals(second.bytes)).toBe(true);
  });

  it('is empty if the configuration of the device is', async () => {
    await deployConfiguration();
    const response = await nextRequests['GET v1'](server, device.token, board);
    const { bytes } = await fetchFile(`${instructionsIn(response).artifact.source.uri}`);
    expect((await contentsOf(bytes)).payloads).toEqual([
      { type: 'mender-configure', metaData: {}, files: [] },
    ]);
  });
});

describe('a download with an invalid configuration link', () => {
  const laterExpiry = '2027-01-01T00:00:00.000Z';

  it.each<[string, (url: URL) => void]>([
    ['a later expiry', ({ searchParams }) => searchParams.set('x-svc-expire', laterExpiry)],
    [
      'another signature',
      ({ searchParams }) => searchParams.set('x-svc-signature', 'A'.repeat(43)),
    ],
    ['another tenant', ({ searchParams }) => searchParams.set('tenant_id', 'other')],
    [
      'another device type',
      (url) => {
        url.pathname = url.pathname.replace('/board/', '/other/');
      },
    ],
    [
      'another device',
      (url) => {
        url.pathname = url.pathname.replace(/[^/]+$/, '00000000-0000-4000-8000-000000000000');
      },
    ],
    [
      'another deployment',
      (url) => {
        url.pathname = url.pathname.replace(
          /configuration\/[^/]+/,
          'configuration/00000000-0000-4000-8000-000000000000',
        );
      },
    ],
    [
      'a device type in other letters',
      (url) => {
        url.pathname = url.pathname.replace('/board/', '/Board/');
      },
    ],
  ])('returns 403 for %s', async (_, change) => {
    const url = new URL(await linkOf({ secret: 'x' }));
    change(url);
    const { status, bytes } = await fetchFile(url.href);
    expect([status, JSON.parse(`${bytes}`)]).toEqual([
      403,
      { error: expect.any(String), request_id: expect.any(String) },
    ]);
  });

  it('returns 403 with the signature of the link to another device', async () => {
    const mine = new URL(await linkOf({ secret: 'mine' }));
    device = await acceptedDevice(server, `other-deployed-${deviceCount}`);
    const otherLink = new URL(await linkOf({ secret: 'other' }));
    otherLink.search = mine.search;
    expect((await fetchFile(otherLink.href)).status).toBe(403);
  });

  it('returns 400 for a device type with control characters', async () => {
    const laterExpiry = '2099-01-01T00:00:00.000Z';
    const forged = `x/${device.id}\nexpire=${laterExpiry}\ntenant_id=t`;
    await deployConfiguration();
    for (const poll of Object.values(nextRequests)) {
      const response = await poll(server, device.token, { ...board, device_type: forged });
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringContaining('device_type: must not hold control characters'),
      ]);
    }
  });

  it('returns 403 once the device is decommissioned', async () => {
    const uri = await linkOf({ secret: 'x' });
    const call = { token: server.adminToken, parameters: { id: device.id } };
    expect((await server.call('decommission-device', call)).status).toBe(204);
    expect((await fetchFile(uri)).status).toBe(403);
  });

  it('returns 404 if the slash in the device type is unescaped', async () => {
    const uri = await linkOf({ secret: 'x' }, { ...board, device_type: 'a/b' });
    const unescaped = uri.replace('a%2Fb', 'a/b');
    expect(unescaped).not.toBe(uri);
    expect((await fetchFile(unescaped)).status).toBe(404);
  });

  it('returns 403 from the expiry of the link on', async () => {
    const uri = await linkOf({ timezone: 'UTC' });
    server.clock.advance(lifetimeSeconds * 1000 - 1);
    expect((await fetchFile(uri)).status).toBe(200);
    server.clock.advance(1);
    expect((await fetchFile(uri)).status).toBe(403);
    const secondPoll = await nextRequests['POST v2'](server, device.token, board);
    const fresh = `${instructionsIn(secondPoll).artifact.source.uri}`;
    expect((await fetchFile(fresh)).status).toBe(200);
  });
});

describe('a download with an incomplete configuration link', () => {
  it.each<[string, (query: URLSearchParams) => void]>([
    ['no expiry', (query) => query.delete('x-svc-expire')],
    ['an empty expiry', (query) => query.set('x-svc-expire', '')],
    ['an expiry that is not a date-time', (query) => query.set('x-svc-expire', 'tomorrow')],
    ['no signature', (query) => query.delete('x-svc-signature')],
    ['an empty signature', (query) => query.set('x-svc-signature', '')],
    [
      'nothing',
      (query) =>
        [...query.keys()].forEach((name) => {
          query.delete(name);
        }),
    ],
  ])('returns 400 for %s', async (_, change) => {
    const url = new URL(await linkOf({ timezone: 'UTC' }));
    change(url.searchParams);
    const { status, bytes } = await fetchFile(url.href);
    expect([status, JSON.parse(`${bytes}`).error]).toEqual([
      400,
      expect.stringMatching(/^query: /),
    ]);
  });

  it('returns 400 with a token instead of the signature', async () => {
    const [path = ''] = (await linkOf({ timezone: 'UTC' })).split('?');
    for (const token of [device.token, server.adminToken]) {
      const headers = { Authorization: `Bearer ${token}` };
      expect((await fetchFile(path, { headers })).status).toBe(400);
    }
  });

  it('returns 200 without the empty tenant_id', async () => {
    const url = new URL(await linkOf({ timezone: 'UTC' }));
    url.searchParams.delete('tenant_id');
    expect((await fetchFile(url.href)).status).toBe(200);
  });
});

describe('a link to a configuration', () => {
  it.each(['HEAD', 'POST', 'PUT', 'DELETE'])('returns 405 for %s', async (method) => {
    expect((await fetchFile(await linkOf({ timezone: 'UTC' }), { method })).status).toBe(405);
  });

  it('uses and accepts only parameter names with the chosen prefix', async () => {
    const own = await startTestServer({ headerPrefix: 'X-MEN' });
    const prefixed = await acceptedDevice(own, 'prefixed');
    const parameters = { id: prefixed.id };
    await own.call('deploy-configuration', { token: own.adminToken, parameters, json: {} });
    const response = await nextRequests['POST v2'](own, prefixed.token, board);
    const uri = `${instructionsIn(response).artifact.source.uri}`;
    expect([...new URL(uri).searchParams.keys()]).toEqual([
      'x-men-expire',
      'x-men-signature',
      'tenant_id',
    ]);
    const statuses = [await fetchFile(uri), await fetchFile(uri.replaceAll('x-men-', 'x-svc-'))];
    await own.close();
    expect(statuses.map(({ status }) => status)).toEqual([200, 400]);
  });
});
