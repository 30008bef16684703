import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StoredAlert } from '../../../fixtures/contract/management/monitor.ts';
import { replaced } from '../../testing/bodies.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

beforeEach(async () => {
  deviceCount += 1;
  device = await acceptedDevice(server, `monitor-${deviceCount}`);
});

const line = { line_number: 7, data: 'out of memory' };
const details = {
  description: 'the log says so',
  lines_before: [{ line_number: 6, data: '' }],
  line_matching: line,
  lines_after: [],
};
const subject = { name: 'sshd', type: 'systemd.unit', status: 'not-running' };
const alert = { name: 'SSH', level: 'CRITICAL', subject, timestamp: '2026-11-21T11:00:00Z' };
const detailed = { ...alert, subject: { ...subject, details } };

function postAlerts(json: unknown): Promise<TestResponse> {
  return server.call('post-alerts', { token: device.token, json });
}

function listAlerts(query: Record<string, string> = {}, id = device.id): Promise<TestResponse> {
  return server.call('list-alerts', { token: server.adminToken, parameters: { id }, query });
}

async function alerts(query: Record<string, string> = {}): Promise<StoredAlert[]> {
  return (await listAlerts(query)).json<StoredAlert[]>();
}

describe('the alerts of a device', () => {
  it('return 204 without a body, and users read them complete with IDs', async () => {
    const response = await postAlerts([detailed, { ...alert, level: 'OK' }]);
    expect([response.status, response.text]).toEqual([204, '']);
    const timestamp = '2026-11-21T11:00:00.000Z';
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(await alerts()).toEqual([
      { ...alert, level: 'OK', id, timestamp },
      { ...detailed, id, timestamp },
    ]);
  });

  it('can be an empty list', async () => {
    expect((await postAlerts([])).status).toBe(204);
    expect(await alerts()).toEqual([]);
  });

  it('are accepted with any offset and shown in UTC, newest first', async () => {
    for (const timestamp of [
      '2026-11-21T13:00:00+02:00',
      '2026-11-21t10:59:59.123456z',
      '2026-11-21T05:30:00.5-05:30',
    ]) {
      await postAlerts([{ ...alert, timestamp }]);
    }
    expect((await alerts()).map(({ timestamp }) => timestamp)).toEqual([
      '2026-11-21T11:00:00.500Z',
      '2026-11-21T11:00:00.000Z',
      '2026-11-21T10:59:59.123Z',
    ]);
  });

  it.each<[string, Record<string, string>, number[]]>([
    [
      'filtered by an inclusive time span',
      { issued_after: '2026-11-21T11:00:02Z', issued_before: '2026-11-21T12:00:03+01:00' },
      [3, 2],
    ],
    ['read in pages', { page: '2', per_page: '3' }, [1]],
  ])('can be %s', async (_, query, seconds) => {
    for (const second of [1, 2, 3, 4]) {
      await postAlerts([{ ...alert, timestamp: `2026-11-21T11:00:0${second}Z` }]);
    }
    const listed = await alerts(query);
    expect(listed.map(({ timestamp }) => Number(timestamp.slice(17, 19)))).toEqual(seconds);
  });

  it.each<Record<string, string>>([
    { issued_after: 'yesterday' },
    { page: '0' },
    { per_page: '501' },
  ])('return 400 for the query %j', async (query) => {
    expect((await listAlerts(query)).status).toBe(400);
  });

  it('belong to that device alone', async () => {
    await postAlerts([alert]);
    const otherDevice = await acceptedDevice(server, `monitor-other-${deviceCount}`);
    expect((await listAlerts({}, otherDevice.id)).json()).toEqual([]);
  });
});

describe('an invalid list of alerts', () => {
  const replaceMember = (path: string, value: unknown) =>
    replaced(detailed, path.split('/'), value);
  const required = [
    'name',
    'level',
    'timestamp',
    'subject',
    'subject/name',
    'subject/type',
    'subject/status',
    'subject/details/lines_before/0/line_number',
    'subject/details/lines_before/0/data',
    'subject/details/line_matching/line_number',
    'subject/details/line_matching/data',
  ];
  const lineInPlace = ['lines_before', 'lines_after'].map((name) => `subject/details/${name}`);

  it.each([
    ...required.map((path) => [`no ${path}`, replaceMember(path, undefined)]),
    ...required.map((path) => [`null as ${path}`, replaceMember(path, null)]),
    ...required.map((path) => [
      `a wrong kind of ${path}`,
      replaceMember(path, /number|subject$/.test(path) ? 'x' : 7),
    ]),
    ...lineInPlace.map((path) => [`one line in place of ${path}`, replaceMember(path, line)]),
    ...lineInPlace.map((path) => [`a string in ${path}`, replaceMember(path, ['line'])]),
    ['an empty name', replaceMember('name', '')],
    ['the level WARNING', replaceMember('level', 'WARNING')],
    ['the level in small letters', replaceMember('level', 'critical')],
    ['the level Ok', replaceMember('level', 'Ok')],
    ['an empty level', replaceMember('level', '')],
    ['a timestamp without an offset', replaceMember('timestamp', '2026-11-21T11:00:00')],
    ['a timestamp that is not a date', replaceMember('timestamp', 'now')],
    ['a subject that is an array', replaceMember('subject', [])],
    ['an empty subject', replaceMember('subject', {})],
    ['details that are a string', replaceMember('subject/details', 'x')],
    ['details that are an array', replaceMember('subject/details', [])],
    ['details that are null', replaceMember('subject/details', null)],
    ['a description that is a number', replaceMember('subject/details/description', 1)],
    [
      'a line number that is not a whole number',
      replaceMember('subject/details/line_matching/line_number', 1.5),
    ],
    ['a list of matching lines', replaceMember('subject/details/line_matching', [line])],
    ['a string', 'alert'],
    ['null', null],
    ['an array', [alert]],
  ])('returns 400 and stores no alert for one with %s', async (_, bad) => {
    const response = await postAlerts([alert, bad]);
    expect([response.status, response.json()]).toEqual([
      400,
      { error: expect.stringMatching(/^body: 1/), request_id: expect.any(String) },
    ]);
    expect(await alerts()).toEqual([]);
  });

  it.each([
    ['one alert in place of the array', alert],
    ['an object that holds them', { alerts: [alert] }],
    ['null', null],
    ['a string', 'CRITICAL'],
    ['more than 1000', new Array(1001).fill(alert)],
  ])('returns 400 and stores no alert for %s', async (_, json) => {
    expect((await postAlerts(json)).status).toBe(400);
    expect(await alerts()).toEqual([]);
  });

  it('returns 400 without a body', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const call = { token: device.token, headers };
    expect((await server.call('post-alerts', call)).status).toBe(400);
  });
});

describe('the monitor configuration of a device', () => {
  const entry = { name: 'sshd', status: 'enabled', type: 'systemd' };
  const postConfiguration = (json: unknown) =>
    server.call('post-monitor-configuration', { token: device.token, json });
  const readConfiguration = async () => {
    const call = { token: server.adminToken, parameters: { id: device.id } };
    return (await server.call('show-monitor-configuration', call)).json<unknown>();
  };

  it('returns 204, replaces the earlier one and can be empty', async () => {
    expect(await readConfiguration()).toEqual([]);
    const response = await postConfiguration([entry, { ...entry, name: 'cron' }]);
    expect([response.status, response.text]).toEqual([204, '']);
    expect(await readConfiguration()).toEqual([entry, { ...entry, name: 'cron' }]);
    await postConfiguration([{ ...entry, status: 'disabled' }]);
    expect(await readConfiguration()).toEqual([{ ...entry, status: 'disabled' }]);
    expect((await postConfiguration([])).status).toBe(204);
    expect(await readConfiguration()).toEqual([]);
  });

  it('returns 400 without a body', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const call = { token: device.token, headers };
    expect((await server.call('post-monitor-configuration', call)).status).toBe(400);
  });

  const fields = ['name', 'status', 'type'];

  it.each<[string, unknown]>([
    ...fields.map((name): [string, unknown] => [
      `no ${name}`,
      [entry, replaced(entry, [name], undefined)],
    ]),
    ...fields.map((name): [string, unknown] => [
      `an empty ${name}`,
      [entry, { ...entry, [name]: '' }],
    ]),
    ...fields.map((name): [string, unknown] => [
      `null as ${name}`,
      [entry, { ...entry, [name]: null }],
    ]),
    ...fields.map((name): [string, unknown] => [
      `a number as ${name}`,
      [entry, { ...entry, [name]: 1 }],
    ]),
    ['one entry in place of the array', entry],
    ['an array in an array', [[entry]]],
    ['null', null],
    ['a string in the array', ['sshd']],
    ['more than 1000 entries', new Array(1001).fill(entry)],
  ])('returns 400 for %s, and the earlier one stays', async (_, json) => {
    await postConfiguration([entry]);
    const response = await postConfiguration(json);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^body: /),
    ]);
    expect(await readConfiguration()).toEqual([entry]);
  });
});

describe('access to alerts and monitor configuration', () => {
  it.each(['post-alerts', 'post-monitor-configuration'] as const)(
    'returns 401 by %s without a token and with a user token',
    async (operation) => {
      for (const call of [{}, { token: server.adminToken }]) {
        expect((await server.call(operation, { ...call, json: [] })).status).toBe(401);
      }
    },
  );

  it.each(['list-alerts', 'show-monitor-configuration'] as const)(
    'returns 401 by %s to a device token',
    async (operation) => {
      const call = { token: device.token, parameters: { id: device.id } };
      expect((await server.call(operation, call)).status).toBe(401);
    },
  );

  it.each(['list-alerts', 'show-monitor-configuration'] as const)(
    'returns 404 by %s for an unknown device',
    async (operation) => {
      const call = { token: server.adminToken, parameters: { id: 'unknown' } };
      expect((await server.call(operation, call)).status).toBe(404);
    },
  );
});
