import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StoredAlert } from '../../../fixtures/contract/management/monitor.ts';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { attributeOf } from '../../testing/test-inventory.ts';
import {
  startTestServer,
  type TestCall,
  type TestResponse,
  type TestServer,
} from '../../testing/test-server.ts';
import { control, loggedInUser, secondTenant } from '../../testing/test-tenants.ts';

let server: TestServer;
let device: AcceptedDevice;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

beforeEach(async () => {
  deviceCount += 1;
  device = await acceptedDevice(server, `watched-${deviceCount}`);
});

type Level = 'OK' | 'CRITICAL';

/** Returns an alert of the given minute about the subject `type/name`. */
function alert(level: Level, about: string, minute: number) {
  const [type = '', name = ''] = about.split('/');
  const timestamp = `2026-11-21T11:${String(minute).padStart(2, '0')}:00.000Z`;
  return { name: about, level, subject: { name, type, status: 'told' }, timestamp };
}

async function send(...alerts: readonly object[]): Promise<void> {
  const response = await server.call('post-alerts', { token: device.token, json: alerts });
  expect(response.status).toBe(204);
}

function userCall(call: TestCall = {}): TestCall {
  return { token: server.adminToken, parameters: { id: device.id }, ...call };
}

/** Returns the listed alerts as `level type/name minute`. */
function summaries(response: TestResponse): string[] {
  expect(response.status).toBe(200);
  return response
    .json<StoredAlert[]>()
    .map(({ level, name, timestamp }) => `${level} ${name} ${Number(timestamp.slice(14, 16))}`);
}

describe('the list of alerts', () => {
  const list = (query: Record<string, string> = {}) =>
    server.call('list-alerts', userCall({ query }));

  beforeEach(() =>
    send(alert('CRITICAL', 'log/a', 1), alert('OK', 'log/a', 3), alert('CRITICAL', 'log/b', 2)),
  );

  it('is newest first, or oldest first with sort or sort_ascending', async () => {
    const down = ['OK log/a 3', 'CRITICAL log/b 2', 'CRITICAL log/a 1'];
    const up = down.toReversed();
    for (const [query, expected] of [
      [{}, down],
      [{ sort: 'desc' }, down],
      [{ sort: 'asc' }, up],
      [{ sort_ascending: 'true' }, up],
      [{ sort_ascending: 'false' }, down],
      [{ sort: 'asc', sort_ascending: 'false' }, up],
    ] as const) {
      expect(summaries(await list(query))).toEqual(expected);
    }
  });

  it('comes in pages with the count of all matching alerts', async () => {
    const response = await list({ per_page: '2', page: '2' });
    expect(summaries(response)).toEqual(['CRITICAL log/a 1']);
    expect(response.headers.get('x-total-count')).toBe('3');
    expect(response.headers.get('link')).toMatch(/rel="first".*rel="prev"/s);
    const narrowed = await list({ issued_after: '2026-11-21T11:02:00Z', per_page: '1' });
    expect([summaries(narrowed), narrowed.headers.get('x-total-count')]).toEqual([
      ['OK log/a 3'],
      '2',
    ]);
    expect(summaries(await list({ page: '9' }))).toEqual([]);
  });

  it.each([
    ['page', '0'],
    ['per_page', '501'],
    ['issued_after', '1795262400'],
    ['issued_before', 'today'],
    ['sort', 'up'],
    ['sort_ascending', 'yes'],
  ])('returns 400 for %s=%s', async (name, value) => {
    const response = await list({ [name]: value });
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringContaining(`query: ${name}`),
    ]);
  });
});

it('long lists of all alerts and of the latest alerts are complete and sent in chunks', async () => {
  const details = { description: 'x'.repeat(30_000) };
  const sent = Array.from({ length: 20 }, (_, at) => {
    const plain = alert('OK', `service/${String(at).padStart(2, '0')}`, at);
    return { ...plain, subject: { ...plain.subject, details } };
  });
  await send(...sent);
  for (const list of ['list-alerts', 'list-latest-alerts'] as const) {
    const response = await server.call(list, userCall());
    expect(response.headers.get('content-length')).toBeNull();
    const alerts = response.json<StoredAlert[]>();
    expect(response.text).toBe(JSON.stringify(alerts));
    const ordered = list === 'list-alerts' ? alerts.toReversed() : alerts;
    expect(ordered.map(({ id: _, ...alert }) => alert)).toEqual(sent);
  }
});

describe('the latest alerts', () => {
  const latest = (query: Record<string, string> = {}) =>
    server.call('list-latest-alerts', userCall({ query }));

  it('contain the last alert per subject, the oldest first', async () => {
    expect(summaries(await latest())).toEqual([]);
    await send(alert('CRITICAL', 'log/a', 1), alert('CRITICAL', 'unit/a', 2));
    await send(alert('OK', 'log/a', 4), alert('CRITICAL', 'log/b', 3));
    const all = ['CRITICAL unit/a 2', 'CRITICAL log/b 3', 'OK log/a 4'];
    expect(summaries(await latest())).toEqual(all);
    expect(summaries(await latest({ level_from: 'OK' }))).toEqual(all);
    expect(summaries(await latest({ level_from: 'CRITICAL' }))).toEqual(all.slice(0, 2));
  });

  it('are determined by time, and at equal times by order of arrival', async () => {
    await send(alert('OK', 'log/a', 5), alert('CRITICAL', 'log/a', 4));
    expect(summaries(await latest())).toEqual(['OK log/a 5']);
    await send(alert('CRITICAL', 'log/a', 5));
    expect(summaries(await latest())).toEqual(['CRITICAL log/a 5']);
  });

  it('have the same IDs as in the list of alerts', async () => {
    await send(alert('CRITICAL', 'log/a', 1));
    const all = await server.call('list-alerts', userCall());
    expect((await latest()).json()).toEqual(all.json());
  });

  it('return 400 for an unknown level_from', async () => {
    for (const level_from of ['WARNING', 'critical', '']) {
      expect((await latest({ level_from })).status).toBe(400);
    }
  });
});

describe('the alert attributes in the inventory', () => {
  const counted = async () => [
    await attributeOf(server, device.id, 'monitor', 'alert_count'),
    await attributeOf(server, device.id, 'monitor', 'alerts'),
  ];

  it('count the subjects that are critical now', async () => {
    expect(await counted()).toEqual([undefined, undefined]);
    await send(
      alert('OK', 'unit/a', 1),
      alert('CRITICAL', 'unit/b', 1),
      alert('CRITICAL', 'log/b', 1),
    );
    expect(await counted()).toEqual([2, true]);
    await send(alert('CRITICAL', 'unit/b', 2));
    expect(await counted()).toEqual([2, true]);
    await send(alert('OK', 'unit/b', 3), alert('OK', 'log/b', 3));
    expect(await counted()).toEqual([0, false]);
  });

  it('still count a subject after many alerts of other subjects', async () => {
    await send(alert('CRITICAL', 'log/first', 1));
    await send(...Array.from({ length: 1000 }, () => alert('OK', 'log/chatter', 2)));
    expect(await counted()).toEqual([1, true]);
  });

  it('cannot be written by the device', async () => {
    const json = [{ name: 'alert_count', value: 7, scope: 'monitor' }];
    await server.call('patch-attributes', { token: device.token, json });
    expect(await counted()).toEqual([undefined, undefined]);
  });
});

describe('alert emails', () => {
  async function mails(): Promise<Record<string, unknown>[]> {
    const { text } = await control(server, 'GET', '/outbox');
    const { alerts } = JSON.parse(text) as { alerts: Record<string, unknown>[] };
    return alerts.filter(({ deviceId }) => deviceId === device.id);
  }

  const enable = (enabled: unknown, token = server.adminToken) =>
    server.call('switch-alert-emails', { token, json: { enabled } });

  it('are sent for each alert, also OK, to each user of the tenant', async () => {
    await loggedInUser(server, 'second@example.com');
    const otherTenant = await secondTenant(server);
    await send(alert('CRITICAL', 'log/a', 1), alert('OK', 'log/a', 2));
    const sent = await mails();
    expect(sent.map(({ to, subject }) => [to, subject])).toEqual([
      [server.adminEmail, 'CRITICAL: log/a'],
      ['second@example.com', 'CRITICAL: log/a'],
      [server.adminEmail, 'OK: log/a'],
      ['second@example.com', 'OK: log/a'],
    ]);
    expect(sent.map(({ to }) => to)).not.toContain(otherTenant.adminEmail);
    expect(sent[0]).toMatchObject({ text: 'a (log) has been told since 2026-11-21T11:01:00.000Z' });
  });

  it('are not sent while switched off, and switching is audited', async () => {
    expect((await enable(false)).status).toBe(204);
    expect((await enable(false)).status).toBe(204);
    await send(alert('CRITICAL', 'log/a', 1));
    expect(await mails()).toEqual([]);
    await enable(true);
    await send(alert('CRITICAL', 'log/a', 2));
    expect(await mails()).not.toEqual([]);
    const query = { object_type: 'tenant' };
    const response = await server.call('list-audit-logs', { token: server.adminToken, query });
    const changes = response.json<AuditLog[]>().map(({ action, change }) => [action, change]);
    expect(changes).toEqual([
      ['update', 'alerts by email: on'],
      ['update', 'alerts by email: off'],
    ]);
  });

  it('are switched for one tenant only', async () => {
    const otherTenant = await secondTenant(server, 'Third');
    await enable(false, otherTenant.token);
    await send(alert('CRITICAL', 'log/a', 1));
    expect(await mails()).not.toEqual([]);
  });

  it.each([undefined, null, 'no', 0])(
    'return 400 for the value %j, and are not switched',
    async (enabled) => {
      expect((await enable(enabled)).status).toBe(400);
      await send(alert('CRITICAL', 'log/a', 1));
      expect(await mails()).not.toEqual([]);
    },
  );
});
