import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { operations } from '../fixtures/contract/operations.ts';
import { startTestbed, type Testbed, type TestbedTenant } from './testbed.ts';
import { endOf } from './testing/test-sockets.ts';
import { acceptedIn, namesIn, statusFor, statusOf } from './testing/test-testbed.ts';

let testbed: Testbed;

beforeAll(async () => {
  testbed = await startTestbed();
});

afterEach(() => testbed.reset());
afterAll(() => testbed.close());

describe('a testbed', () => {
  it('runs on loopback with its admin logged in', async () => {
    expect(testbed.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(testbed.controlUrl).not.toBe(testbed.baseUrl);
    expect((await testbed.admin.call('count-devices')).body).toEqual({ count: 0 });
    const { body } = await testbed.admin.call('get-own-user');
    expect(body.email).toBe(testbed.adminEmail);
  });

  it('runs beside other testbeds, and each refuses the tokens of others', async () => {
    const otherTestbeds = await Promise.all([startTestbed(), startTestbed()]);
    expect(new Set([testbed, ...otherTestbeds].map(({ baseUrl }) => baseUrl)).size).toBe(3);
    const [first, second] = otherTestbeds;
    await acceptedIn(testbed, testbed, 'of-the-first');
    expect((await first?.admin.call('count-devices'))?.body).toEqual({ count: 0 });
    const headers = { Authorization: `Bearer ${second?.adminToken}` };
    const foreign = first?.admin.call('count-devices', { headers });
    expect(await statusOf(foreign ?? Promise.resolve())).toBe(401);
    await Promise.all(otherTestbeds.map((otherTestbed) => otherTestbed.close()));
  });

  it('creates the same IDs and secrets from the same seed', async () => {
    const texts = async (seed: string) => {
      const seeded = await startTestbed({ seed });
      await seeded.close();
      return [seeded.id, seeded.tenantToken, seeded.adminPassword, seeded.controlToken];
    };
    const once = await texts('one');
    expect(await texts('one')).toEqual(once);
    expect((await texts('other')).filter((text) => once.includes(text))).toEqual([]);
  });

  it("accepts the server's settings and refuses invalid values", async () => {
    const otherTestbed = await startTestbed({ autoAccept: true, headerPrefix: 'X-MEN' });
    expect(otherTestbed.headerPrefix).toBe('X-MEN');
    await otherTestbed.close();
    await expect(startTestbed({ tokenLifetimeSeconds: 0 })).rejects.toThrow('tokenLifetimeSeconds');
    await expect(startTestbed({ world: 'devices: [{}]' })).rejects.toThrow('world:1:');
  });

  it('starts with a world and returns to it on a reset', async () => {
    const otherTestbed = await startTestbed({
      world: { devices: [{ name: 'one', status: 'accepted' }] },
    });
    const { body: devicesBefore } = await otherTestbed.admin.call('list-devices');
    expect(devicesBefore.map(({ status }) => status)).toEqual(['accepted']);
    const parameters = { id: devicesBefore[0]?.id ?? '' };
    await otherTestbed.admin.call('decommission-device', { parameters });
    await otherTestbed.reset();
    expect((await otherTestbed.admin.call('list-devices')).body).toEqual(devicesBefore);
    await otherTestbed.close();
  });

  it('runs behind TLS, and its admin needs no trust in the test CA', async () => {
    const secure = await startTestbed({ tls: {} });
    expect([secure.baseUrl, secure.caPem]).toEqual([
      expect.stringMatching(/^https:/),
      expect.stringContaining('BEGIN CERTIFICATE'),
    ]);
    expect((await secure.admin.call('count-devices')).body).toEqual({ count: 0 });
    await secure.close();
  });

  it('keeps its tenants in a data folder, except those that were dropped', async () => {
    const dataFolder = mkdtempSync(join(tmpdir(), 'fleetbed-testbed-'));
    const folders = () => readdirSync(join(dataFolder, 'tenants')).sort();
    const keeping = await startTestbed({ dataFolder });
    const kept = await keeping.tenants.create('kept');
    const dropped = await keeping.tenants.create('dropped');
    expect(folders()).toEqual([keeping.id, kept.id, dropped.id].sort());
    await keeping.tenants.drop(dropped);
    expect(folders()).toEqual([keeping.id, kept.id].sort());
    await keeping.close();
    const restarted = await startTestbed({ dataFolder });
    const ask = ({ adminToken }: TestbedTenant) => {
      const headers = { Authorization: `Bearer ${adminToken}` };
      return statusOf(restarted.admin.call('count-devices', { headers }));
    };
    expect([await ask(kept), await ask(dropped)]).toEqual([200, 401]);
    await restarted.close();
    rmSync(dataFolder, { recursive: true });
  });

  it('closes once, even if it is closed repeatedly, and is disposable', async () => {
    const otherTestbed = await startTestbed();
    await Promise.all([
      otherTestbed.close(),
      otherTestbed[Symbol.asyncDispose](),
      otherTestbed.close(),
    ]);
    await expect(fetch(otherTestbed.baseUrl)).rejects.toThrow();
    await expect(fetch(`${otherTestbed.controlUrl}/ready`)).rejects.toThrow();
  });
});

describe("a call of the testbed's admin", () => {
  it('fills in parameters, query and JSON body', async () => {
    const { id } = await acceptedIn(testbed, testbed, 'a/b?c');
    const tags = [{ name: 'place', value: 'Wien' }];
    await testbed.admin.call('add-tags', { parameters: { id }, json: tags });
    const listed = await testbed.admin.call('list-devices', { query: { status: ['accepted'] } });
    expect(listed.body.map((device) => device.id)).toEqual([id]);
    const none = await testbed.admin.call('list-devices', { query: { status: 'pending' } });
    expect(none.body).toEqual([]);
  });

  it('rejects with status, operation, sentence and request ID', async () => {
    const parameters = { id: 'a device/that is not there' };
    const refused = testbed.admin.call('get-device', { parameters });
    await expect(refused).rejects.toMatchObject({
      name: 'AdminRefusal',
      operation: 'get-device',
      status: 404,
      message: expect.stringContaining('get-device was answered with 404: '),
    });
    const [entry] = testbed.journal.list({ status: '404' });
    await expect(refused).rejects.toMatchObject({ requestId: entry?.requestId });
    expect(entry?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('adjusting a tenant of a testbed', () => {
  it('can let a week pass, after which a token has expired', async () => {
    const { token } = await acceptedIn(testbed, testbed, 'late');
    expect(await statusFor(testbed, token)).toBe(200);
    const beforeMs = testbed.clock.now();
    testbed.clock.advance(7 * 86_400 + 1);
    expect(testbed.clock.now() - beforeMs).toBeGreaterThanOrEqual(604_801_000);
    expect(await statusFor(testbed, token)).toBe(401);
    expect(await statusOf(testbed.admin.call('count-devices'))).toBe(200);
    testbed.clock.reset();
    expect(await statusFor(testbed, token)).toBe(200);
  });

  it('can set and stop the clock', () => {
    testbed.clock.scale(0);
    testbed.clock.set('2027-08-25T00:00:00Z');
    expect(testbed.clock.now()).toBe(Date.parse('2027-08-25T00:00:00Z'));
    testbed.clock.set(new Date(0));
    expect(testbed.clock.now()).toBe(0);
  });

  it.each<[string, () => void]>([
    ['no moment', () => testbed.clock.set('soon')],
    ['seconds below zero', () => testbed.clock.advance(-1)],
    ['seconds that are not a number', () => testbed.clock.advance(Number.NaN)],
    ['a rate below zero', () => testbed.clock.scale(-1)],
    ['a rate without end', () => testbed.clock.scale(Number.POSITIVE_INFINITY)],
    ['too fast a rate', () => testbed.clock.scale(10_001)],
    ['eleven years', () => testbed.clock.advance(11 * 365 * 86_400)],
  ])('refuses %s and does not change the clock', (_, adjust) => {
    expect(adjust).toThrow(RangeError);
    expect(Math.abs(testbed.clock.now() - Date.now())).toBeLessThan(5000);
  });

  it('can limit the request rate of a caller', async () => {
    testbed.rates.set({ requests: 1, windowSeconds: 60 });
    await testbed.admin.call('count-devices');
    expect(await statusOf(testbed.admin.call('count-devices'))).toBe(429);
    expect(testbed.rates.limit).toEqual({ requests: 1, windowSeconds: 60 });
  });

  it('refuses invalid limits and keeps the former one', () => {
    testbed.rates.set({ requests: 1, windowSeconds: 60 });
    expect(() => testbed.rates.set({ requests: -1, windowSeconds: 60 })).toThrow(RangeError);
    expect(() => testbed.rates.set({ requests: 1, windowSeconds: 0.5 })).toThrow('windowSeconds');
    expect(testbed.rates.limit).toEqual({ requests: 1, windowSeconds: 60 });
  });

  it('can plan faults by value or text and list the unfired ones', async () => {
    const rule = {
      id: 'tired',
      match: { operation: 'count-devices' },
      act: { kind: 'respond', status: 503 },
    };
    expect(testbed.faults.add({ rules: [rule] })).toEqual(['tired']);
    expect(() => testbed.faults.check()).toThrow('tired (respond, 0 matched)');
    expect(await statusOf(testbed.admin.call('count-devices'))).toBe(503);
    testbed.faults.check();
    expect(testbed.faults.list()).toMatchObject([{ id: 'tired', fired: 1 }]);
    expect(() => testbed.faults.clear('tird')).toThrow('no rule has this ID; the rule is tired');
    expect(testbed.faults.clear()).toBe(1);
    expect(await statusOf(testbed.admin.call('count-devices'))).toBe(200);
  });

  it.each(['rules: [{}', 'rules: 7', '{"rules": [{"id": "x"}]}'])(
    'refuses an invalid plan with the place of the error: %s',
    (plan) => {
      expect(() => testbed.faults.add(plan)).toThrow(/\d/);
      expect(testbed.faults.list()).toEqual([]);
    },
  );
});

describe("the journal of a testbed's tenant", () => {
  it('lists entries and finds the newest', async () => {
    await testbed.admin.call('count-devices');
    await testbed.admin.call('count-devices', { query: { status: 'pending' } });
    const listed = testbed.journal.list({ operation: 'count-devices' });
    expect(listed.map(({ status }) => status)).toEqual([200, 200]);
    const newest = testbed.journal.find({ operation: 'count-devices' });
    expect(newest).toEqual(listed[1]);
    expect(JSON.stringify(listed)).not.toContain(testbed.adminToken);
    expect(testbed.journal.find({ operation: 'list-deployments' })).toBeUndefined();
    testbed.journal.clear();
    expect(testbed.journal.list()).toEqual([]);
  });

  it('can wait for a future entry or find an earlier one', async () => {
    const awaited = testbed.journal.await({ operation: 'count-devices' });
    await testbed.admin.call('count-devices');
    const first = await awaited;
    expect(await testbed.journal.await({ operation: 'count-devices' })).toEqual(first);
    const next = testbed.journal.await({ status: '2xx' }, { after: first.sequence });
    await testbed.admin.call('list-devices');
    expect((await next).operation).toBe('list-devices');
  });

  it('reports what arrived instead of an awaited entry', async () => {
    await testbed.admin.call('list-devices');
    const awaited = testbed.journal.await({ operation: 'logout' }, { timeoutSeconds: 0.01 });
    await expect(awaited).rejects.toThrow(/"logout".*instead came list-devices 200/);
  });

  it('confirms what happened, or reports what did', async () => {
    await acceptedIn(testbed, testbed, 'seen');
    const happened = [
      { operation: 'post-auth-request', status: '401' },
      { operation: 'post-auth-request', status: '200' },
    ];
    testbed.journal.assert({ device: 'seen', happened, times: 1 });
    expect(() => testbed.journal.assert({ happened: [{ report: 'success' }] })).toThrow(
      /was to: report success.*Seen instead/,
    );
  });
});

describe('a call of a testbed with a wrong name or value', () => {
  it.each<[string, (wrong: never) => unknown, object]>([
    ['startTestbed', startTestbed, { autoAcept: true }],
    ['journal.list', (wrong) => testbed.journal.list(wrong), { stauts: '404' }],
    ['journal.find', (wrong) => testbed.journal.find(wrong), { opration: 'connect' }],
    ['journal.await', (wrong) => testbed.journal.await(wrong), { unknownField: 'x' }],
    ['journal.await', (wrong) => testbed.journal.await({}, wrong), { timeoutSecond: 1 }],
    ['journal.assert', (wrong) => testbed.journal.assert(wrong), { happend: [] }],
    ['tenants.create', (wrong) => testbed.tenants.create('x', wrong), { adminEmal: 'x' }],
    ['rates.set', (wrong) => testbed.rates.set(wrong), { request: 1 }],
    ['reset', (wrong) => testbed.reset(wrong), { devise: 'a' }],
    ['call count-devices', (wrong) => testbed.admin.call('count-devices', wrong), { querry: {} }],
    [
      'call get-device',
      (wrong) => testbed.admin.call('get-device', { parameters: wrong }),
      { deviceId: 'a' },
    ],
  ])('is refused by name with the known names: %s', async (_, call, wrong) => {
    const [name = ''] = Object.keys(wrong);
    const refused = Promise.resolve().then(() => call(wrong as never));
    await expect(refused).rejects.toThrow(new RegExp(`${name}: is unknown; the .* (is|are) `));
  });

  it.each<[string, () => unknown, RegExp]>([
    ['operation', () => testbed.journal.list({ operation: 'conect' }), /the nearest: connect/],
    ['kind', () => testbed.journal.find({ kind: 'frames' as never }), /one of exchange, frame/],
    ['device', () => testbed.reset({ device: 'nobody' }), /reset: device: no device has this ID/],
    ['moment', () => testbed.clock.set('yesterday'), /clock: now: must be a date-time such as/],
    ['operation ID', () => testbed.admin.call('list-device' as never), /nearest .*list-devices/],
    [
      'path parameter',
      () => testbed.admin.call('get-device', { parameters: {} as never }),
      /parameters\.id: is required/,
    ],
  ])('is refused with the accepted values: %s', async (_, call, sentence) => {
    await expect(Promise.resolve().then(call)).rejects.toThrow(sentence);
  });

  it('resets one device alone when it names the device', async () => {
    await acceptedIn(testbed, testbed, 'one');
    await acceptedIn(testbed, testbed, 'two');
    await testbed.reset({ device: 'one' });
    expect((await testbed.admin.call('count-devices')).body).toEqual({ count: 1 });
  });
});

describe("the reset of a testbed's tenant", () => {
  it('restores the whole start state', async () => {
    const { token } = await acceptedIn(testbed, testbed, 'gone');
    const url = testbed.baseUrl.replace('http', 'ws') + operations.connect.path;
    const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${token}` } });
    await testbed.journal.await({ operation: 'connect', status: '101' });
    const ended = endOf(socket);
    testbed.clock.advance(20);
    testbed.rates.set({ requests: 0, windowSeconds: 1 });
    testbed.faults.add({ rules: [{ id: 'all', act: { kind: 'respond', status: 503 } }] });
    const otherTenant = await testbed.tenants.create('other');
    await testbed.reset();
    expect((await ended).code).toBe(1001);
    expect(Math.abs(testbed.clock.now() - Date.now())).toBeLessThan(5000);
    expect(testbed.rates.limit).toBeUndefined();
    expect([testbed.faults.list(), testbed.journal.list()]).toEqual([[], []]);
    expect(await namesIn(testbed)).toEqual([]);
    expect(await statusFor(testbed, token)).toBe(401);
    expect(await statusOf(otherTenant.admin.call('count-devices'))).toBe(401);
  });

  it('logs the admin in again, whatever happened to the account', async () => {
    await testbed.admin.call('logout');
    expect(await statusOf(testbed.admin.call('count-devices'))).toBe(401);
    await testbed.reset();
    expect(await statusOf(testbed.admin.call('count-devices'))).toBe(200);
    const { adminPassword } = testbed;
    const change = (from: string, to: string) =>
      testbed.admin.call('update-own-user', { json: { password: to, current_password: from } });
    await change(adminPassword, 'another-secret');
    await testbed.reset();
    await change(adminPassword, 'another-secret');
  });
});
