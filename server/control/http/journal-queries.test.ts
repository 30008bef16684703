import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedDevice } from '../../testing/test-device.ts';
import { journalPage } from '../../testing/test-journal.ts';
import { connectPeer } from '../../testing/test-peer.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

it('a journal query with a misspelt operation or device returns 400 with suggestions', async () => {
  const own = await startTestServer();
  await acceptedDevice(own, 'spelt-right');
  for (const [path, shown] of [
    ['/journal?operation=get-next-deploiment', 'get-next-deployment'],
    ['/journal?device=spelt-rigth', 'spelt-right'],
    ['/journal.har?device=spelt-rigth', 'spelt-right'],
  ] as const) {
    const { status, text } = await control(own, 'GET', path);
    expect([status, text]).toEqual([400, expect.stringMatching(`nearest: .*${shown}`)]);
  }
  const json = { device: 'spelt-rigth', happened: [{ report: 'success' }] };
  const asserted = await control(own, 'POST', '/assert', json);
  expect([asserted.status, asserted.text]).toEqual([400, expect.stringContaining('spelt-right')]);
  await own.close();
});

describe('a query to the journal', () => {
  it.each([
    ['/journal?operatoin=x', 'operatoin: is unknown'],
    ['/journal?status=40', 'status: must be a status such as 404'],
    ['/journal?status=6xx', 'status: must be a status such as 404'],
    ['/journal?status=404&status=405', 'status: must appear only once'],
    ['/journal?kind=', 'kind: must be one of exchange, frame, unparsable'],
    ['/journal?limit=0', 'limit: must be at least 1'],
    ['/journal?limit=501', 'limit: must be at most 500'],
    ['/journal?after=-1', 'after: must be at least 0'],
    ['/journal?after=x', 'after: must be a whole number'],
    ['/journal?since=yesterday', 'since: must be a date-time'],
    ['/journal?until=2026-02-30T00:00:00Z', 'until: must be a date-time'],
    ['/journal?device=', 'device: must not be empty'],
    ['/journal?whole=yes', 'whole: must be true or false'],
    ['/journal?__proto__=x', '__proto__'],
    ['/journal?device[x]=y', 'is unknown'],
    ['/journal?count=2', 'count: is not a parameter of this path'],
    ['/journal.har?limit=5', 'limit: is not a parameter of this path'],
    ['/await?limit=5', 'limit: is not a parameter of this path'],
    ['/await?count=0', 'count: must be at least 1'],
    ['/await?timeoutSeconds=601', 'timeoutSeconds: must be at most 600'],
    ['/await?timeoutSeconds=-1', 'timeoutSeconds: must be a number'],
    ['/journal/x', 'path: the sequence'],
    ['/journal/0', 'path: the sequence'],
  ])('returns 400 when malformed: %s', async (path, reason) => {
    const response = await control(server, 'GET', path);
    expect(response.status).toBe(400);
    expect(JSON.parse(response.text).error).toContain(reason);
  });

  it.each([
    [404, 'GET', '/journal?tenant=none'],
    [404, 'DELETE', '/journal?tenant=none'],
    [404, 'GET', '/journal.har?tenant=none'],
    [404, 'GET', '/await?tenant=none'],
    [404, 'POST', '/assert?tenant=none'],
    [404, 'GET', '/journal/1?tenant=none'],
    [404, 'GET', '/journal/99999999'],
    [405, 'PUT', '/journal'],
    [405, 'POST', '/await'],
    [405, 'GET', '/assert'],
    [405, 'POST', '/journal/stream'],
    [405, 'HEAD', '/journal/stream'],
  ])('returns %i for an unknown tenant, entry or method: %s %s', async (status, method, path) => {
    expect((await control(server, method, path)).status).toBe(status);
  });

  it('returns 401 without the control token', async () => {
    for (const path of ['/journal', '/journal/1', '/journal/1/har', '/journal.har', '/await']) {
      expect((await fetch(server.controlUrl + path)).status).toBe(401);
    }
  });
});

describe('a journal with configured bounds', () => {
  it('returns 503 and says how to enable it when disabled, while the API works as usual', async () => {
    const silent = await startTestServer({ journalEntriesMax: 0 });
    expect((await silent.request('GET', '/nothing')).status).toBe(404);
    const one = await acceptedDevice(silent, 'aa:01');
    const peer = await connectPeer(silent, one);
    peer.socket.terminate();
    for (const path of ['/journal', '/journal/1', '/journal.har', '/journal/stream', '/await']) {
      const response = await control(silent, 'GET', path);
      expect(response.status).toBe(503);
      expect(response.text).toContain('--journal-entries');
    }
    await silent.close();
  });

  it.each([
    { journalEntriesMax: -1 },
    { journalEntriesMax: 1.5 },
    { journalEntriesMax: 1_000_001 },
    { journalBytesMax: 0 },
    { journalBytesMax: 65_535 },
    { journalBytesMax: Number.NaN },
  ])('is refused for invalid settings: %j', async (settings) => {
    await expect(startTestServer(settings)).rejects.toThrow(/^journal\w+ must be a whole number/);
  });

  it('shows the configured bounds and keeps to them', async () => {
    const small = await startTestServer({ journalEntriesMax: 5, journalBytesMax: 65_536 });
    for (let count = 0; count < 9; count += 1) await small.request('GET', `/asked/${count}`);
    const { bounds, size, entries } = await journalPage(small);
    expect(bounds).toEqual({ entriesMax: 5, bytesMax: 65_536 });
    expect(size).toMatchObject({ added: 9, kept: 5, dropped: 4 });
    expect(entries.map(({ path }) => path)).toEqual([4, 5, 6, 7, 8].map((n) => `/asked/${n}`));
    await small.close();
  });
});

describe('a varied response in the journal', () => {
  it('is listed with its variations and the rules that allow them', async () => {
    const varied = await startTestServer({ variationSeed: 'journal' });
    for (let count = 0; count < 5; count += 1) await varied.request('GET', '/nothing');
    const { entries } = await journalPage(varied);
    const applied = entries.flatMap(
      (entry) => (entry.varied ?? []) as { id: string; rule: string }[],
    );
    expect(applied.length).toBeGreaterThan(0);
    for (const { id, rule } of applied) expect([id, rule]).not.toContain('');
    await varied.close();
  });
});

describe('a long listing of the journal', () => {
  it('does not delay the responses to other requests', async () => {
    const path = `/${'eyJ-'.repeat(3000)}`;
    for (let sent = 0; sent < 300; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, () => server.request('GET', path)));
    }
    const order: string[] = [];
    const listing = journalPage(server, 'text=in-none-of-them').then(() => order.push('listing'));
    const assertion = control(server, 'POST', '/assert', { happened: [{ text: 'x-y' }] }).then(() =>
      order.push('assertion'),
    );
    const { status } = await server.call('count-devices', { token: server.adminToken });
    order.push('count');
    await Promise.all([listing, assertion]);
    expect([status, order[0]]).toEqual([200, 'count']);
  });
});
