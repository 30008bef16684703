import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controlRows } from '../../../fixtures/control/operations.ts';
import { seenReader } from '../../client-feed/testing/seen-reader.ts';
import { publish } from '../../testing/test-artifacts.ts';
import { board, deploy, nextRequests } from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer({ judge: () => Promise.resolve(() => seenReader()) });
  device = await acceptedDevice(server, 'a');
  await publish(server);
  await deploy(server, [device], { name: 'rows' });
  await nextRequests['POST v2'](server, device.token, board);
  await server.call('get-device', { token: 'none', parameters: { id: 'x' } });
  await control(server, 'PUT', '/snapshots/one');
});

afterAll(() => server.close());

const rule = {
  id: 'one',
  match: { operation: 'get-inventory' },
  act: { kind: 'respond', status: 503 },
};
const journalOf = async (): Promise<{ entries: { requestId: string; sequence: number }[] }> =>
  JSON.parse((await control(server, 'GET', '/journal')).text);

/** Parameters and contents that a call needs besides its path. */
const given: Readonly<Record<string, { query?: () => string; json?: unknown }>> = {
  'GET /await': { query: () => 'after=0&whole=true' },
  'GET /explanations': { query: () => `device=${device.id}` },
  'GET /journal': { query: () => 'whole=true' },
  'POST /assert': { json: { happened: [{ operation: 'post-auth-request' }] } },
  'POST /clock': { json: { advanceSeconds: 1 } },
  'POST /doctor/signature': { json: { sequence: 1 } },
  'POST /faults': { json: { rules: [rule] } },
  'POST /fork': { json: { name: 'Fork', adminEmail: 'fork@example.com' } },
  'POST /rate-limit': { json: { requests: 5, windowSeconds: 1 } },
  'POST /tenants': { json: { name: 'Other', adminEmail: 'other@example.com' } },
  'POST /world': { json: { devices: [{ name: 'one' }] } },
};

/** These calls are left out: a run cannot start here, and others remove what the rows show. */
const left = /^(POST \/runs|PUT .*|DELETE .*\}.*|DELETE \/journal|POST \/reset)$/;
const answering = Object.keys(controlRows).filter((id) => {
  const { response, stream } = controlRows[id] ?? {};
  return response && !stream && !left.test(id);
});

describe('the operation table of the control API', () => {
  it.each(answering)('lists every member of the response to %s', async (id) => {
    const { entries } = await journalOf();
    const refused = entries.at(-1)?.requestId ?? '';
    const [method = '', path = ''] = id
      .replace('{requestId}', refused)
      .replace('{sequence}', '1')
      .replace('{device}', device.id)
      .split(' ');
    const { query, json } = given[id] ?? {};
    const target = query ? `${path}?${query()}` : path;
    const { status, text } = await control(server, method, target, json);
    const row = controlRows[id];
    expect([id, status]).toEqual([id, row?.status ?? 200]);
    const response: unknown = JSON.parse(text);
    expect(v.parse(row?.response ?? v.never(), response)).toEqual(response);
  });
});
