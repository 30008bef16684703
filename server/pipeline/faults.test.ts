import { once } from 'node:events';
import { connect } from 'node:net';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { postAuthRequest } from '../api/device/authentication.ts';
import { refuse } from '../http/refusal.ts';
import { newDevice, signatureOf } from '../testing/test-device.ts';
import { serveEndpoint, startPipeline, type TestPipeline } from '../testing/test-pipeline.ts';
import type { Endpoint } from './endpoint.ts';

/** After this many round trips the server must have noticed that a connection is gone. */
const ROUND_TRIPS_MAX = 1000;
const secret = 'detail that is for the log only';
const user = { id: 'u', email: 'u@example.com', passwordHash: 'none' };

let test: TestPipeline;
let closeListener: () => Promise<void>;

beforeEach(async () => {
  test = await startPipeline();
});

afterEach(async () => {
  await closeListener();
  test.close();
});

function operationOf(fields: Partial<Operation>): Operation {
  return {
    id: 'faulty',
    summary: 'Fail.',
    method: 'POST',
    path: '/faulty',
    authorization: 'signature',
    success: { 200: { mediaType: 'text/plain' }, 204: {} },
    refusals: [],
    heading: 'Errors',
    ...fields,
  };
}

/** Serves the handler and returns its URL. */
async function serve(
  handle: Endpoint['handle'],
  fields: Partial<Operation> = {},
  ownTransactions = false,
): Promise<string> {
  const endpoint = { operation: operationOf(fields), handle, ownTransactions };
  const { baseUrl, close } = await serveEndpoint(test, endpoint);
  closeListener = close;
  return `${baseUrl}/faulty`;
}

async function post(url: string, init: RequestInit = {}) {
  const headers = { 'X-SVC-RequestID': 'call-1', ...init.headers };
  const response = await fetch(url, { method: 'POST', ...init, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const handlers: readonly (readonly [string, Endpoint['handle']])[] = [
  [
    'throws',
    () => {
      throw new Error(secret);
    },
  ],
  ['rejects', () => Promise.reject(new Error(secret))],
  [
    'throws something that is not an error',
    () => {
      throw secret;
    },
  ],
];

describe('a handler that throws', () => {
  it.each(handlers)(
    'returns 500 with a fixed text, and the detail is logged: %s',
    async (name, h) => {
      const response = await post(await serve(h, {}, name === 'rejects'));
      expect(response.status).toBe(500);
      expect(JSON.parse(response.text)).toEqual({ error: 'internal error', request_id: 'call-1' });
      expect(response.headers.get('x-svc-requestid')).toBe('call-1');
      expect(test.lines).toEqual([
        { level: 'error', line: '500 POST /faulty (call-1)', cause: expect.anything() },
      ]);
      expect(String(test.lines[0]?.cause)).toContain(secret);
    },
  );

  it('leaves no written state', async () => {
    const url = await serve(() => {
      test.services.tenants.first.store.users.create(user, 0);
      throw new Error(secret);
    });
    expect((await post(url)).status).toBe(500);
    expect(test.services.tenants.first.store.users.find('u')).toBeUndefined();
  });

  it('is reported to subscribers of the activity', async () => {
    const url = await serve(() => {
      throw new Error(secret);
    });
    await post(url);
    expect(test.activities).toMatchObject([{ status: 500, requestId: 'call-1' }]);
  });

  it('does not stop the server, even in mid-body', async () => {
    const url = await serve(() => ({ status: 200, body: failingParts() }));
    await expect(post(url)).rejects.toThrow();
    const failed = test.lines.filter(({ level }) => level !== 'debug');
    expect(failed).toMatchObject([{ level: 'error', line: '500 POST /faulty (call-1)' }]);
    await expect(post(url)).rejects.toThrow();
  });
});

function* failingParts(): Generator<string> {
  yield 'the beginning';
  throw new Error(secret);
}

describe('a handler that refuses a request', () => {
  it('keeps its written state', async () => {
    const url = await serve(() => {
      test.services.tenants.first.store.users.create(user, 0);
      return refuse.conflict('it is so');
    });
    expect((await post(url)).status).toBe(409);
    expect(test.services.tenants.first.store.users.find('u')).toMatchObject({
      email: 'u@example.com',
    });
  });

  it('logs one line and publishes one activity', async () => {
    await post(await serve(() => refuse.notFound('not here')));
    expect(test.lines).toEqual([
      {
        level: 'info',
        line: '404 POST /faulty: not here (call-1); explain with: npx fleetbed explain call-1',
      },
    ]);
    expect(test.activities).toMatchObject([{ operation: 'faulty', method: 'POST', status: 404 }]);
  });

  it('may extend the Error body but not replace its fields', async () => {
    const body = { id: 'd', error: 'other', request_id: 'other' };
    const response = await post(await serve(() => refuse.conflict('it is so', undefined, body)));
    expect(JSON.parse(response.text)).toEqual({ id: 'd', error: 'it is so', request_id: 'call-1' });
  });
});

describe('a caller that disconnects in the middle of a body', () => {
  it('causes neither a handler call nor an error', async () => {
    let handled = 0;
    const url = new URL(
      await serve(
        () => {
          handled += 1;
          return { status: 204 };
        },
        { body: v.unknown() },
      ),
    );
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    await once(socket, 'connect');
    const head =
      'POST /faulty HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9';
    socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`);
    await once(socket, 'data');
    socket.resetAndDestroy();
    for (let trip = 0; trip < ROUND_TRIPS_MAX && test.lines.length === 0; trip += 1) {
      await fetch(`${url.origin}/nowhere`);
    }
    expect(test.lines).toEqual([
      { level: 'debug', line: 'POST /faulty: the connection closed before the end of the body' },
    ]);
    expect([handled, test.activities]).toEqual([0, []]);
  });
});

describe('a transaction around a handler', () => {
  it('is refused for an asynchronous handler and rolled back', async () => {
    const url = await serve(async (_input, { store }) => {
      store.users.create(user, 0);
      await Promise.resolve();
      return { status: 204 };
    });
    expect((await post(url)).status).toBe(500);
    expect(test.services.tenants.first.store.users.find(user.id)).toBeUndefined();
  });

  it('is opened only in the tenant that the device names in its body', async () => {
    const { tenants } = test.services;
    const added = await tenants.add('second', { email: 'second@example.com' });
    if (typeof added === 'string') throw new Error(added);
    const { store } = tenants.first;
    let opened = 0;
    const { atomically } = store;
    store.atomically = (work) => {
      opened += 1;
      return atomically(work);
    };
    const { baseUrl, close } = await serveEndpoint(test, postAuthRequest);
    closeListener = close;
    const { idData, publicKeyPem, privateKey } = newDevice('of-second');
    const { token: tenant_token } = added.tenant;
    const body = JSON.stringify({ id_data: idData, pubkey: publicKeyPem, tenant_token });
    const signature = signatureOf(body, privateKey);
    const headers = { 'Content-Type': 'application/json', 'X-SVC-Signature': signature };
    const url = baseUrl + postAuthRequest.operation.path;
    const response = await fetch(url, { method: 'POST', headers, body });
    expect(response.status).toBe(401);
    expect(added.tenant.store.devices.count({ status: ['pending'] })).toBe(1);
    expect(opened).toBe(0);
  });
});
