import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiOf } from '../../fixtures/reference/openapi.ts';
import type { OpenApiDocument } from '../../fixtures/reference/openapi-document.ts';
import { controlDocuments } from '../../server/control/control-documents.ts';
import { board, nextRequests } from '../../server/testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../server/testing/test-device.ts';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';
import { clientReader } from '../client-test/client-reader.ts';
import { DocumentClient } from '../testing/document-client.ts';

let server: TestServer;
let document: OpenApiDocument;
let client: DocumentClient;
let device: AcceptedDevice;

/** Starts a run that writes one line and goes on until it is stopped. */
function startRun(_request: unknown, onLine: (line: string) => void) {
  let end: (code: null) => void;
  const ended = new Promise<null>((resolve) => {
    end = resolve;
  });
  onLine('{"line":"begun"}');
  return { ended, stop: () => end(null) };
}

beforeAll(async () => {
  server = await startTestServer({ startRun, judge: () => Promise.resolve(clientReader) });
  const { baseUrl: url, controlUrl, controlToken } = server;
  document = openApiOf({ apis: ['control'], url, controlUrl, documents: controlDocuments });
  client = new DocumentClient(document, { controlToken });
  device = await acceptedDevice(server, 'one');
});

afterAll(() => server.close());

/** Calls operations of the control API without parameters, such as `get-clock`. */
async function callEach(...ids: readonly string[]): Promise<void> {
  for (const id of ids) await client.call(`control-${id}`);
}

const call: DocumentClient['call'] = (id, given) => client.call(`control-${id}`, given);

describe('a client made from the OpenAPI document of the control API', () => {
  it('drives the operations that show and control the server', async () => {
    await callEach('get-ready', 'get-openapi-json', 'get-asyncapi-json', 'get-devices');
    await call('get-overview', { query: { devices: '10' } });
    await call('get-request-counts', { query: { seconds: '10' } });
    const event = client.firstEvent('control-get-events');
    await nextRequests['POST v2'](server, device.token, board);
    expect(await event).toContain('data: ');
    await callEach('get-management', 'post-management-tickets', 'get-variations');
    await call('put-variations', { body: { variations: ['header-case'] } });
    await callEach('delete-variations', 'get-clock');
    await call('post-clock', { body: { advanceSeconds: 60 } });
    await callEach('delete-clock', 'get-rate-limit');
    await call('post-rate-limit', { body: { requests: 100, windowSeconds: 60 } });
    await callEach('delete-rate-limit', 'get-runs');
    const body = { kind: 'simulation', devices: 1, seconds: 1 };
    const run = (await call('post-runs', { body })).json<{ id: number }>();
    const path = { id: String(run.id) };
    expect(await client.firstEvent('control-get-runs-id-stream', { path })).toContain('begun');
    await call('delete-runs-id', { path });
    expect(client.problems).toEqual([]);
  });

  it('drives faults, journal, explanations and waits', async () => {
    const match = { operation: 'get-configuration' };
    const rule = { id: 'one', match, act: { kind: 'respond', status: 503 } };
    await call('post-faults', { body: { rules: [rule] } });
    await call('get-faults', { query: { tenant: 'Default' } });
    await server.call('get-configuration', { token: device.token });
    await callEach('get-faults-check', 'get-faults-schema', 'delete-faults');
    await server.call('get-device', { token: 'none', parameters: { id: 'x' } });
    const listed = await call('get-journal', { query: { limit: '500', whole: 'true' } });
    type Entry = { sequence: number; requestId: string; operation?: string };
    const { entries } = listed.json<{ entries: Entry[] }>();
    const requestId = entries.at(-1)?.requestId ?? '';
    const stream = await client.firstEvent('control-get-journal-stream', { query: { after: '0' } });
    expect(stream).toContain('post-auth-request');
    await callEach('get-journal-har');
    const first = entries.find(({ operation }) => operation === 'post-auth-request');
    const path = { sequence: String(first?.sequence) };
    await call('get-journal-sequence', { path });
    await call('get-journal-sequence-har', { path });
    await call('post-doctor-signature', { body: { sequence: first?.sequence } });
    await call('get-await', { query: { after: '0', count: '1', timeoutSeconds: '1' } });
    await call('post-assert', { body: { happened: [{ operation: 'post-auth-request' }] } });
    await call('get-explanations', { query: { device: device.id } });
    await call('get-clients');
    await call('get-clients-device', { path: { device: device.id } });
    await call('get-explanations-requestid', { path: { requestId } });
    await callEach('delete-journal');
    expect(client.problems).toEqual([]);
  });

  it('drives start states, snapshots, tenants and mail', async () => {
    const path = { name: 'one' };
    await call('put-snapshots-name', { path });
    await callEach('get-snapshots');
    await call('post-snapshots-name-restore', { path });
    await call('delete-snapshots-name', { path });
    await callEach('get-world-schema');
    await call('post-world', { body: { devices: [{ name: 'from-file' }] } });
    await call('post-reset', { body: { device: 'from-file' } });
    expect((await call('post-reset', { body: {} })).status).toBe(204);
    const admin = { adminEmail: 'fork@example.com' };
    await call('post-fork', { body: { name: 'Fork', ...admin } });
    const made = await call('post-tenants', {
      body: { name: 'Other', adminEmail: 'o@example.com' },
    });
    const id = made.json<{ id: string }>().id;
    await callEach('get-tenants');
    await call('put-tenants-id-status', { path: { id }, body: { status: 'suspended' } });
    await call('put-tenants-id-device-limit', { path: { id }, body: { limit: 5 } });
    await call('delete-tenants-id', { path: { id } });
    await callEach('delete-tenants');
    const token = server.adminToken;
    await server.call('create-user', { token, json: { email: 'invited@example.com' } });
    await callEach('get-outbox', 'delete-outbox');
    expect(client.problems).toEqual([]);
  });

  it('is valid with the schemas of fault plans and world files, which refuse wrong ones', async () => {
    const source = JSON.stringify(document);
    const { valid, errors } = await new Validator().validate(JSON.parse(source));
    expect([valid, errors]).toEqual([true, undefined]);
    const config = await createConfig({ extends: ['recommended'] });
    expect(await lintFromString({ source, config })).toEqual([]);
    const { controlToken } = server;
    const wrong = new DocumentClient(document, { controlToken });
    const rules = [{ match: { operation: 'get-configuration' }, act: { kind: 'anser' } }];
    await wrong.send('control-post-faults', { body: { rules } });
    await wrong.send('control-post-world', { body: { devicez: [] } });
    expect(wrong.problems.filter((problem) => problem.includes(': body: '))).toEqual([
      expect.stringMatching(/^control-post-faults: body: /),
      expect.stringMatching(/^control-post-world: body: .*additional properties/),
    ]);
  });

  it('has driven every operation of the document', () => {
    expect(client.operationIds.filter((id) => !client.driven.has(id))).toEqual([]);
  });

  it('gets a documented 401 from every operation that needs the token', async () => {
    const responses = await Promise.all(
      client.protectedIds.map((id) => client.sendUnauthorized(id)),
    );
    expect(responses.map(({ status }) => status)).toEqual(client.protectedIds.map(() => 401));
    expect(client.problems).toEqual([]);
  });
});
