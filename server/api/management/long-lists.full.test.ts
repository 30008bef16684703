import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { InventoryDevice } from '../../../fixtures/contract/management/inventory.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { openConnection, rawRequest } from '../../testing/raw-http.ts';
import { reportingDevice } from '../../testing/test-inventory.ts';
import { journalPage } from '../../testing/test-journal.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

/** A list of these devices exceeds the buffers of a connection. */
const DEVICES = 120;
/** The limit allows one client with unread data, but not ten of them. */
const UNREAD_MAX_BYTES = 650_000;
const VALUE = 'v'.repeat(200_000);

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ connectionLimits: { unreadMaxBytes: UNREAD_MAX_BYTES } });
  for (let at = 0; at < DEVICES; at += 1) {
    await reportingDevice(server, `d-${String(at).padStart(3, '0')}`, { note: VALUE, at });
  }
});

afterAll(() => server.close());

function page(perPage: number) {
  const query = { per_page: String(perPage) };
  return server.call('list-inventory', { token: server.adminToken, query });
}

const listLine = `GET ${pathOf(managementOperations['list-inventory'])}?per_page=500`;

/** Requests all devices on a connection that is not read. */
async function unreadList(id: string): Promise<Socket> {
  const socket = await openConnection(server);
  socket.pause();
  const headers = [`Authorization: Bearer ${server.adminToken}`];
  socket.write(rawRequest(listLine, [...headers, `${server.headerPrefix}-RequestID: ${id}`]));
  return socket;
}

describe('an inventory list', () => {
  it('has a Content-Length up to 256 KiB, and comes in chunks beyond', async () => {
    const [short, long] = [await page(1), await page(500)];
    expect(short.headers.get('content-length')).toBe(String(Buffer.byteLength(short.text)));
    expect(long.headers.get('content-length')).toBeNull();
    const devices = long.json<InventoryDevice[]>();
    expect(long.text).toBe(JSON.stringify(devices));
    expect(devices).toHaveLength(DEVICES);
    expect(devices[0]).toEqual(short.json<InventoryDevice[]>()[0]);
    expect(long.headers.get('x-total-count')).toBe(String(DEVICES));
  });

  it('is in the journal with its total size and its first bytes if sent in chunks', async () => {
    const { text } = await page(500);
    const { entries } = await journalPage(server, 'operation=list-inventory&limit=500&whole=true');
    expect(entries.at(-1)).toMatchObject({
      status: 200,
      responseBody: expect.stringMatching(/^\[\{"id"/),
      responseBodyCutAt: expect.any(Number),
      responseBytes: Buffer.byteLength(text),
    });
  });
});

describe('an inventory list that its client does not read', () => {
  it('is cut off if too much unread data accumulates', async () => {
    const ids = Array.from({ length: 12 }, (_, at) => `unread-${at}`);
    const sockets = await Promise.all(ids.map(unreadList));
    await untilOneIsCut(ids);
    for (const socket of sockets) socket.destroy();
    expect((await page(500)).json<InventoryDevice[]>()).toHaveLength(DEVICES);
  });
});

/** Polls the journal until one of these exchanges is marked as cut. */
async function untilOneIsCut(ids: readonly string[]): Promise<void> {
  for (let trip = 0; trip < 1000; trip += 1) {
    const { entries } = await journalPage(server, 'operation=list-inventory&limit=500');
    if (entries.some(({ requestId = '', cut }) => ids.includes(requestId) && cut)) return;
  }
  throw new Error('no response was cut');
}

describe('an inventory list whose client has disconnected', () => {
  it('is aborted, and the next request of the same user succeeds', async () => {
    const line = `${listLine}&sort=note:asc,at:desc`;
    const headers = [`Authorization: Bearer ${server.adminToken}`];
    const sockets = await Promise.all(Array.from({ length: 60 }, () => openConnection(server)));
    for (const [at, socket] of sockets.entries()) {
      const id = `${server.headerPrefix}-RequestID: gone-${at}`;
      socket.write(rawRequest(line, [...headers, id]));
    }
    await page(1);
    for (const socket of sockets) socket.resetAndDestroy();
    const query = { sort: 'at:desc', per_page: '1' };
    const response = await server.call('list-inventory', { token: server.adminToken, query });
    const [first] = response.json<InventoryDevice[]>();
    expect(first?.attributes.find(({ name }) => name === 'at')?.value).toBe(DEVICES - 1);
    const { entries } = await journalPage(server, 'operation=list-inventory&limit=500');
    const disconnected = entries.filter(({ requestId }) => requestId?.startsWith('gone-'));
    expect(disconnected.some(({ cut }) => cut)).toBe(true);
  });
});
