import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '../../testing/test-artifacts.ts';
import { board, deploy, nextRequests, report } from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { awaited, journalPage } from '../../testing/test-journal.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

let server: TestServer;
let device: AcceptedDevice;
let deployment: string;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'aa:01');
  await publish(server);
  deployment = await deploy(server, [device]);
  await nextRequests['POST v2'](server, device.token, board);
  for (const status of ['downloading', 'rebooting', 'success', 'success']) {
    await report(server, device, { id: deployment, status });
  }
  await report(server, device, { id: unknownId, status: 'installing' });
}, 30_000);

afterAll(() => server.close());

describe('waiting for a journal entry', () => {
  it('ends as soon as the entry arrives', async () => {
    const waiting = awaited(server, 'text=awaited&status=404');
    for (;;) {
      await server.request('GET', '/awaited/first');
      const first = await Promise.race([waiting, server.request('GET', '/other')]);
      if ('page' in first) {
        expect(first.status).toBe(200);
        expect(first.page.entries.map(({ path }) => path)).toEqual(['/awaited/first']);
        expect(first.page.next).toBe(first.page.entries[0]?.sequence);
        return;
      }
    }
  });

  it('includes older entries when given a sequence number', async () => {
    const { status, page } = await awaited(server, `after=0&deployment=${deployment}&count=3`);
    expect(status).toBe(200);
    expect(page.entries.map(({ operation }) => operation)).toEqual([
      'create-deployment',
      'post-next-deployment-v2',
      'put-deployment-status',
    ]);
    const laterAnswer = await awaited(server, `after=${page.next}&deployment=${deployment}`);
    expect(laterAnswer.page.entries[0]?.sequence).toBeGreaterThan(page.next);
  });

  it('ignores older entries when given no sequence number', async () => {
    const { status, page } = await awaited(server, `deployment=${deployment}&timeoutSeconds=0`);
    expect(status).toBe(408);
    expect(page).toMatchObject({ entries: [], otherEntries: [] });
  });

  it('times out with 408 and lists what arrived instead', async () => {
    for (let count = 0; count < 20; count += 1) await server.request('GET', '/instead');
    const query = `after=0&operation=put-deployment-log&timeoutSeconds=0`;
    const { status, page } = await awaited(server, query);
    expect(status).toBe(408);
    expect(page.error).toContain('no entry matched within 0 s');
    expect(page.otherEntries).toHaveLength(20);
    expect(page.otherEntries?.at(-1)?.sequence).toBe(page.next);
  });

  it('reports on timeout how many of the expected entries matched', async () => {
    const query = `after=0&operation=create-deployment&count=2&timeoutSeconds=0`;
    const { status, page } = await awaited(server, query);
    expect(status).toBe(408);
    expect(page.error).toContain('1 of 2 entries matched');
    expect(page.entries).toHaveLength(1);
  });

  it('uses the machine’s clock, not the tenant’s clock', async () => {
    await control(server, 'POST', '/clock', { rate: 0 });
    const waiting = awaited(server, 'text=never&timeoutSeconds=30');
    let ended = false;
    void waiting.then(() => {
      ended = true;
    });
    for (let round = 0; round < 1000 && !ended; round += 1) {
      server.clock.advance(31_000);
      await server.request('GET', '/round');
    }
    expect((await waiting).status).toBe(408);
    await control(server, 'DELETE', '/clock');
  });

  it('ends without a response when the caller disconnects', async () => {
    const caller = new AbortController();
    const headers = { Authorization: `Bearer ${server.controlToken}` };
    const url = `${server.controlUrl}/await?text=never&timeoutSeconds=600`;
    const waiting = fetch(url, { headers, signal: caller.signal });
    await journalPage(server);
    caller.abort();
    await expect(waiting).rejects.toThrow();
  });
});

interface Verdict {
  readonly holds: boolean;
  readonly sentence: string;
  readonly error?: string;
  readonly seen: readonly number[];
}

async function asserted(body: unknown): Promise<{ status: number; verdict: Verdict }> {
  const { status, text } = await control(server, 'POST', '/assert', body);
  return { status, verdict: JSON.parse(text) as Verdict };
}

const reportSteps = [{ report: 'rebooting' }, { report: 'success' }];

describe('an assertion about the journal', () => {
  it('is confirmed when the steps occurred in order', async () => {
    const { status, verdict } = await asserted({ device: 'aa:01', happened: reportSteps });
    expect(status).toBe(200);
    expect(verdict).toMatchObject({
      holds: true,
      sentence: 'device aa:01 did: report success after report rebooting.',
    });
    expect(verdict.seen).toHaveLength(3);
  });

  it.each([
    ['by its ID', () => ({ device: device.id, happened: reportSteps, times: 2 })],
    [
      'by operation and status',
      () => ({ happened: [{ operation: 'create-deployment', status: 201 }] }),
    ],
    ['of what never happened', () => ({ happened: [{ report: 'failure' }], times: 0 })],
    ['of a refused report', () => ({ happened: [{ report: 'installing', status: '4xx' }] })],
    ['of a time', () => ({ happened: reportSteps, between: { since: '2026-11-21T12:00:00Z' } })],
    [
      'of a part of the journal',
      () => ({ happened: [{ report: 'success' }], between: { after: 1 } }),
    ],
    [
      'of a first contact',
      () => ({
        device: 'aa:01',
        happened: [{ operation: 'post-auth-request', status: 401 }, { report: 'success' }],
      }),
    ],
  ])('is confirmed for %s', async (_, body) => {
    expect(await asserted(body())).toMatchObject({ status: 200, verdict: { holds: true } });
  });

  it('fails with 409 and lists the observed entries', async () => {
    const { status, verdict } = await asserted({
      device: 'aa:01',
      happened: reportSteps,
      times: 1,
    });
    expect(status).toBe(409);
    expect(verdict.holds).toBe(false);
    expect(verdict.error).toBe(verdict.sentence);
    expect(verdict.sentence).toMatch(
      /^device aa:01 was to: report success after report rebooting, once; the last step happened 2 times\. Seen instead: .*report rebooting 204 \(\d+\), report success 204 \(\d+\)/,
    );
  });

  it.each([
    ['in another order', { device: 'aa:01', happened: [...reportSteps].reverse() }],
    ['never', { happened: [{ report: 'failure' }] }],
    ['too rarely', { happened: reportSteps, times: 3 }],
    ['although they must not', { happened: reportSteps, times: 0 }],
    ['refused', { happened: [{ report: 'installing' }] }],
    ['with another status', { happened: [{ report: 'success', status: 500 }] }],
    ['earlier', { happened: reportSteps, between: { since: '2026-11-21T12:00:01Z' } }],
    ['later', { happened: reportSteps, between: { until: '2026-11-21T11:00:00Z' } }],
    ['after an entry', { happened: reportSteps, between: { after: 100_000 } }],
    ['before an entry', { happened: reportSteps, between: { before: 2 } }],
  ])('fails with 409 when the step occurred %s', async (_, body) => {
    const { status, verdict } = await asserted(body);
    expect(status).toBe(409);
    expect(verdict.sentence).toContain('was to: ');
    expect(verdict.sentence).toContain('Seen instead: ');
  });

  it('fails with 409 when another device did the step', async () => {
    await acceptedDevice(server, 'aa:77');
    expect((await asserted({ device: 'aa:77', happened: reportSteps })).status).toBe(409);
  });

  it('refuses an unknown device with the nearest names', async () => {
    const { text } = await control(server, 'POST', '/assert', {
      device: 'aa:7',
      happened: reportSteps,
    });
    expect(text).toMatch(/body: device: no device has this ID or identity value; nearest: aa:\d/);
  });

  it('mentions older entries that were dropped', async () => {
    const small = await startTestServer({ journalEntriesMax: 2 });
    for (let count = 0; count < 5; count += 1) await small.request('GET', '/x');
    const { text } = await control(small, 'POST', '/assert', { happened: [{ status: 200 }] });
    expect(text).toContain('3 older entries were dropped.');
    await small.close();
  });

  it.each([
    [{}, 'happened'],
    [{ happened: [] }, 'must hold at least one step'],
    [{ happened: 'success' }, 'must be a list'],
    [{ happened: [{}] }, 'must not be empty'],
    [{ happened: [{ report: 'done' }] }, 'happened.0.report: must be one of'],
    [{ happened: [{ status: 'ok' }] }, 'happened.0.status: must be a status such as 404'],
    [{ happened: [{ unknown: 1 }] }, 'happened.0.unknown'],
    [{ happened: Array(51).fill({ report: 'success' }) }, 'at most 50 steps'],
    [{ happened: reportSteps, times: -1 }, 'times: must be at least 0'],
    [{ happened: reportSteps, times: 1.5 }, 'times: must be a whole number'],
    [{ happened: reportSteps, between: { since: 'now' } }, 'between.since: must be a date-time'],
    [{ happened: reportSteps, device: '' }, 'device: must not be empty'],
    [[], 'body'],
  ])('returns 400 when malformed: %j', async (body, reason) => {
    const { status, verdict } = await asserted(body);
    expect(status).toBe(400);
    expect(verdict.error).toContain(reason);
  });
});
