/** Data written by a device must never break what others read, whatever field holds it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '../../testing/test-artifacts.ts';
import { board, deploy, nextRequests } from '../../testing/test-deployments.ts';
import {
  type AcceptedDevice,
  authenticate,
  knownDevices,
  newDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';

/** These texts are names of built-in members, or they end, cut or redirect other texts. */
const texts = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'toJSON', 'hasOwnProperty'],
  ...['\u0000', 'a\u0000b', '\ud800', '\udc00x', '\u202egnp', '\u2028', '\ufeff', 'e\u0301'],
  ...['a\r\nb', '"', "'", ',', '=1+1', '<script>', '%00', '../../..', 'NaN', '-0', '1e400', 'null'],
];

/** These values are JSON text, because an object literal would set a prototype. */
const values = [
  '{"toString":1,"valueOf":1}',
  '{"toJSON":1}',
  '{"__proto__":{"toString":null}}',
  '{"constructor":{"name":1},"length":-1,"then":1}',
  '[[{"toString":null}]]',
  ...['null', 'true', '-0', '1e308', '5e-324', '[]', '{}', '""', '"\\u0000"', '"\\ud800"'],
];

const timestamp = '2026-11-21T12:00:00Z';
const documented = [200, 204, 400, 404, 409];
let server: TestServer;
let device: AcceptedDevice;
let deploymentId: string;

beforeAll(async () => {
  server = await startTestServer({ autoAccept: true });
  await publish(server);
  device = await arrived({ mac: 'writer' });
  deploymentId = await deploy(server, [device], { all_devices: undefined });
  await nextRequests['POST v1'](server, device.token, board);
});

afterAll(() => server.close());

/** Returns a device with this identity, which the server accepts automatically. */
async function arrived(identity: object | string, more: object = {}): Promise<AcceptedDevice> {
  const idData = typeof identity === 'string' ? identity : JSON.stringify(identity);
  const hostileDevice = { ...newDevice('poison'), idData };
  const body = JSON.stringify({ ...more, id_data: idData, pubkey: hostileDevice.publicKeyPem });
  expect((await authenticate(server, hostileDevice, { body })).status).toBe(401);
  const { status, text: token } = await authenticate(server, hostileDevice, { body });
  expect([status, idData]).toEqual([200, idData]);
  return { ...hostileDevice, token, ...(await idsOf(hostileDevice.publicKeyPem)) };
}

async function idsOf(pubkey: string) {
  const known = await knownDevices(server, { per_page: '500' });
  const found = known.find(({ auth_sets: sets }) => sets.some((set) => set.pubkey === pubkey));
  return { id: found?.id ?? '', authSetId: found?.auth_sets[0]?.id ?? '' };
}

/** Writes the text to every field that a device can write. */
function writes(text: string): Promise<TestResponse>[] {
  const { token } = device;
  const parameters = { id: deploymentId };
  const subject = { name: text, type: text, status: text, details: { description: text } };
  const attribute = { name: text, value: [text], description: text };
  const message = { timestamp, level: text, message: text };
  return [
    server.call('patch-attributes', { token, json: [attribute, { name: `x${text}`, value: 1 }] }),
    server.call('put-configuration', { token, body: `{${JSON.stringify(text)}:"x"}`, headers }),
    server.call('put-configuration', { token, json: { x: text } }),
    server.call('post-alerts', { token, json: [{ name: text, level: 'OK', subject, timestamp }] }),
    server.call('post-monitor-configuration', {
      token,
      json: [{ name: text, status: text, type: text }],
    }),
    server.call('put-deployment-status', {
      token,
      parameters,
      json: { status: 'installing', substate: text },
    }),
    server.call('put-deployment-log', { token, parameters, json: { messages: [message] } }),
    server.call('post-next-deployment-v2', {
      token,
      body: `{"device_provides":{"device_type":"board","artifact_name":"release-0",${JSON.stringify(`p${text}`)}:${JSON.stringify(text)}}}`,
      headers,
    }),
    server.call('get-next-deployment', { token, query: { ...board, artifact_name: text } }),
  ];
}

const headers = { 'Content-Type': 'application/json' };

async function expectRead(responses: readonly Promise<TestResponse>[]): Promise<void> {
  for (const response of await Promise.all(responses)) {
    expect([response.status, response.status === 200 || response.text]).toEqual([200, true]);
    response.json();
  }
}

/** Sends every request that reads this device. */
function readsOfDevice(): Promise<TestResponse>[] {
  const ofDevice = { token: server.adminToken, parameters: { id: device.id } };
  return [
    server.call('get-inventory', ofDevice),
    server.call('show-configuration', ofDevice),
    server.call('list-alerts', ofDevice),
    server.call('list-latest-alerts', ofDevice),
    server.call('show-monitor-configuration', ofDevice),
    server.call('list-device-deployments', ofDevice),
    server.call('get-configuration', { token: device.token }),
  ];
}

/** Sends every request that reads all devices, with the hostile texts as filters and sort keys. */
async function expectReadable(): Promise<void> {
  const { adminToken: token } = server;
  const deployment = { token, parameters: { id: deploymentId } };
  const per_page = '500';
  const names = [...texts, 'mac', 'identity/mac', 'identity/__proto__', 'system/constructor'];
  const filters = new URLSearchParams(names.map((name): [string, string] => [name, name]));
  const sort = names.map((name) => `${name.replaceAll(',', '')}:asc`).join(',');
  const search = { filters: [], page: 1, per_page: 500 };
  const key = { scope: 'identity', attribute: 'mac' };
  await expectRead([
    ...readsOfDevice(),
    server.call('list-devices', { token, query: { per_page } }),
    server.call('list-inventory', { token, query: { per_page, sort } }),
    server.call('list-inventory', { token, query: filters }),
    server.call('search-inventory', { token, json: { ...search, text: '[object x' } }),
    server.call('search-inventory', {
      token,
      json: { ...search, sort: [{ ...key, order: 'asc' }] },
    }),
    server.call('search-inventory', {
      token,
      json: { ...search, filters: [{ ...key, type: '$regex', value: 'to' }] },
    }),
    server.call('list-filterable-attributes', { token }),
    server.call('list-audit-logs', { token, query: { per_page } }),
    server.call('list-deployment-devices', deployment),
  ]);
  expect((await server.call('get-deployment-log', deployment)).status).toBeLessThan(500);
  const csv = await server.call('export-audit-logs', { token });
  expect([csv.status, csv.text.startsWith('action,')]).toEqual([200, true]);
  const own = `device=${device.id}`;
  const journal = [`/journal?limit=500&${own}&whole=true`, `/journal.har?${own}`];
  for (const path of [...journal, `/await?timeoutSeconds=0&${own}`, '/overview']) {
    const response = await control(server, 'GET', path);
    expect([path, [200, 408].includes(response.status) || response.text]).toEqual([path, true]);
    JSON.parse(response.text);
  }
}

describe('hostile text written by a device', () => {
  it('is stored or refused in every field, and all reads still succeed', async () => {
    for (const text of texts) {
      for (const response of await Promise.all(writes(text))) {
        expect(documented).toContain(response.status);
      }
      await expectRead(readsOfDevice());
    }
    await expectReadable();
  });

  it('is read by users as the device wrote it', async () => {
    const writable = texts.filter((text) => !/\p{Cs}/u.test(text));
    const json = writable.map((name) => ({ name, value: [name, name], description: name }));
    const { token, id } = device;
    expect((await server.call('put-attributes', { token, json })).status).toBe(200);
    const call = { token: server.adminToken, parameters: { id } };
    const view = (await server.call('get-inventory', call)).json<{ attributes: object[] }>();
    expect(view.attributes).toEqual(
      expect.arrayContaining(json.map((attribute) => expect.objectContaining(attribute))),
    );
  });

  it('does not break any read if it is in the identity', async () => {
    const names = ['mac', '__proto__', 'constructor', 'toString', 'toJSON', 'status', ''];
    for (const value of values) {
      const members = names.map((name) => `${JSON.stringify(name)}:${value}`);
      const poisoned = await arrived(`{${members.join(',')}}`, { external_id: value });
      const { token } = poisoned;
      const json = [{ name: 'x', value: 'x' }];
      expect((await server.call('put-attributes', { token, json })).status).toBe(200);
    }
    await expectReadable();
  });

  it('returns 400 if it has half a surrogate pair', async () => {
    const json = [{ name: 'x', value: ['ok', 'half \ud83d'] }];
    const response = await server.call('put-attributes', { token: device.token, json });
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringContaining('half a surrogate pair'),
    ]);
    const whole = [{ name: 'x', value: 'whole \ud83d\ude00, and \\ud83d' }];
    const taken = await server.call('put-attributes', { token: device.token, json: whole });
    expect(taken.status).toBe(200);
  });
});
