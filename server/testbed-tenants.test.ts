import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { operations } from '../fixtures/contract/operations.ts';
import { startTestbed, type Testbed, type TestbedTenant } from './testbed.ts';
import { endOf } from './testing/test-sockets.ts';
import {
  acceptedIn,
  authenticateIn,
  namesIn,
  publishIn,
  statusFor,
  statusOf,
} from './testing/test-testbed.ts';

let testbed: Testbed;

beforeAll(async () => {
  testbed = await startTestbed();
});

afterEach(() => testbed.reset());
afterAll(() => testbed.close());

describe('two tenants of a testbed', () => {
  let one: TestbedTenant;
  let other: TestbedTenant;

  const open = async (): Promise<void> => {
    [one, other] = await Promise.all([
      testbed.tenants.create('one'),
      testbed.tenants.create('two'),
    ]);
  };

  it('share no devices, journal, faults, limits or clock while tests use both at once', async () => {
    await open();
    const life = async (tenant: TestbedTenant, round: number) => {
      const device = await acceptedIn(testbed, tenant, 'twin');
      expect(await namesIn(tenant)).toEqual(['twin']);
      tenant.clock.advance(round * 8 * 86_400);
      expect(await statusFor(testbed, device.token)).toBe(round === 0 ? 200 : 401);
      return device;
    };
    const [mine, theirs] = await Promise.all([life(one, 0), life(other, 1)]);
    expect(mine.id).not.toBe(theirs.id);
    one.rates.set({ requests: 0, windowSeconds: 60 });
    one.faults.add({ rules: [{ id: 'down', act: { kind: 'respond', status: 502 } }] });
    expect(await namesIn(other)).toEqual(['twin']);
    expect(other.faults.list()).toEqual([]);
    expect(one.journal.list({ device: theirs.id })).toEqual([]);
    expect(other.journal.list({ device: mine.id })).toEqual([]);
    expect(testbed.journal.list({ device: 'twin' })).toEqual([]);
    expect(await namesIn(testbed)).toEqual([]);
  });

  it("cannot find devices or artifacts by each other's IDs", async () => {
    await open();
    const { id } = await acceptedIn(testbed, one, 'private');
    const artifact = await publishIn(one, 'release-1');
    const statuses = await Promise.all([
      statusOf(other.admin.call('get-device', { parameters: { id } })),
      statusOf(testbed.admin.call('get-device', { parameters: { id } })),
      statusOf(other.admin.call('show-artifact', { parameters: { id: artifact } })),
    ]);
    expect(statuses).toEqual([404, 404, 404]);
  });

  it('have separate admins, found by email, and are reset separately', async () => {
    await open();
    const login = ({ adminEmail: email, adminPassword: password }: TestbedTenant, at = other) => {
      const text = Buffer.from(`${email}:${password}`).toString('base64');
      return at.admin.call('login', { headers: { Authorization: `Basic ${text}` } });
    };
    const { body: token } = await login(one);
    await acceptedIn(testbed, one, 'kept');
    await acceptedIn(testbed, other, 'lost');
    const headers = { Authorization: `Bearer ${token}` };
    const seen = await other.admin.call('list-devices', { headers });
    expect(seen.body.map(({ identity_data: data }) => data.mac)).toEqual(['kept']);
    await other.reset();
    expect([await namesIn(one), await namesIn(other)]).toEqual([['kept'], []]);
  });

  it('lose tokens, devices, mail, sockets and links when they are dropped', async () => {
    await open();
    const device = await acceptedIn(testbed, one, 'orphan');
    const id = await publishIn(one, 'release-1');
    const { body: link } = await one.admin.call('get-artifact-download', { parameters: { id } });
    expect(new URL(link.uri).searchParams.get('tenant_id')).toBe(one.id);
    expect((await fetch(link.uri)).status).toBe(200);
    const url = testbed.baseUrl.replace('http', 'ws') + operations.connect.path;
    const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${device.token}` } });
    await one.journal.await({ operation: 'connect', status: '101' });
    const ended = endOf(socket);
    await Promise.all([testbed.tenants.drop(one), testbed.tenants.drop(one)]);
    expect((await ended).code).toBe(1001);
    expect(await statusOf(one.admin.call('count-devices'))).toBe(401);
    expect(await statusFor(testbed, device.token)).toBe(401);
    expect((await authenticateIn(testbed, one, device)).status).toBe(401);
    expect([403, 404]).toContain((await fetch(link.uri)).status);
    expect((await fetch(link.uri.replace(/tenant_id=.*/, 'tenant_id='))).status).toBe(403);
    expect(await statusOf(other.admin.call('count-devices'))).toBe(200);
  });

  it('need distinct emails, and the first one cannot be dropped', async () => {
    await expect(testbed.tenants.drop(testbed)).rejects.toThrow('first tenant');
    await testbed.tenants.create('a', {
      adminEmail: 'same@example.com',
      adminPassword: 'long-secret',
    });
    const creation = testbed.tenants.create('b', { adminEmail: 'same@example.com' });
    await expect(creation).rejects.toThrow('email taken');
  });
});
