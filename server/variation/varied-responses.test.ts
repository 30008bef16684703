import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import { journalObserver } from '../journal/observer.ts';
import { journalOf, openJournals } from '../journal/tenant-journal.ts';
import { openListeners } from '../listeners/listeners.ts';
import { openLog } from '../pipeline/log.ts';
import { openServices } from '../pipeline/open-services.ts';
import { completeSettings } from '../settings.ts';
import { rawRequest, untilClosed } from '../testing/raw-http.ts';
import { artifactBytes, fetchFile, linkTo, publish } from '../testing/test-artifacts.ts';
import {
  board,
  deploy,
  instructionsIn,
  nextRequests,
  report,
  statusOf,
} from '../testing/test-deployments.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { startOfTest, startTestServer, type TestServer } from '../testing/test-server.ts';
import { openVariation } from './variation.ts';
import { variationRows } from './variations.ts';
import { variationTransform } from './varied-response.ts';

const ROUNDS = 24;
const open: { close(): Promise<void> }[] = [];

async function start(varySeed?: string): Promise<TestServer> {
  const server = await startTestServer(varySeed === undefined ? {} : { variationSeed: varySeed });
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function exchange(baseUrl: string, request: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  socket.write(request);
  return untilClosed(socket);
}

/** Requests the list of users, whose response on a fresh server is always the same bytes. */
function listUsers(server: TestServer, version = '1.1'): Promise<string> {
  const path = '/api/management/v1/useradm/users?per_page=1';
  const authorization = `Authorization: Bearer ${server.adminToken}`;
  const request = rawRequest(`GET ${path}`, ['Host: test', authorization]);
  return exchange(server.baseUrl, request.replace('HTTP/1.1', `HTTP/${version}`));
}

async function listOften(server: TestServer): Promise<string[]> {
  const responses: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) responses.push(await listUsers(server));
  return responses;
}

describe('a server without a variation seed', () => {
  it('answers in the default format each time', async () => {
    const server = await start();
    const forms = (await listOften(server)).map((response) =>
      response.replace(/^X-SVC-RequestID: .*$/m, '').replace(/^Date: .*$/m, ''),
    );
    expect(new Set(forms).size).toBe(1);
    expect(forms[0]).toContain('\r\nContent-Type: application/json; charset=utf-8\r\n');
    expect(forms[0]).toContain('\r\nContent-Length: ');
  });
});

describe('a server with a variation seed', () => {
  it('varies the case and order of headers, and chunked or sized bodies', async () => {
    const responses = await listOften(await start('wire'));
    const heads = responses.map((response) => response.split('\r\n\r\n')[0] ?? '');
    const names = new Set(
      heads.flatMap((head) => [...head.matchAll(/^[\w-]+(?=:)/gm)].map(String)),
    );
    for (const name of ['content-type', 'CONTENT-TYPE', 'Content-Type', 'content-length']) {
      expect(names).toContain(name);
    }
    const chunked = responses.filter((response) =>
      /^transfer-encoding: chunked\r$/im.test(response),
    );
    expect(chunked.length).toBeGreaterThan(0);
    expect(chunked.length).toBeLessThan(ROUNDS);
    for (const response of responses) {
      const length = /^content-length: (\d+)\r$/im.exec(response)?.[1];
      expect(length === undefined).toBe(chunked.includes(response));
      const body = response.slice(response.indexOf('\r\n\r\n') + 4);
      if (length !== undefined) expect(Buffer.from(body, 'latin1').length).toBe(Number(length));
      else expect(body.match(/^[0-9a-f]+\r\n/gm)?.length).toBeGreaterThan(2);
    }
    const orders = heads.map((head) =>
      [...head.toLowerCase().matchAll(/^(x-svc-requestid|content-type|link)(?=:)/gm)].join(),
    );
    expect(new Set(orders).size).toBeGreaterThan(2);
  });

  it('sends no chunks to an HTTP/1.0 client, which cannot read them', async () => {
    const server = await start('wire');
    for (let round = 0; round < ROUNDS; round += 1) {
      const response = await listUsers(server, '1.0');
      expect(response).not.toMatch(/^transfer-encoding:/im);
      const body = Buffer.from(response.slice(response.indexOf('\r\n\r\n') + 4), 'latin1');
      expect(JSON.parse(String(body))).toHaveLength(1);
    }
  });

  it('answers like another server with that seed and unlike one with another', async () => {
    const [one, same, other] = [await start('a'), await start('a'), await start('b')];
    const orders = await listOften(one);
    expect(await listOften(same)).toEqual(orders);
    expect(await listOften(other)).not.toEqual(orders);
  });

  it('creates links that work in every created spelling and in no other', async () => {
    const server = await start('links');
    const bytes = await artifactBytes();
    const id = await publish(server, bytes);
    const { token } = await acceptedDevice(server, 'links');
    const spellings = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const { uri } = await linkTo(server, token, id);
      spellings.add(uri);
      expect((await fetchFile(uri)).bytes.equals(bytes)).toBe(true);
      const alteredLink = new URL(uri);
      alteredLink.searchParams.set('x-svc-expire', '2099-01-01T00:00:00.000Z');
      expect((await fetchFile(alteredLink.href)).status).toBe(403);
    }
    expect(spellings.size).toBeGreaterThan(ROUNDS / 2);
  });

  it.each(['a', 'b', 'c', 'd', 'e', 'f'])(
    'accepts with "%s" a deployment ID in its own and the users\' format',
    async (seed) => {
      const server = await start(seed);
      await publish(server);
      const device = await acceptedDevice(server, 'ids');
      const known = await deploy(server, [device], {
        update_control_map: { states: { ArtifactInstall_Enter: { action: 'pause' } } },
      });
      const { id } = instructionsIn(await nextRequests['POST v2'](server, device.token, board));
      const instructions = instructionsIn(
        await nextRequests['POST v2'](server, device.token, board),
      );
      expect(instructions.id).toBe(id);
      const { status } = await report(server, device, { id, status: 'downloading' });
      expect([status, await statusOf(server, known, device)]).toEqual([204, 'downloading']);
      const call = { token: device.token, parameters: { id } };
      const map = await server.call('get-update-control-map', call);
      expect([map.status, map.json()]).toMatchObject([200, { update_control_map: { id } }]);
      const messages = [{ timestamp: '2026-01-01T00:00:00Z', level: 'info', message: 'm' }];
      const log = await server.call('put-deployment-log', { ...call, json: { messages } });
      expect(log.status).toBe(204);
      expect((await report(server, device, { id: known, status: 'success' })).status).toBe(204);
    },
  );

  it('refuses an unknown deployment, whatever the format of its ID', async () => {
    const server = await start('ids');
    const device = await acceptedDevice(server, 'ids');
    for (const id of ['a'.repeat(32), 'A'.repeat(22), seededRandom('none').uuid(), 'none']) {
      expect((await report(server, device, { id, status: 'success' })).status).toBe(404);
    }
  });

  it("keeps a caller's request ID; generated ones match in header and body", async () => {
    const server = await start('request IDs');
    const requestIds = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const sent = await server.request('GET', '/nowhere', {
        headers: { 'X-SVC-RequestID': 'mine' },
      });
      expect(sent.headers.get('x-svc-requestid')).toBe('mine');
      const own = await server.request('GET', '/nowhere');
      const id = own.headers.get('x-svc-requestid') ?? '';
      expect([id, undefined]).toContain(own.json().request_id);
      expect(own.json().error).not.toBe('');
      requestIds.add(id);
    }
    expect(requestIds.size).toBe(ROUNDS);
    expect([...requestIds].filter((id) => /^[0-9a-f-]{36}$/.test(id))).toEqual([]);
  });
});

describe('the journal of varied responses', () => {
  it('records for every response what was varied, and by which rule', async () => {
    const clock = new ManualClock(startOfTest);
    const settings = completeSettings({ port: 0, logLevel: 'silent' });
    const random = seededRandom('journal');
    const log = openLog('silent');
    const onTenantCreated = openJournals({ entriesMax: 1000, bytesMax: 1_000_000 });
    const services = await openServices({ settings, clock, random, log, onTenantCreated });
    const { baseUrl, close } = await openListeners(services, {
      observers: [journalObserver],
      transforms: [variationTransform(openVariation('journal'))],
    });
    open.push({ close: () => close().then(() => services.tenants.close()) });
    const path = pathOf(operations['get-configuration']);
    for (let round = 0; round < ROUNDS; round += 1) await (await fetch(baseUrl + path)).text();
    const records = [...journalOf(services.tenants.first).entries()].filter(
      (entry): entry is ExchangeRecord => entry.kind === 'exchange',
    );
    const rules = new Map<string, string>(variationRows.map(({ id, rule }) => [id, rule]));
    const varied = records.flatMap((record) => record.varied ?? []);
    expect(records).toHaveLength(ROUNDS);
    expect(records.every((record) => record.varied?.[0]?.id === 'request-ids')).toBe(true);
    expect(new Set(varied.map(({ id }) => id)).size).toBeGreaterThan(6);
    for (const { id, rule } of varied) expect(rule).toBe(rules.get(id));
  });
});
