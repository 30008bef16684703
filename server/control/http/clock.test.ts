import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { fetchFile, linkTo, publish } from '../../testing/test-artifacts.ts';
import { acceptedDevice, authenticate, newDevice } from '../../testing/test-device.ts';
import { startOfTest, startTestServer, type TestServer } from '../../testing/test-server.ts';
import { endOf, openSocket, presenceOf } from '../../testing/test-sockets.ts';
import { control, secondTenant } from '../../testing/test-tenants.ts';

const DAY_SECONDS = 86_400;
const WEEK_SECONDS = 7 * DAY_SECONDS;

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});

afterEach(() => server.close());

/** Adjusts the clock and returns its state afterwards. */
async function adjust(command: object, tenant?: string) {
  const query = tenant === undefined ? '' : `?tenant=${tenant}`;
  const response = await control(server, 'POST', `/clock${query}`, command);
  expect([response.status, response.text]).toEqual([200, response.text]);
  return JSON.parse(response.text);
}

function poll(token: string) {
  return server.call('get-configuration', { token });
}

describe('the clock of a tenant', () => {
  it('equals the clock of the server until somebody adjusts it', async () => {
    const { status, text } = await control(server, 'GET', '/clock');
    expect([status, JSON.parse(text)]).toEqual([
      200,
      { now: '2026-11-21T12:00:00.000Z', mode: 'base', offsetSeconds: 0, rate: 1 },
    ]);
  });

  it('can be set, advanced, run, frozen, scaled and reset', async () => {
    expect(await adjust({ now: '2020-01-01T00:00:00Z' })).toMatchObject({
      now: '2020-01-01T00:00:00.000Z',
      mode: 'shifted',
    });
    expect(await adjust({ advanceSeconds: 1.5 })).toMatchObject({
      now: '2020-01-01T00:00:01.500Z',
    });
    expect(await adjust({ until: '2020-01-02T00:00:00Z' })).toMatchObject({
      now: '2020-01-02T00:00:00.000Z',
    });
    expect(await adjust({ rate: 0 })).toMatchObject({ mode: 'frozen', rate: 0 });
    server.clock.advance(10_000);
    expect(await adjust({ rate: 60 })).toMatchObject({
      now: '2020-01-02T00:00:00.000Z',
      mode: 'scaled',
    });
    server.clock.advance(1000);
    const scaled = await control(server, 'GET', '/clock');
    expect(JSON.parse(scaled.text)).toMatchObject({ now: '2020-01-02T00:01:00.000Z', rate: 60 });
    const { status, text } = await control(server, 'DELETE', '/clock');
    expect([status, JSON.parse(text)]).toEqual([
      200,
      { now: '2026-11-21T12:00:11.000Z', mode: 'base', offsetSeconds: 0, rate: 1 },
    ]);
  });

  it.each<[string, unknown, string]>([
    ['nothing', {}, 'must have now, until or advanceSeconds'],
    [
      'two moves',
      { advanceSeconds: 1, now: '2027-01-01T00:00:00Z' },
      'must have now, until or advanceSeconds',
    ],
    ['a negative advance', { advanceSeconds: -1 }, 'advanceSeconds'],
    ['eleven years', { advanceSeconds: 11 * 365 * DAY_SECONDS }, 'advanceSeconds'],
    ['a string for a number', { advanceSeconds: '1' }, 'advanceSeconds'],
    ['no date', { now: 'tomorrow' }, 'now'],
    ['a day that does not exist', { now: '2027-02-30T00:00:00Z' }, 'now'],
    ['a negative rate', { rate: -1 }, 'rate'],
    ['too fast a rate', { rate: 10_001 }, 'rate'],
    ['a word it does not know', { advanceDays: 1 }, 'advanceDays: is unknown'],
    ['a list', [], 'must have now, until or advanceSeconds'],
    ['a null', null, 'send a JSON body'],
  ])('returns 400 for %s and does not change', async (_, command, word) => {
    const { status, text } = await control(server, 'POST', '/clock', command);
    expect([status, text]).toEqual([400, expect.stringContaining(word)]);
    expect(JSON.parse((await control(server, 'GET', '/clock')).text).mode).toBe('base');
  });

  it('returns 409 if run to a moment in the past', async () => {
    const until = '2026-11-21T11:59:59Z';
    const { status, text } = await control(server, 'POST', '/clock', { until });
    expect([status, text]).toEqual([409, expect.stringContaining('until')]);
  });

  it('returns 404 for an unknown tenant', async () => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const json = method === 'POST' ? { advanceSeconds: 1 } : undefined;
      expect((await control(server, method, '/clock?tenant=none', json)).status).toBe(404);
    }
  });

  it('returns 405 to a PUT request', async () => {
    expect((await control(server, 'PUT', '/clock', {})).status).toBe(405);
  });

  it('is independent of other tenants', async () => {
    const otherTenant = await secondTenant(server);
    await adjust({ advanceSeconds: WEEK_SECONDS }, otherTenant.name);
    expect((await server.call('count-devices', { token: otherTenant.token })).status).toBe(401);
    expect((await server.call('count-devices', { token: server.adminToken })).status).toBe(200);
    const first = await control(server, 'GET', '/clock');
    expect(JSON.parse(first.text).mode).toBe('base');
  });
});

describe('adjusting the clock of a tenant', () => {
  it('expires a device token after a week; a renewed token works', async () => {
    const device = await acceptedDevice(server, 'sleeper');
    await adjust({ advanceSeconds: WEEK_SECONDS - 1 });
    expect((await poll(device.token)).status).toBe(200);
    await adjust({ advanceSeconds: 1 });
    const expired = await poll(device.token);
    expect([expired.status, expired.text]).toEqual([401, expect.stringContaining('expired')]);
    const renewed = await authenticate(server, device);
    expect((await poll(renewed.text)).status).toBe(200);
  });

  it('expires a signed link between two ranges', async () => {
    const device = await acceptedDevice(server, 'reader');
    const { uri } = await linkTo(server, device.token, await publish(server));
    expect((await fetchFile(uri, { headers: { Range: 'bytes=0-9' } })).status).toBe(206);
    await adjust({ advanceSeconds: DAY_SECONDS });
    const { status, bytes } = await fetchFile(uri, { headers: { Range: 'bytes=10-19' } });
    expect([status, bytes.toString()]).toEqual([403, expect.stringContaining('expired')]);
  });

  it('retires deprecated operations, and a clock reset restores them', async () => {
    const list = () => server.call('list-artifacts-v1', { token: server.adminToken });
    expect((await list()).status).toBe(200);
    await adjust({ now: '2027-08-24T23:59:59Z' });
    // The admin's token has expired by then; a retired operation answers 410 to every caller.
    expect((await list()).status).toBe(401);
    await adjust({ advanceSeconds: 1 });
    expect((await list()).status).toBe(410);
    await control(server, 'DELETE', '/clock');
    expect((await list()).status).toBe(200);
  });

  it('pings a socket that sends nothing, and then disconnects it', async () => {
    const device = await acceptedDevice(server, 'silent');
    const socket = await openSocket(server, device, { autoPong: false });
    const pinged = new Promise((resolve) => socket.once('ping', resolve));
    const ended = endOf(socket);
    await adjust({ advanceSeconds: 30 });
    await pinged;
    await adjust({ advanceSeconds: 30 });
    expect((await ended).code).toBe(1006);
    await expect.poll(async () => (await presenceOf(server, device)).status).toBe('disconnected');
  });

  it('may advance ten years while a socket is open', async () => {
    const device = await acceptedDevice(server, 'old');
    const socket = await openSocket(server, device, { autoPong: false });
    const ended = endOf(socket);
    await adjust({ advanceSeconds: 3650 * DAY_SECONDS });
    expect((await ended).code).toBe(1006);
  });
});

describe("the header that states the tenant's time", () => {
  const name = 'x-svc-testbed-time';

  it('is on every response, also refusals, unless the clock is the system’s', async () => {
    const refused = await authenticate(server, newDevice('stranger'));
    expect([refused.status, refused.headers.get(name)]).toEqual([401, '2026-11-21T12:00:00.000Z']);
    await adjust({ advanceSeconds: 3600 });
    const response = await server.call('count-devices', { token: server.adminToken });
    expect(response.headers.get(name)).toBe(new Date(startOfTest + 3_600_000).toISOString());
    expect(response.headers.get('date')).toBe(new Date(startOfTest + 3_600_000).toUTCString());
  });

  it('states the time of the tenant in an expired token', async () => {
    const otherTenant = await secondTenant(server);
    await adjust({ advanceSeconds: WEEK_SECONDS }, otherTenant.name);
    const { status, headers } = await server.call('count-devices', { token: otherTenant.token });
    const time = new Date(startOfTest + WEEK_SECONDS * 1000).toISOString();
    expect([status, headers.get(name)]).toEqual([401, time]);
  });

  it('states the time of the tenant named by a refused link', async () => {
    const device = await acceptedDevice(server, 'late');
    const { uri } = await linkTo(server, device.token, await publish(server));
    const otherTenant = await secondTenant(server);
    await adjust({ advanceSeconds: DAY_SECONDS }, otherTenant.name);
    const url = new URL(uri);
    url.searchParams.set('tenant_id', otherTenant.id);
    const { status, headers } = await fetchFile(url.href);
    const time = new Date(startOfTest + DAY_SECONDS * 1000).toISOString();
    expect([status, headers[name]]).toEqual([403, time]);
  });

  it('is absent with the system clock, unless that clock is adjusted', async () => {
    await server.close();
    server = await startTestServer({ clock: systemClock });
    const hasHeader = async () =>
      (await server.call('count-devices', { token: server.adminToken })).headers.has(name);
    expect(await hasHeader()).toBe(false);
    await adjust({ advanceSeconds: 60 });
    expect(await hasHeader()).toBe(true);
    await control(server, 'DELETE', '/clock');
    expect(await hasHeader()).toBe(false);
  });
});
