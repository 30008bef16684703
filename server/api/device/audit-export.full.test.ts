import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../fixtures/contract/operations.ts';
import { publish } from '../../testing/test-artifacts.ts';
import { exportLogs, makeFirstContacts } from '../../testing/test-audit.ts';
import { deploy } from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startOfTest, startTestServer, type TestServer } from '../../testing/test-server.ts';

const header =
  'action,actor.id,actor.type,actor.email,actor.identity_data,object.id,object.type,' +
  'object.tenant.id,object.tenant.name,object.tenant.parent,object.user.email,' +
  'object.deployment.name,object.deployment.artifact_name,object.device.id,' +
  'object.device.identity_data,change,time';
const time = '2026-11-21T12:00:00.000Z';

/** Returns a query that ignores all CSV columns except the given ones. */
function allBut(...kept: string[]): URLSearchParams {
  const ignored = header.split(',').filter((field) => !kept.includes(field));
  return new URLSearchParams(ignored.map((field): [string, string] => ['ignore', field]));
}

describe('the CSV export of the audit log', () => {
  let server: TestServer;
  let device: AcceptedDevice;

  beforeAll(async () => {
    server = await startTestServer();
    device = await acceptedDevice(server, 'exported');
  });

  afterAll(() => server.close());

  it('has a header and one line per entry, and is sent in chunks', async () => {
    const response = await exportLogs(server, { sort: 'asc', actor_type: 'device' });
    const identity = '"{""mac"":""exported""}"';
    expect(response.text).toBe(
      `${header}\r\n` +
        `create,${device.id},device,,${identity},${device.id},device,,,,,,,${device.id},${identity},` +
        `first request; pending until a user accepts it,${time}\r\n`,
    );
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': expect.stringMatching(/^text\/csv/),
      'transfer-encoding': 'chunked',
      'x-svc-requestid': expect.stringMatching(/./),
    });
    expect(response.headers.has('content-length')).toBe(false);
  });

  it('returns 400 with the name of an ignored field that does not exist', async () => {
    for (const name of ['', 'actor', 'Actor.id', 'actor.mail', 'constructor']) {
      const response = await exportLogs(server, { ignore: name });
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringContaining(`query: ignore: unknown field "${name}"; the fields are action,`),
      ]);
    }
  });

  it('escapes formulas only if the server has the setting `spreadsheetSafeCsv`', async () => {
    const careful = await startTestServer({ spreadsheetSafeCsv: true });
    const target = await acceptedDevice(careful, 'formula');
    await publish(careful);
    const id = await deploy(careful, [target], { name: '=1+1' });
    expect((await exportLogs(careful, { object_id: id })).text).toContain(",'=1+1,");
    await careful.close();
  });

  it('contains only the header if no entry matches', async () => {
    const response = await exportLogs(server, { actor_id: 'nobody' });
    expect([response.status, response.text]).toEqual([200, `${header}\r\n`]);
  });

  it('uses the requested separator in the column names of its header', async () => {
    for (const [separator, expected] of [
      ['_', header.replaceAll('.', '_')],
      ['::', header.replaceAll('.', '::')],
      ['.', header],
    ] as const) {
      const query = { format_separator: separator, actor_id: 'nobody' };
      expect((await exportLogs(server, query)).text).toBe(`${expected}\r\n`);
    }
  });

  it('quotes the column names if their separator is a comma', async () => {
    const query = allBut('actor.id', 'time');
    query.set('format_separator', ',');
    expect((await exportLogs(server, query)).text).toMatch(/^"actor,id",time\r\n/);
  });

  it('omits the ignored fields, one or several', async () => {
    const one = await exportLogs(server, { ignore: 'actor.id', limit: '1' });
    expect(one.text.split('\r\n')[0]).toBe(header.replace('actor.id,', ''));
    const two = await exportLogs(server, allBut('action', 'object.type'));
    expect(two.text).toBe('action,object.type\r\nupdate,device\r\ncreate,device\r\n');
  });

  it.each([
    ['with dots', 'actor.id'],
    ['with the separator', 'actor/id'],
  ])('accepts an ignored field name written %s', async (_, ignore) => {
    const query = { format_separator: '/', ignore, actor_id: 'nobody' };
    const expected = header.replace('actor.id,', '').replaceAll('.', '/');
    expect((await exportLogs(server, query)).text).toBe(`${expected}\r\n`);
  });

  it('returns 200 even if all fields are ignored', async () => {
    expect((await exportLogs(server, allBut())).status).toBe(200);
  });

  it.each([
    'limit=0',
    'limit=-1',
    'limit=x',
    'limit=',
    'limit=20001',
    'limit=1&limit=2',
    'format_separator=',
    'created_before=today',
    'actor_type=robot',
    'object_type=key',
    'sort=up',
  ])('returns 400 for the query %s', async (query) => {
    const response = await exportLogs(server, new URLSearchParams(query));
    const [name = ''] = query.split('=');
    expect([response.status, response.json()]).toEqual([
      400,
      { error: expect.stringContaining(`query: ${name}`), request_id: expect.any(String) },
    ]);
  });

  it('accepts a limit of 20,000 entries', async () => {
    expect((await exportLogs(server, { limit: '20000' })).status).toBe(200);
  });
});

describe('the CSV values of the audit log', () => {
  let server: TestServer;
  let device: AcceptedDevice;

  beforeAll(async () => {
    server = await startTestServer();
    device = await acceptedDevice(server, 'quoted');
    await publish(server);
  });

  afterAll(() => server.close());

  it.each([
    ['a comma', 'a,b', '"a,b"'],
    ['a quote', 'say "hi"', '"say ""hi"""'],
    ['a line feed', 'a\nb', '"a\nb"'],
    ['a carriage return', 'a\rb', '"a\rb"'],
    ['a line end', 'a\r\nb', '"a\r\nb"'],
    ['letters beyond ASCII', 'größe 😀', 'größe 😀'],
    ['blanks at its ends', ' a ', ' a '],
    ['a semicolon', 'a;b', 'a;b'],
    ['a formula', '=1+1', '=1+1'],
    ['a formula that calls', '@SUM(A1)', '@SUM(A1)'],
    ['a formula with plus', '+1', '+1'],
    ['a formula with minus', '-1', '-1'],
    ['a tab before a formula', '\t=1', '\t=1'],
    ['a formula with a comma and quotes', '=HYPERLINK("a","b")', '"=HYPERLINK(""a"",""b"")"'],
    ['a sign of equality inside', 'a=b', 'a=b'],
  ])('are quoted so that a CSV reader restores the value: %s', async (_, name, expected) => {
    const id = await deploy(server, [device], { name });
    const query = allBut('object.deployment.name', 'object.id');
    query.set('object_id', id);
    expect((await exportLogs(server, query)).text).toBe(
      `object.id,object.deployment.name\r\n${id},${expected}\r\n`,
    );
  });

  it('are filtered by the same query as the list', async () => {
    const id = await deploy(server, [device], { name: 'filtered' });
    const second = startOfTest / 1000;
    const filters = [
      { object_deployment_name: 'filtered' },
      { object_id: id, created_after: String(second), created_before: String(second) },
      { object_type: 'deployment', object_id: id, actor_email: server.adminEmail },
    ];
    for (const filter of filters) {
      const query = new URLSearchParams([...allBut('object.id'), ...Object.entries(filter)]);
      expect((await exportLogs(server, query)).text).toBe(`object.id\r\n${id}\r\n`);
    }
    const none = await exportLogs(server, { object_id: id, created_before: String(second - 1) });
    expect(none.text).toBe(`${header}\r\n`);
  });
});

describe('the CSV export of a long audit log', () => {
  const count = 1010;
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer();
    const names = Array.from({ length: count }, (_, at) => `d-${at}`);
    await makeFirstContacts(server, names);
  });

  afterAll(() => server.close());

  const identities = (text: string) => [...text.matchAll(/"d-(\d+)/g)].map(([, at]) => Number(at));
  const query = (sort: string, limit?: number) => {
    const search = allBut('actor.identity_data');
    search.set('sort', sort);
    if (limit !== undefined) search.set('limit', String(limit));
    return search;
  };

  it('contains each entry once in the requested order', async () => {
    const upwards = Array.from({ length: count }, (_, at) => at);
    expect(identities((await exportLogs(server, query('asc'))).text)).toEqual(upwards);
    expect(identities((await exportLogs(server, query('desc'))).text)).toEqual(
      upwards.toReversed(),
    );
  });

  it.each([1, 499, 500, 501, 1000, 1009])(
    'ends after %d entries if that is the limit',
    async (limit) => {
      const { text } = await exportLogs(server, query('asc', limit));
      expect(identities(text)).toEqual(Array.from({ length: limit }, (_, at) => at));
      expect(text.split('\r\n')).toHaveLength(limit + 2);
    },
  );
});

describe('a slow reader of the CSV export', () => {
  const count = 510;
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer();
    // The names are long, so that the first part does not fit into the buffers of a connection.
    const padding = '"'.repeat(2000);
    const names = Array.from({ length: count }, (_, at) => `d-${at}${padding}`);
    await makeFirstContacts(server, names);
  });

  afterAll(() => server.close());

  /** Requests the export and leaves the response unread. */
  function open(): Promise<IncomingMessage> {
    const url = `${server.baseUrl}${operations['export-audit-logs'].path}`;
    const headers = { Authorization: `Bearer ${server.adminToken}` };
    return new Promise((resolve, reject) => {
      const clientRequest = request(url, { headers }, resolve);
      clientRequest.on('error', reject);
      clientRequest.end();
    });
  }

  it('receives the entries that existed at its request, each once', async () => {
    const response = await open();
    await makeFirstContacts(server, ['d-8888', 'd-9999']);
    const text = Buffer.concat(await response.toArray()).toString();
    const lines = text.split('\r\n').slice(1, -1);
    const listed = lines.map((line) => Number(/"d-(\d+)/.exec(line)?.[1]));
    expect(listed).toEqual(Array.from({ length: count }, (_, at) => count - 1 - at));
  });

  it('can disconnect in the middle without harm to the server', async () => {
    const response = await open();
    response.on('error', () => undefined);
    const closed = once(response, 'close');
    response.destroy();
    await closed;
    expect((await exportLogs(server, { limit: '1' })).status).toBe(200);
  });

  it('does not keep the server from closing', async () => {
    const response = await open();
    const broken = once(response, 'error');
    await server.close();
    response.resume();
    expect((await broken)[0]).toMatchObject({ code: 'ECONNRESET' });
  });
});
