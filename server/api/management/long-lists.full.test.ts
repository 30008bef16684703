import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { InventoryDevice } from '../../../fixtures/contract/management/inventory.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { openConnection, rawRequest } from '../../testing/raw-http.ts';
import { reportingDevice } from '../../testing/test-inventory.ts';
import { journalPage } from '../../testing/test-journal.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

/** More than connections hold on their way. */
const DEVICES = 120;
/** One client may leave as much unread as the server makes ahead, and ten of them may not. */
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

/** Asks for all devices on a connection that is not read. */
async function unreadList(id: string): Promise<Socket> {
  const socket = await openConnection(server);
  socket.pause();
  const headers = [`Authorization: Bearer ${server.adminToken}`];
  socket.write(rawRequest(listLine, [...headers, `${server.headerPrefix}-RequestID: ${id}`]));
  return socket;
}

describe('a list of the inventory', () => {
  it('has its length up to 256 KiB, and comes in chunks beyond', async () => {
    const [short, long] = [await page(1), await page(500)];
    expect(short.headers.get('content-length')).toBe(String(Buffer.byteLength(short.text)));
    expect(long.headers.get('content-length')).toBeNull();
    const devices = long.json<InventoryDevice[]>();
    expect(long.text).toBe(JSON.stringify(devices));
    expect(devices).toHaveLength(DEVICES);
    expect(devices[0]).toEqual(short.json<InventoryDevice[]>()[0]);
    expect(long.headers.get('x-total-count')).toBe(String(DEVICES));
  });

  it('in chunks is in the journal with its whole size and its beginning', async () => {
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

describe('a list that its client does not read', () => {
  it('is cut where the answers that nobody reads are too many', async () => {
    const ids = Array.from({ length: 12 }, (_, at) => `unread-${at}`);
    const sockets = await Promise.all(ids.map(unreadList));
    await untilOneIsCut(ids);
    for (const socket of sockets) socket.destroy();
    expect((await page(500)).json<InventoryDevice[]>()).toHaveLength(DEVICES);
  });
});

/** Asks until the journal has one of these exchanges as cut. */
async function untilOneIsCut(ids: readonly string[]): Promise<void> {
  for (let trip = 0; trip < 1000; trip += 1) {
    const { entries } = await journalPage(server, 'operation=list-inventory&limit=500');
    if (entries.some(({ requestId = '', cut }) => ids.includes(requestId) && cut)) return;
  }
  throw new Error('no answer was cut');
}

describe('a search whose client has gone', () => {
  it('stops, and the next one of its caller is answered', async () => {
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
    const reply = await server.call('list-inventory', { token: server.adminToken, query });
    const [first] = reply.json<InventoryDevice[]>();
    expect(first?.attributes.find(({ name }) => name === 'at')?.value).toBe(DEVICES - 1);
    const { entries } = await journalPage(server, 'operation=list-inventory&limit=500');
    const gone = entries.filter(({ requestId }) => requestId?.startsWith('gone-'));
    expect(gone.some(({ cut }) => cut)).toBe(true);
  });
});
