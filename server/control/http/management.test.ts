import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { entries } from '../../testing/test-audit.ts';
import { acceptedDevice, authenticate, newDevice } from '../../testing/test-device.ts';
import { connectPeer } from '../../testing/test-peer.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control, secondTenant } from '../../testing/test-tenants.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

const listDevices = `/management${pathOf(managementOperations['list-devices'])}`;
const authorization = () => ({ Authorization: `Bearer ${server.controlToken}` });

async function list(
  query = '',
): Promise<{ id: string; status: string; auth_sets: { id: string }[] }[]> {
  const { status, text } = await control(server, 'GET', listDevices + query);
  expect(status).toBe(200);
  return JSON.parse(text);
}

/** Sends headers that fetch does not allow. */
function statusWith(headers: Record<string, string>, method: string, path: string) {
  return new Promise<number>((resolve, reject) => {
    const clientRequest = request(server.controlUrl + path, { method, headers });
    clientRequest.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    clientRequest.on('error', reject).end();
  });
}

describe('the management API behind the control listener', () => {
  it('lists where each operation is', async () => {
    const { text } = await control(server, 'GET', '/management');
    const rows = JSON.parse(text);
    expect(rows['list-devices']).toEqual({
      method: 'GET',
      path: pathOf(managementOperations['list-devices']),
    });
    expect(rows['list-audit-logs'].path).toBe(operations['list-audit-logs'].path);
  });

  it('acts as the administrator, which the audit log shows', async () => {
    await authenticate(server, newDevice('console-1'));
    const [device] = await list();
    const path = pathOf(managementOperations['set-auth-set-status'], {
      id: device?.id ?? '',
      aid: device?.auth_sets[0]?.id ?? '',
    });
    const json = { status: 'accepted' };
    expect((await control(server, 'PUT', `/management${path}`, json)).status).toBe(204);
    expect((await list())[0]?.status).toBe('accepted');
    const [entry] = await entries(server, { object_id: device?.id ?? '' });
    expect(entry?.actor).toMatchObject({ type: 'user', email: server.adminEmail });
  });

  it('passes refusals of the API through', async () => {
    const path = `/management${pathOf(managementOperations['get-device'], { id: 'nobody' })}`;
    const { status, text } = await control(server, 'GET', path);
    expect(status).toBe(404);
    expect(JSON.parse(text)).toHaveProperty('request_id');
  });

  it('is absent from the journal and matches no planned fault', async () => {
    const plan = `rules: [{ id: a, match: { operation: list-devices }, act: { kind: respond, status: 502 } }]`;
    const sent = { method: 'POST', headers: authorization(), body: plan };
    expect((await fetch(`${server.controlUrl}/faults`, sent)).status).toBe(201);
    await list();
    const { text } = await control(server, 'GET', '/journal?operation=list-devices');
    expect(JSON.parse(text).entries).toEqual([]);
    await control(server, 'DELETE', '/faults');
  });

  it('is not subject to the rate limit of outside callers', async () => {
    const json = { requests: 1, windowSeconds: 60 };
    expect((await control(server, 'POST', '/rate-limit', json)).status).toBe(200);
    await list();
    await list();
    await control(server, 'DELETE', '/rate-limit');
  });

  it('acts in the named tenant', async () => {
    const { name } = await secondTenant(server);
    expect(await list(`?tenant=${name}`)).toEqual([]);
    expect((await control(server, 'GET', `${listDevices}?tenant=nobody`)).status).toBe(404);
  });

  it.each(['?Tenant=Second', '?tenant[]=Second', '?tennant=Second', '?tenant=Second&x=1'])(
    'refuses %s, an unknown parameter of the operation',
    async (query) => {
      const { status, text } = await control(server, 'GET', `${listDevices}${query}`);
      expect(status).toBe(400);
      expect(JSON.parse(text).error).toMatch(
        /^query: \S+: is unknown; the nearest parameters are /,
      );
    },
  );

  it('accepts attribute names where the operation does, but no misspelt tenant', async () => {
    const path = `/management${pathOf(managementOperations['list-inventory'])}`;
    expect((await control(server, 'GET', `${path}?color=red`)).status).toBe(200);
    expect((await control(server, 'GET', `${path}?Tenant=Second`)).status).toBe(400);
    expect((await control(server, 'GET', `${path}?color=red&tenant=nobody`)).status).toBe(404);
  });

  it('keeps working after a reset of the tenant', async () => {
    await list();
    expect((await control(server, 'POST', '/reset')).status).toBe(204);
    await list();
  });
});

describe('a request to the management API behind the control listener', () => {
  it.each([
    ['no token', {}],
    ['a wrong token', { Authorization: 'Bearer wrong' }],
  ])('returns 401 with %s', async (_, headers) => {
    expect((await fetch(server.controlUrl + listDevices, { headers })).status).toBe(401);
    expect((await fetch(`${server.controlUrl}/management`, { headers })).status).toBe(401);
  });

  it('returns 401 with the token of the administrator', async () => {
    const headers = { Authorization: `Bearer ${server.adminToken}` };
    expect((await fetch(server.controlUrl + listDevices, { headers })).status).toBe(401);
  });

  it.each([
    ['the page of another site', { Origin: 'http://evil.example' }],
    ['a name that points here', { Host: 'evil.example' }],
  ])('returns 403 from %s', async (_, headers) => {
    const path = `/management${pathOf(managementOperations['create-deployment'])}`;
    expect(await statusWith({ ...authorization(), ...headers }, 'POST', path)).toBe(403);
    expect(await statusWith({ ...authorization(), ...headers }, 'GET', listDevices)).toBe(403);
  });

  it('returns 413 for a body that is larger than the API takes', async () => {
    const path = `/management${pathOf(managementOperations['create-deployment'])}`;
    const body = `{"name":"${'x'.repeat(limits.bodyMaxBytes)}"}`;
    const headers = { ...authorization(), 'Content-Type': 'application/json' };
    const response = await fetch(server.controlUrl + path, { method: 'POST', headers, body });
    expect(response.status).toBe(413);
  });

  it.each([pathOf(operations['get-configuration']), '/nothing'])(
    'returns 404 for a path that is not an operation of users: %s',
    async (path) => {
      expect(await statusWith(authorization(), 'GET', `/management${path}`)).toBe(404);
    },
  );
});

describe('a WebSocket behind the control listener', () => {
  const wsUrl = () => server.controlUrl.replace('http', 'ws');
  const path = (id: string) =>
    `${wsUrl()}/management${pathOf(managementOperations['connect-device'], { id })}`;

  async function ticket(): Promise<string> {
    const { status, text } = await control(server, 'POST', '/management/tickets');
    expect(status).toBe(201);
    return JSON.parse(text).ticket;
  }

  async function refusalOf(url: string, headers = {}): Promise<number> {
    const socket = new WebSocket(url, { headers });
    socket.on('error', () => undefined);
    const [, response] = await once(socket, 'unexpected-response');
    socket.terminate();
    return response.statusCode;
  }

  it('connects to the device once for each ticket', async () => {
    const device = await acceptedDevice(server, 'console-socket');
    const peer = await connectPeer(server, device);
    const url = `${path(device.id)}?ticket=${await ticket()}`;
    const socket = new WebSocket(url);
    await once(socket, 'open');
    expect(await refusalOf(url)).toBe(401);
    socket.terminate();
    peer.socket.terminate();
  });

  it('returns 401 without a ticket and with an expired ticket', async () => {
    expect(await refusalOf(path('a'))).toBe(401);
    expect(await refusalOf(`${path('a')}?ticket=wrong`)).toBe(401);
    const oldTicket = await ticket();
    server.clock.advance(31_000);
    expect(await refusalOf(`${path('a')}?ticket=${oldTicket}`)).toBe(401);
  });

  it('returns 401 at another path, despite a ticket', async () => {
    expect(await refusalOf(`${wsUrl()}/events?ticket=${await ticket()}`)).toBe(401);
  });

  it('returns 403 for a foreign Origin or Host', async () => {
    const evil = 'http://evil.example';
    expect(await refusalOf(`${path('a')}?ticket=${await ticket()}`, { Origin: evil })).toBe(403);
    expect(await refusalOf(path('a'), { Host: 'evil.example' })).toBe(403);
  });

  it('returns 404 for an unknown device or tenant', async () => {
    expect(await refusalOf(`${path('a')}?ticket=${await ticket()}`)).toBe(404);
    expect(await refusalOf(`${path('a')}?tenant=nobody&ticket=${await ticket()}`)).toBe(404);
  });

  it('returns 400 for a misspelt or repeated parameter', async () => {
    expect(await refusalOf(`${path('a')}?Tenant=nobody&ticket=${await ticket()}`)).toBe(400);
    expect(await refusalOf(`${path('a')}?tenant=a&tenant=b&ticket=${await ticket()}`)).toBe(400);
  });

  it('requires the control token to issue a ticket', async () => {
    const response = await fetch(`${server.controlUrl}/management/tickets`, { method: 'POST' });
    expect(response.status).toBe(401);
  });
});
