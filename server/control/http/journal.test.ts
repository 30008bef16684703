import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectProtocols } from '../../../fixtures/formats/connect-message.ts';
import { rawRequest, sendRaw } from '../../testing/raw-http.ts';
import { publish } from '../../testing/test-artifacts.ts';
import {
  board,
  deploy,
  instructionsIn,
  nextRequests,
  report,
} from '../../testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  newDevice,
} from '../../testing/test-device.ts';
import { awaited, journalPage } from '../../testing/test-journal.ts';
import { connectPeer, connectUser } from '../../testing/test-peer.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control, secondTenant } from '../../testing/test-tenants.ts';

let server: TestServer;
let device: AcceptedDevice;
let deployment: string;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'aa:01');
  await publish(server);
  deployment = await deploy(server, [device]);
  await nextRequests['POST v2'](server, device.token, board);
  await report(server, device, { id: deployment, status: 'downloading' });
  await report(server, device, { id: deployment, status: 'rebooting' });
  await report(server, device, { id: deployment, status: 'success' });
  await report(server, device, { id: deployment, status: 'success' });
}, 30_000);

afterAll(() => server.close());

describe('the journal of a tenant', () => {
  it('lists exchanges oldest first, with its bounds and size', async () => {
    const { bounds, size, entries, next } = await journalPage(server);
    expect(bounds).toEqual({ entriesMax: 10_000, bytesMax: 67_108_864 });
    expect(size).toMatchObject({ kept: size.added, dropped: 0 });
    expect(size.bytes).toBeGreaterThan(0);
    expect(next).toBe(size.added);
    expect(entries.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: size.kept }, (_, index) => index + 1),
    );
    expect(entries.at(-1)).toMatchObject({
      kind: 'exchange',
      at: '2026-11-21T12:00:00.000Z',
      operation: 'put-deployment-status',
      method: 'PUT',
      deployment,
      device: { id: device.id, identity: '{"mac":"aa:01"}' },
    });
    expect(entries.at(-1)).not.toHaveProperty('requestBody');
  });

  it('exports one exchange as an archive with the same data', async () => {
    const { text } = await control(
      server,
      'GET',
      `/journal/${(await journalPage(server)).next}/har`,
    );
    const { entries } = JSON.parse(text).log;
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ request: { method: 'PUT' }, response: { status: 204 } });
    for (const [sequence, status] of [
      ['0', 400],
      ['x', 400],
      ['99999', 404],
    ] as const) {
      expect((await control(server, 'GET', `/journal/${sequence}/har`)).status).toBe(status);
    }
  });

  it('shows which deployment was created, offered and reported', async () => {
    const { entries } = await journalPage(server, `deployment=${deployment}`);
    expect(entries.map(({ operation }) => operation)).toEqual([
      'create-deployment',
      'post-next-deployment-v2',
      ...Array(4).fill('put-deployment-status'),
    ]);
  });

  it('finds a device by its identity before it has an ID', async () => {
    const unknownDevice = newDevice('aa:99');
    await authenticate(server, unknownDevice, { signature: 'bad' });
    const { entries } = await journalPage(server, 'device=aa%3A99');
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      operation: 'post-auth-request',
      device: { identity: unknownDevice.idData },
      refusal: { status: entries[0]?.status },
    });
  });

  it.each([
    ['operation=post-auth-request&status=401', 'post-auth-request'],
    ['status=4xx&operation=post-auth-request', 'post-auth-request'],
    ['user=admin%40example.com&method=post', 'create-deployment'],
    ['kind=exchange&text=/status', 'put-deployment-status'],
    ['since=2026-11-21T12:00:00Z&until=2026-11-21T12:00:00Z', undefined],
  ])('can be filtered by %s', async (query, operation) => {
    const { entries } = await journalPage(server, query);
    expect(entries.length).toBeGreaterThan(0);
    if (operation !== undefined) {
      expect(entries.map((entry) => entry.operation)).toContain(operation);
    }
    const all = await journalPage(server, 'limit=500');
    if (operation !== undefined) expect(entries.length).toBeLessThan(all.entries.length);
  });

  it.each([
    'status=500',
    'user=nobody%40example.com',
    'deployment=none',
    'until=2026-11-21T11:59:59Z',
    'since=2026-11-21T12:00:01Z',
    'text=there-is-no-such-path',
    'kind=frame&method=GET',
    'after=100000',
  ])('is empty when filtered by %s', async (query) => {
    expect((await journalPage(server, query)).entries).toEqual([]);
  });

  it('can be read page by page from a sequence without a gap', async () => {
    const { size } = await journalPage(server);
    const seen: number[] = [];
    let lastSequence = 0;
    for (let more = true; more; ) {
      const found = await journalPage(server, `after=${lastSequence}&limit=3`);
      seen.push(...found.entries.map(({ sequence }) => sequence));
      expect(found.entries.length).toBeLessThanOrEqual(3);
      ({ next: lastSequence, more } = found);
    }
    expect(seen).toEqual(Array.from({ length: size.added }, (_, index) => index + 1));
  });

  it('shows a single entry with all headers and bodies', async () => {
    const query = `deployment=${deployment}&operation=put-deployment-status&status=204`;
    const [{ sequence } = { sequence: 0 }] = (await journalPage(server, query)).entries;
    const response = await control(server, 'GET', `/journal/${sequence}`);
    const { entry } = JSON.parse(response.text);
    expect(response.status).toBe(200);
    expect(entry.requestBody).toEqual({ status: 'downloading' });
    expect(entry.requestHeaders).toContainEqual([
      expect.stringMatching(/^authorization$/i),
      '[masked]',
    ]);
    expect(entry.responseHeaders.flat()).toContain('X-SVC-RequestID');
  });

  it('contains requests that matched no operation too', async () => {
    await server.request('GET', '/no/such/path');
    await server.request('PATCH', '/api/devices/v1/authentication/auth_requests');
    await server.request('GET', '/api/management/v2/devauth/devices/%zz');
    await server.request('OPTIONS', '/api/devices/v1/authentication/auth_requests');
    const { entries } = await journalPage(server, 'limit=4');
    expect(entries.map(({ method, status }) => [method, status])).toEqual([
      ['GET', 404],
      ['PATCH', 405],
      ['GET', 400],
      ['OPTIONS', 204],
    ]);
    expect(entries[0]).not.toHaveProperty('operation');
    expect(entries[1]?.refusal?.error).toContain('POST');
  });

  it('contains unparsable HTTP requests with only their request line', async () => {
    await sendRaw(server, 'GET /path?token=hidden HTTP/1.1\r\nAuthorization hidden\r\n\r\n');
    await sendRaw(server, 'this is not HTTP\r\n\r\n');
    const { entries } = await journalPage(server, 'kind=unparsable');
    expect(entries).toHaveLength(2);
    expect(entries[0]).toMatchObject({ status: 400, line: 'GET /path?token=[masked] HTTP/1.1' });
    expect(entries[1]).toMatchObject({ status: 400, cause: 'not-http' });
    expect(entries[1]).not.toHaveProperty('line');
    expect(JSON.stringify(entries)).not.toContain('hidden');
  });

  it('marks a body that is cut after 16 KiB', async () => {
    const message = 'x'.repeat(30_000);
    const messages = [{ timestamp: '2026-11-21T12:00:00Z', level: 'info', message }];
    const parameters = { id: deployment };
    await server.call('put-deployment-log', {
      token: device.token,
      parameters,
      json: { messages },
    });
    const { entries } = await journalPage(server, 'operation=put-deployment-log&whole=true');
    expect(entries[0]).toMatchObject({ requestBodyCutAt: 16_384, status: 204 });
    expect(entries[0]?.requestBytes).toBeGreaterThan(30_000);
    expect(String(entries[0]?.requestBody)).toHaveLength(16_384);
  });

  it('records a download when it ends, with device, length and status', async () => {
    const pendingDevice = await pending();
    const answered = await nextRequests['POST v2'](server, pendingDevice.token, board);
    const { uri = '' } = instructionsIn(answered).artifact.source;
    const file = await fetch(uri, { headers: { Range: 'bytes=0-99' } });
    await file.arrayBuffer();
    const { page } = await awaited(server, 'operation=download-artifact&after=0&whole=true');
    expect(page.entries[0]).toMatchObject({
      status: 206,
      responseBytes: 100,
      device: { id: pendingDevice.id },
    });
    expect(page.entries[0]).not.toHaveProperty('cut');
    expect(page.entries[0]?.path).toContain('signature=[masked]');
    const response = await fetch(uri, { headers: { Range: 'bytes=99999999-' } });
    await response.text();
    const lastSequence = page.entries[0]?.sequence;
    const refused = await awaited(
      server,
      `operation=download-artifact&after=${lastSequence}&whole=true`,
    );
    expect(refused.page.entries[0]).toMatchObject({ status: 416, refusal: { status: 416 } });
    const own = await journalPage(server, `device=${pendingDevice.id}&operation=download-artifact`);
    expect(own.entries.map(({ status }) => status)).toEqual([206, 416]);
    // The signature of a link does not cover the device, so any text may stand in its place.
    const link = new URL(uri);
    for (const text of ['nobody', '', 'x'.repeat(5000)]) {
      link.searchParams.set('device_id', text);
      const otherResponse = await fetch(link);
      await otherResponse.arrayBuffer();
      const from = refused.page.entries[0]?.sequence;
      const ended = await awaited(server, `operation=download-artifact&after=${from}&whole=true`);
      expect(ended.page.entries[0]).toMatchObject({ status: 200 });
      expect(ended.page.entries[0]).not.toHaveProperty('device');
    }
  });

  it('records an exchange whose body arrived incomplete', async () => {
    const head = rawRequest(
      'PUT /api/devices/v1/deployments/device/deployments/x/status',
      [
        `Authorization: Bearer ${device.token}`,
        'Content-Length: 100',
        'Content-Type: application/json',
      ],
      '{',
    );
    const { size } = await journalPage(server);
    const { hostname, port } = new URL(server.baseUrl);
    const { connect } = await import('node:net');
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, 'connect');
    socket.write(head);
    socket.end();
    const query = `kind=exchange&after=${size.added}&timeoutSeconds=600`;
    const { page } = await awaited(server, query);
    expect(page.entries[0]).toMatchObject({
      status: 400,
      cut: true,
      device: { id: device.id },
      refusal: { error: expect.stringMatching(/closed after 1 of the 100 bytes that Content-Len/) },
    });
  });

  it('contains only exchanges of that tenant', async () => {
    const otherTenant = await secondTenant(server, 'Journaled');
    await server.call('list-devices', { token: otherTenant.token });
    const { entries } = await journalPage(server, `tenant=${otherTenant.id}`);
    expect(entries.map(({ operation }) => operation)).toEqual(['list-devices']);
    const mine = await journalPage(server, `after=${0}&limit=500`);
    const requestIds = mine.entries.map(({ requestId }) => requestId);
    for (const { requestId } of entries) expect(requestIds).not.toContain(requestId);
    await control(server, 'DELETE', `/journal?tenant=${otherTenant.id}`);
    expect((await journalPage(server, `tenant=${otherTenant.id}`)).entries).toEqual([]);
    expect((await journalPage(server)).entries.length).toBeGreaterThan(0);
  });
});

async function pending(): Promise<AcceptedDevice> {
  const one = await acceptedDevice(server, 'aa:02');
  await deploy(server, [one]);
  return one;
}

describe('the frames of a WebSocket', () => {
  it('are recorded in both directions, for devices and users, with their envelopes', async () => {
    const peer = await connectPeer(server, device);
    const user = await connectUser(server, device);
    const { size } = await journalPage(server);
    const body = Buffer.from('echo hello');
    user.say({ proto: connectProtocols.shell, typ: 'shell', sid: 'mine', body });
    const heard = await peer.nextOf('shell');
    peer.reply(heard, { proto: connectProtocols.shell, typ: 'shell', body: Buffer.from('hello') });
    await user.next();
    user.socket.close(1000);
    await once(user.socket, 'close');
    peer.socket.close();
    await once(peer.socket, 'close');
    const query = `kind=frame&after=${size.added}&whole=true&count=6`;
    const { entries } = (await awaited(server, query)).page;
    const frames = entries.map(({ socket, from, opcode, typ }) => [socket, from, opcode, typ]);
    expect(frames.slice(0, 4)).toEqual([
      ['user', 'client', 'message', 'shell'],
      ['device', 'server', 'message', 'shell'],
      ['device', 'client', 'message', 'shell'],
      ['user', 'server', 'message', 'shell'],
    ]);
    expect(frames.slice(4)).toContainEqual(['user', 'client', 'close', undefined]);
    expect(entries[0]).toMatchObject({
      proto: 1,
      sid: 'mine',
      body: 'echo hello',
      device: { id: device.id },
      operation: 'connect-device',
    });
    expect(entries[2]).toMatchObject({ sid: heard.sid, body: 'hello', operation: 'connect' });
  });

  it('keep their envelope when they are cut', async () => {
    const peer = await connectPeer(server, device);
    const user = await connectUser(server, device);
    const { size } = await journalPage(server);
    const sent = peer.socket;
    user.say({ proto: connectProtocols.shell, typ: 'new' });
    const heard = await peer.nextOf('new');
    peer.reply(heard, { proto: 1, typ: 'shell', body: Buffer.alloc(100_000) });
    await user.next();
    const query = `kind=frame&text=shell&after=${size.added}&whole=true`;
    const { entries } = (await awaited(server, query)).page;
    expect(entries[0]).toMatchObject({ proto: 1, typ: 'shell', bodyCutAt: 16_384 });
    expect(entries[0]?.bytes).toBeGreaterThan(100_000);
    user.socket.terminate();
    sent.terminate();
  });
});

describe('the stream of the journal', () => {
  function reader(query: string): Promise<IncomingMessage> {
    const headers = { Authorization: `Bearer ${server.controlToken}` };
    return new Promise((resolve, reject) => {
      get(`${server.controlUrl}/journal/stream?${query}`, { headers }, resolve).on('error', reject);
    });
  }

  async function firstEvent(stream: IncomingMessage): Promise<string> {
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) {
      text += chunk;
      const event = text.split('\n\n').find((one) => one.startsWith('id: '));
      if (event) return event;
    }
    throw new Error(`the stream ended: ${text}`);
  }

  it('sends matching entries as they arrive', async () => {
    const stream = await reader('status=404&text=followed');
    expect(stream.headers['content-type']).toContain('text/event-stream');
    const event = firstEvent(stream);
    await server.request('GET', '/other');
    await server.request('GET', '/followed?password=hidden');
    const [id, name, data] = (await event).split('\n');
    expect(id).toMatch(/^id: \d+$/);
    expect(name).toBe('event: exchange');
    expect(JSON.parse(data?.slice('data: '.length) ?? '')).toMatchObject({
      path: '/followed?password=[masked]',
      status: 404,
    });
  });

  it('starts with the stored entries after a sequence', async () => {
    const event = await firstEvent(await reader('after=0&operation=create-deployment'));
    expect(event).toContain(deployment);
  });

  it.each([
    [400, 'limit=1'],
    [400, 'kind=none'],
    [404, 'tenant=none'],
  ])('returns %i for the query %s', async (status, query) => {
    const stream = await reader(query);
    stream.resume();
    expect(stream.statusCode).toBe(status);
  });
});
