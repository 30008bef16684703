import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import { publish } from '../../testing/test-artifacts.ts';
import { entries, listLogs, makeFirstContacts } from '../../testing/test-audit.ts';
import { abort, deploy } from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startOfTest, startTestServer, type TestServer } from '../../testing/test-server.ts';

const startSeconds = startOfTest / 1000;
const contacts = Array.from({ length: 17 }, (_, at) => `device-${at}`);

/** Returns the device numbers in the first-contact entries. */
function contactsIn(logs: readonly AuditLog[]): number[] {
  return logs.map(({ actor }) => Number(/device-(\d+)/.exec(`${actor.identity_data}`)?.[1]));
}

describe('the pages of the audit log', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer();
    await makeFirstContacts(server, contacts);
  });

  afterAll(() => server.close());

  it('contain 10 entries by default, newest first, also within one moment', async () => {
    const response = await listLogs(server);
    expect(contactsIn(response.json<AuditLog[]>())).toEqual([16, 15, 14, 13, 12, 11, 10, 9, 8, 7]);
    expect(response.headers.get('x-total-count')).toBe('17');
  });

  it('start with the oldest entry if sort is asc', async () => {
    const seen = await entries(server, { sort: 'asc', per_page: '3' });
    expect(contactsIn(seen)).toEqual([0, 1, 2]);
    expect(contactsIn(await entries(server, { sort: 'desc', per_page: '2' }))).toEqual([16, 15]);
  });

  it('contain each entry once from the first page to the last', async () => {
    const seen: number[] = [];
    for (const page of ['1', '2', '3', '4']) {
      seen.push(...contactsIn(await entries(server, { page, per_page: '5' })));
    }
    expect(seen).toEqual(contacts.map((_, at) => 16 - at));
  });

  it.each([
    ['', ['first 1', 'next 2']],
    ['page=2', ['first 1', 'prev 1']],
    ['page=2&per_page=5', ['first 1', 'next 3', 'prev 1']],
    ['page=4&per_page=5', ['first 1', 'prev 3']],
    ['page=1&per_page=17', ['first 1']],
    ['page=9', ['first 1', 'prev 8']],
  ])('have for the query %j the links %j', async (query, expected) => {
    const response = await listLogs(server, new URLSearchParams(query));
    const relations = `${response.headers.get('link')}`.matchAll(
      /[?&]page=(\d+)[^>]*>; rel="(\w+)"/g,
    );
    expect([...relations].map(([, page, name]) => `${name} ${page}`)).toEqual(expected);
  });

  it('have links that keep the filters and can be followed', async () => {
    const query = { per_page: '5', actor_type: 'device', sort: 'asc', object_id: '' };
    const { object_id: _, ...kept } = query;
    const response = await listLogs(server, kept);
    const next = /<([^>]*)>; rel="next"/.exec(`${response.headers.get('link')}`)?.[1] ?? '';
    const path = new URL(next, server.baseUrl);
    expect(Object.fromEntries(path.searchParams)).toEqual({ ...kept, page: '2' });
    const followed = await server.request('GET', path.pathname + path.search, {
      token: server.adminToken,
    });
    expect(contactsIn(followed.json<AuditLog[]>())).toEqual([5, 6, 7, 8, 9]);
  });

  it('return 200, an empty list and the total count past the end', async () => {
    for (const page of ['3', '1000000000']) {
      const response = await listLogs(server, { page });
      expect([response.status, response.json(), response.headers.get('x-total-count')]).toEqual([
        200,
        [],
        '17',
      ]);
    }
  });

  it('can contain 500 entries and no more', async () => {
    expect((await listLogs(server, { per_page: '500' })).status).toBe(200);
    expect((await listLogs(server, { per_page: '501' })).status).toBe(400);
  });

  it.each([
    'page=0',
    'page=-1',
    'page=x',
    'page=',
    'page=1.5',
    'page=1e3',
    'page=1000000001',
    'page=1&page=2',
    'per_page=0',
    'per_page=-5',
    'per_page=ten',
    'created_before=yesterday',
    'created_before=2026-11-21T12:00:00Z',
    'created_before=1.5',
    'created_before=',
    'created_after=now',
    'created_after=99999999999999',
    'actor_type=robot',
    'actor_type=User',
    'actor_type=',
    'object_type=key',
    'object_type=constructor',
    'sort=up',
    'sort=DESC',
    'sort=',
    'actor_id=a&actor_id=b',
  ])('return 400 for %s, with the parameter name in the error', async (query) => {
    const response = await listLogs(server, new URLSearchParams(query));
    const [name = ''] = query.split('=');
    expect([response.status, response.json()]).toEqual([
      400,
      { error: expect.stringContaining(`query: ${name}`), request_id: expect.any(String) },
    ]);
  });
});

describe('the time bounds of the audit log', () => {
  let server: TestServer;

  /** The server records one entry at each of these milliseconds after the start. */
  const offsetsMs = [0, 400, 1000, 1999, 2000, 2001];

  beforeAll(async () => {
    server = await startTestServer();
    for (const [at, atMs] of offsetsMs.entries()) {
      server.clock.advance(startOfTest + atMs - server.clock.now());
      await makeFirstContacts(server, [`device-${at}`]);
    }
  });

  afterAll(() => server.close());

  it.each<[string, number | undefined, number | undefined, number[]]>([
    ['before the start', undefined, -1, []],
    ['before or at the start', undefined, 0, [0]],
    ['before or at the first second: 400 ms are in, 1999 ms are not', undefined, 1, [0, 400, 1000]],
    ['before or at the second second', undefined, 2, [0, 400, 1000, 1999, 2000]],
    ['before or at the third second', undefined, 3, offsetsMs],
    ['after or at the start', 0, undefined, offsetsMs],
    ['after or at the first second', 1, undefined, [1000, 1999, 2000, 2001]],
    ['after or at the second second', 2, undefined, [2000, 2001]],
    ['after the last', 3, undefined, []],
    ['one second', 1, 1, [1000]],
    ['a span', 1, 2, [1000, 1999, 2000]],
    ['a span that ends before it begins', 2, 1, []],
  ])('select the right entries: %s', async (_, after, before, expected) => {
    const query = {
      sort: 'asc',
      ...(after !== undefined && { created_after: String(startSeconds + after) }),
      ...(before !== undefined && { created_before: String(startSeconds + before) }),
    };
    const response = await listLogs(server, query);
    const times = response.json<AuditLog[]>().map(({ time }) => Date.parse(time) - startOfTest);
    expect(times).toEqual(expected);
    expect(response.headers.get('x-total-count')).toBe(String(expected.length));
  });

  it('accept times before 1970 and far in the future', async () => {
    expect(await entries(server, { created_after: '-62135596800' })).toHaveLength(6);
    expect(await entries(server, { created_after: '253402300799' })).toEqual([]);
  });

  it('apply to entries whose times are in UTC with milliseconds', async () => {
    const times = (await entries(server, { sort: 'asc' })).map(({ time }) => time);
    expect(times.slice(0, 2)).toEqual(['2026-11-21T12:00:00.000Z', '2026-11-21T12:00:00.400Z']);
  });
});

describe('the filters of the audit log', () => {
  let server: TestServer;
  let device: AcceptedDevice;
  let deployment: string;
  let artifact: string;
  let userId: string;

  beforeAll(async () => {
    server = await startTestServer({ adminEmail: 'a+b&c@example.com' });
    device = await acceptedDevice(server, 'filtered');
    artifact = await publish(server);
    deployment = await deploy(server, [device], { name: 'spring & summer' });
    await deploy(server, [device], { name: 'autumn' });
    await abort(server, deployment);
    userId = `${(await entries(server))[0]?.actor.id}`;
  });

  afterAll(() => server.close());

  const all = [
    'create device',
    'update device',
    'create artifact',
    'create deployment',
    'create deployment',
    'abort deployment',
  ];

  it.each<[string, () => Record<string, string>, string[]]>([
    ['nothing', () => ({}), all],
    ['the actor ID of the user', () => ({ actor_id: userId }), all.slice(1)],
    ['the actor ID of the device', () => ({ actor_id: device.id }), ['create device']],
    ['a prefix of an actor ID', () => ({ actor_id: device.id.slice(0, 8) }), []],
    ['the actor type user', () => ({ actor_type: 'user' }), all.slice(1)],
    ['the actor type device', () => ({ actor_type: 'device' }), ['create device']],
    ['the email', () => ({ actor_email: 'a+b&c@example.com' }), all.slice(1)],
    ['an email in capitals', () => ({ actor_email: 'A+B&C@example.com' }), []],
    ['a part of the email', () => ({ actor_email: 'example.com' }), []],
    ['an empty email', () => ({ actor_email: '' }), []],
    ['the ID of the device', () => ({ object_id: device.id }), all.slice(0, 2)],
    ['the ID of the artifact', () => ({ object_id: artifact }), ['create artifact']],
    [
      'the ID of the deployment',
      () => ({ object_id: deployment }),
      ['create deployment', 'abort deployment'],
    ],
    ['the type device', () => ({ object_type: 'device' }), all.slice(0, 2)],
    ['the type artifact', () => ({ object_type: 'artifact' }), ['create artifact']],
    ['the type deployment', () => ({ object_type: 'deployment' }), all.slice(3)],
    ['the type user', () => ({ object_type: 'user' }), []],
    ['the type tenant', () => ({ object_type: 'tenant' }), []],
    [
      'the name of a deployment',
      () => ({ object_deployment_name: 'spring & summer' }),
      ['create deployment', 'abort deployment'],
    ],
    ['a prefix of the name', () => ({ object_deployment_name: 'spring' }), []],
    ['a sign that stands for any text in SQL', () => ({ object_deployment_name: '%' }), []],
    ['two at once', () => ({ actor_id: userId, object_id: device.id }), ['update device']],
    ['two that exclude one another', () => ({ actor_type: 'device', object_type: 'artifact' }), []],
    ['an attempt at SQL', () => ({ actor_id: "' OR '1'='1" }), []],
    ['an unknown parameter', () => ({ action: 'abort' }), all],
  ])('list the matching entries for %s', async (_, query, expected) => {
    const response = await listLogs(server, { sort: 'asc', ...query() });
    const logs = response.json<AuditLog[]>();
    expect(logs.map(({ action, object }) => `${action} ${object.type}`)).toEqual(expected);
    expect(response.headers.get('x-total-count')).toBe(String(expected.length));
  });
});

describe('a request for the audit log', () => {
  it.each(['list-audit-logs', 'export-audit-logs'] as const)(
    'returns 401 by %s without a valid user token',
    async (operation) => {
      const server = await startTestServer();
      const { token } = await acceptedDevice(server, 'reader');
      for (const call of [{}, { token: 'x' }, { token }]) {
        const response = await server.call(operation, call);
        expect([response.status, response.json()]).toEqual([
          401,
          { error: expect.any(String), request_id: expect.any(String) },
        ]);
      }
      await server.close();
    },
  );
});
