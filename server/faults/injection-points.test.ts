import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { board } from '../testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  knownDevices,
  newDevice,
} from '../testing/test-device.ts';
import { attributeOf } from '../testing/test-inventory.ts';
import { startTestServer, type TestResponse, type TestServer } from '../testing/test-server.ts';
import { control, logIn } from '../testing/test-tenants.ts';
import { check, plan, ruleCounts } from './testing/planned.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeEach(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'd-1');
});

afterEach(() => server.close());

const attributes = [{ name: 'rack', value: 'r7' }];

function putAttributes(): Promise<TestResponse> {
  return server.call('patch-attributes', { token: device.token, json: attributes });
}

function rackOf(): Promise<unknown> {
  return attributeOf(server, device.id, 'inventory', 'rack');
}

function poll(token = device.token): Promise<TestResponse> {
  return server.call('get-next-deployment', { token, query: board });
}

const operation = 'patch-attributes';

describe('the action unexpected-fault', () => {
  it('returns 500 like any server error, with an Error body and unchanged state', async () => {
    await plan(server, { match: { operation }, act: 'unexpected-fault' });
    const response = await putAttributes();
    expect(response.status).toBe(500);
    expect(response.json()).toEqual({
      error: 'internal error',
      request_id: response.headers.get('x-svc-requestid'),
    });
    expect(await rackOf()).toBeUndefined();
    expect((await putAttributes()).status).toBe(200);
  });

  it('returns 400 in a plan at the point after the handler', async () => {
    const rules = [{ id: 'late', when: 'after', act: 'unexpected-fault' }];
    const { status, text } = await control(server, 'POST', '/faults', { rules });
    expect([status, text]).toEqual([400, expect.stringContaining('supports only before')]);
  });
});

describe('a planned response in place of the real one', () => {
  it('leaves the state unchanged if it is sent before the handler', async () => {
    await plan(server, { match: { operation }, act: 'gateway-502' });
    expect((await putAttributes()).status).toBe(502);
    expect(await rackOf()).toBeUndefined();
    expect((await putAttributes()).status).toBe(200);
    expect(await rackOf()).toBe('r7');
  });

  it('keeps the change and loses the response if it is sent after the handler', async () => {
    await plan(server, { match: { operation }, when: 'after', act: 'gateway-502' });
    expect((await putAttributes()).status).toBe(502);
    expect(await rackOf()).toBe('r7');
  });

  it('precedes every check, such as of token and body', async () => {
    await plan(server, { match: { operation }, times: { next: 2 }, act: 'gateway-503' });
    const bad = await server.call('patch-attributes', { token: 'none', body: 'no json' });
    expect(bad.status).toBe(503);
    expect(bad.headers.get('retry-after')).toBe('5');
    expect((await server.call('patch-attributes', {})).status).toBe(503);
    expect((await server.call('patch-attributes', {})).status).toBe(401);
  });

  it('names its rule in a header, unless the rule is unmarked', async () => {
    await plan(server, [
      { id: 'loud', match: { operation }, act: 'empty-401' },
      { id: 'still', match: { operation }, act: 'empty-401', unmarked: true },
    ]);
    expect((await putAttributes()).headers.get('x-svc-testbed-fault')).toBe('loud');
    const still = await putAttributes();
    expect([still.status, still.headers.get('x-svc-testbed-fault')]).toEqual([401, null]);
    expect((await putAttributes()).headers.get('x-svc-testbed-fault')).toBeNull();
  });

  it.each([
    ['empty-401', 401, null, ''],
    ['gateway-502', 502, 'text/html', expect.stringContaining('<h1>502 Bad Gateway</h1>')],
    ['gateway-504', 504, 'text/html', expect.stringContaining('504')],
    ['error-500', 500, 'application/json; charset=utf-8', expect.stringContaining('"request_id"')],
    [
      'object-error-500',
      500,
      'application/json; charset=utf-8',
      expect.stringContaining('"error":{"code":500'),
    ],
    ['captive-portal', 200, 'text/html', expect.stringContaining('<html>')],
  ])('can be the predefined plan %s', async (act, status, type, text) => {
    await plan(server, { act });
    const response = await poll();
    expect([response.status, response.headers.get('content-type')]).toEqual([status, type]);
    expect(response.text).toEqual(text);
  });

  it.each([
    ['wrong-type', 'text/plain'],
    ['gzip', 'application/json; charset=utf-8'],
  ])('can have a body of the kind %s', async (body, type) => {
    await plan(server, { act: { kind: 'respond', status: 500, body } });
    const response = await poll();
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.json()).toMatchObject({ error: 'a planned fault of the testbed' });
    expect(response.headers.get('content-encoding')).toBe(body === 'gzip' ? 'gzip' : null);
  });

  it('can have JSON that ends too early', async () => {
    await plan(server, { act: { kind: 'respond', status: 500, body: 'cut-json' } });
    const response = await poll();
    expect(() => response.json()).toThrow(SyntaxError);
  });

  it('can have its own body and headers instead of the defaults', async () => {
    const body = { text: '[1]', mediaType: 'application/x-odd' };
    const headers = { 'content-type': 'application/odder', 'X-Odd': 'yes' };
    await plan(server, { act: { kind: 'respond', status: 299, body, headers } });
    const response = await poll();
    expect([response.status, response.text, response.headers.get('x-odd')]).toEqual([
      299,
      '[1]',
      'yes',
    ]);
    expect(response.headers.get('content-type')).toBe('application/odder');
  });

  it('has no body where the status allows none', async () => {
    await plan(server, { act: { kind: 'respond', status: 204 } });
    const response = await poll();
    expect([response.status, response.text, response.headers.get('content-length')]).toEqual([
      204,
      '',
      null,
    ]);
  });

  it('redirects to the same place by default', async () => {
    await plan(server, { act: 'redirect' });
    const response = await poll();
    expect([response.status, response.headers.get('location')]).toEqual([
      302,
      expect.stringContaining('device_type=board'),
    ]);
  });

  it('redirects to another host that the plan names', async () => {
    await plan(server, { act: { kind: 'redirect', host: 'localhost' } });
    const { port } = new URL(server.baseUrl);
    expect((await poll()).headers.get('location')).toMatch(
      new RegExp(`^http://localhost:${port}/api/.*device_type=board`),
    );
  });

  it('redirects to another place that the plan names', async () => {
    const location = 'http://other.example/x';
    await plan(server, { act: { kind: 'redirect', status: 307, location } });
    const response = await poll();
    expect([response.status, response.headers.get('location')]).toEqual([307, location]);
  });
});

describe('a planned response 429', () => {
  it.each([
    ['seconds', '30'],
    ['date', 'Sat, 21 Nov 2026 12:00:30 GMT'],
    ['past-date', 'Sat, 21 Nov 2026 11:59:30 GMT'],
    ['absent', null],
    ['zero', '0'],
    ['negative', '-30'],
    ['absurd', '999999999999999999999'],
    ['words', 'in a while'],
  ])('states %s in Retry-After as %j', async (retryAfter, value) => {
    await plan(server, { act: { kind: 'rate-limited', retryAfter } });
    const response = await poll();
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, value]);
    expect(response.json()).toMatchObject({
      error: expect.any(String),
      request_id: expect.any(String),
    });
  });

  it('states a date on the clock of the tenant', async () => {
    await control(server, 'POST', '/clock', { advanceSeconds: 3600 });
    await plan(server, { act: { kind: 'rate-limited', retryAfter: 'date', seconds: 1 } });
    expect((await poll()).headers.get('retry-after')).toBe('Sat, 21 Nov 2026 13:00:01 GMT');
  });
});

describe('a token fault', () => {
  it('can expire a token at once, until the device gets a new one', async () => {
    await plan(server, { match: { operation: 'get-next-deployment' }, act: 'expire-token' });
    const first = await poll();
    expect([first.status, first.json().error]).toEqual([
      401,
      'the token has expired; get a new one',
    ]);
    expect(first.headers.get('www-authenticate')).toBe('Bearer');
    expect((await poll()).status).toBe(401);
    const { text: token } = await authenticate(server, device);
    expect((await poll(token)).status).toBe(204);
    expect((await ruleCounts(server)).fired).toBe(1);
  });

  it('can revoke a token, which the server then refuses', async () => {
    await plan(server, { match: { operation: 'get-next-deployment' }, act: 'revoke-token' });
    const first = await poll();
    expect([first.status, first.json().error]).toEqual([
      401,
      'the token has been revoked; authenticate again',
    ]);
    expect(first.headers.get('x-svc-testbed-fault')).toBe('fault');
    expect((await poll()).status).toBe(401);
  });

  it('can revoke the tokens of users too', async () => {
    const { text: token } = await logIn(server, server.adminEmail, server.adminPassword);
    await plan(server, { match: { operation: 'list-devices' }, act: 'revoke-token' });
    expect((await server.call('list-devices', { token })).status).toBe(401);
    expect((await server.call('list-devices', { token })).status).toBe(401);
  });

  it('can refuse a token on the n-th call only', async () => {
    const match = { operation: 'get-next-deployment', nthCall: 3 };
    await plan(server, { match, act: 'refuse-token' });
    const statuses = [await poll(), await poll(), await poll(), await poll()].map((r) => r.status);
    expect(statuses).toEqual([204, 204, 401, 204]);
  });

  it('does not match or count the call of an unknown caller', async () => {
    await plan(server, { act: 'expire-token' });
    expect((await server.call('get-next-deployment', { query: board })).status).toBe(401);
    expect(await ruleCounts(server)).toMatchObject({ matched: 0, fired: 0 });
  });
});

describe('the match of a fault rule', () => {
  it('can select a device by identity, in its authentication request too', async () => {
    await plan(server, {
      match: { identity: { mac: 'd-2' } },
      times: 'until-cleared',
      act: 'gateway-502',
    });
    const otherDevice = newDevice('d-2');
    expect((await poll()).status).toBe(204);
    expect((await authenticate(server, otherDevice)).status).toBe(502);
    expect((await authenticate(server, newDevice('d-3'))).status).toBe(401);
    expect(await knownDevices(server)).toHaveLength(2);
  });

  it('can select a device by its ID', async () => {
    const otherDevice = await acceptedDevice(server, 'd-2');
    await plan(server, {
      match: { deviceId: otherDevice.id },
      times: 'until-cleared',
      act: 'empty-401',
    });
    expect([(await poll()).status, (await poll(otherDevice.token)).status]).toEqual([204, 401]);
  });

  it.each(['rsa', 'ecdsa', 'ed25519'] as const)(
    'can select every device with a key of the type %s',
    async (keyType) => {
      const match = { keyType, operation: ['post-auth-request', 'get-next-deployment'] };
      const devices = new Map(
        await Promise.all(
          (['rsa', 'ecdsa', 'ed25519'] as const).map(async (type) => {
            const accepted = await acceptedDevice(server, `key-${type}`, type);
            return [type, accepted] as const;
          }),
        ),
      );
      await plan(server, { match, times: 'until-cleared', act: 'empty-401' });
      for (const [type, { token }] of devices) {
        expect((await poll(token)).status).toBe(type === keyType ? 401 : 204);
      }
      expect((await authenticate(server, newDevice('new', keyType))).text).toBe('');
    },
  );

  it('can select a list of operations and no others', async () => {
    const match = { operation: ['patch-attributes', 'put-attributes'] };
    await plan(server, { match, times: 'until-cleared', act: 'gateway-502' });
    expect([(await putAttributes()).status, (await poll()).status]).toEqual([502, 204]);
  });

  it('can select a share of devices, reproducible with the same seed', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `share-${index}`);
    const hit = async (seed: string): Promise<string[]> => {
      await control(server, 'DELETE', '/faults');
      const match = { operation: 'post-auth-request', fleet: { share: 0.3, seed } };
      await plan(server, { match, times: 'until-cleared', act: 'gateway-502' });
      const responses = await Promise.all(
        names.map((name) => authenticate(server, newDevice(name))),
      );
      return names.filter((_, index) => responses[index]?.status === 502);
    };
    const first = await hit('a');
    expect(first.length).toBeGreaterThan(5);
    expect(first.length).toBeLessThan(32);
    expect(await hit('a')).toEqual(first);
    expect(await hit('b')).not.toEqual(first);
  });

  it('is counted whether the fault fires or not', async () => {
    await plan(server, { match: { operation }, times: { next: 2 }, act: 'gateway-502' });
    for (let call = 0; call < 5; call += 1) await putAttributes();
    expect(await ruleCounts(server)).toEqual(
      expect.objectContaining({ id: 'fault', matched: 5, fired: 2, left: 0 }),
    );
  });

  it('can be counted separately for each device', async () => {
    const otherDevice = await acceptedDevice(server, 'd-2');
    const match = { operation: 'get-next-deployment' };
    await plan(server, { match, countPer: 'device', act: 'empty-401' });
    const statuses = [];
    for (const token of [device.token, device.token, otherDevice.token, otherDevice.token]) {
      statuses.push((await poll(token)).status);
    }
    expect(statuses).toEqual([401, 204, 401, 204]);
    expect((await ruleCounts(server)).left).toBeNull();
  });
});

describe('a fault script', () => {
  it('runs its steps in order, and then lets all calls pass', async () => {
    const script = ['gateway-502', 'pass', 'empty-401'];
    await plan(server, { match: { operation }, script });
    const statuses = [];
    for (let call = 0; call < 5; call += 1) statuses.push((await putAttributes()).status);
    expect(statuses).toEqual([502, 200, 401, 200, 200]);
  });

  it('is checked step by step', async () => {
    await plan(server, { match: { operation }, script: ['gateway-502', 'pass', 'empty-401'] });
    await putAttributes();
    expect(await check(server)).toEqual({
      status: 409,
      unfired: [{ id: 'fault', act: 'respond', step: 3, matched: 1 }],
    });
    await putAttributes();
    await putAttributes();
    expect(await check(server)).toEqual({ status: 200, unfired: [] });
  });
});

describe('repeated attempts of one request', () => {
  it('are counted one by one by default', async () => {
    await plan(server, { match: { operation }, act: 'gateway-502' });
    const headers = { 'X-SVC-RequestID': 'one' };
    const call = () =>
      server.call('patch-attributes', { token: device.token, json: attributes, headers });
    expect([(await call()).status, (await call()).status]).toEqual([502, 200]);
  });

  it('are counted as one by request ID if the plan says so', async () => {
    await plan(server, { match: { operation }, countBy: 'request-id', act: 'gateway-502' });
    const call = (id: string) =>
      server.call('patch-attributes', {
        token: device.token,
        json: attributes,
        headers: { 'X-SVC-RequestID': id },
      });
    const statuses = [];
    for (const id of ['one', 'one', 'two', 'one']) statuses.push((await call(id)).status);
    expect(statuses).toEqual([502, 502, 200, 502]);
    expect(await ruleCounts(server)).toMatchObject({ matched: 2, fired: 1, left: 0 });
  });
});

describe('several fault rules', () => {
  it('fire in order, one per request, and later rules stay due', async () => {
    await plan(server, [
      { id: 'first', act: 'gateway-502' },
      { id: 'second', act: 'empty-401' },
    ]);
    const statuses = [await poll(), await poll(), await poll()].map(({ status }) => status);
    expect(statuses).toEqual([502, 401, 204]);
  });
});
