import { describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../fixtures/base/clock.ts';
import { allCases } from '../cases/all-cases.ts';
import { judgesRateLimit } from '../runner/schedule.ts';
import { serve } from '../testing/stub-server.ts';
import { Target } from './target.ts';

/** A clock whose sleeps end immediately, and which records each of them. */
class HurriedClock extends ManualClock {
  readonly slept: number[] = [];

  /** Additional milliseconds of each sleep, as on a busy machine. */
  lateMs = 0;

  override async sleep(delayMs: number): Promise<void> {
    this.slept.push(delayMs);
    this.advance(delayMs + this.lateMs);
  }
}

async function targetOn(
  responses: readonly (readonly [number, Readonly<Record<string, string>>])[],
  requestsPerSecondMax?: number,
) {
  const clock = new HurriedClock(Date.parse('2026-01-31T12:00:00Z'));
  const times: number[] = [];
  const baseUrl = await serve((request, response) => {
    request.resume();
    const [status, headers] = responses[Math.min(times.length, responses.length - 1)] ?? [200, {}];
    times.push(clock.monotonicMs());
    response.writeHead(status, headers).end();
  });
  const target = new Target({ baseUrl, clock, requestTimeLimitMs: 900_000, requestsPerSecondMax });
  return { target, client: target.newClient(), clock, moments: times };
}

const get = { method: 'GET', url: '/' };
const ok = [200, {}] as const;

describe('a rate limit for the requests of a run', () => {
  it('applies to all clients together', async () => {
    const baseUrl = await serve((_, response) => response.end());
    const limits = { requestTimeLimitMs: 5000, requestsPerSecondMax: 50 };
    const target = new Target({ baseUrl, clock: systemClock, ...limits });
    const clients = Array.from({ length: 3 }, () => target.newClient());
    const startedMs = systemClock.monotonicMs();
    await Promise.all([...clients, ...clients].map((client) => client.send(get)));
    // Six requests at 50 a second take at least five times 20 ms, on a busy machine more.
    expect(systemClock.monotonicMs() - startedMs).toBeGreaterThan(98);
  });

  it('is reached even if timers are late', async () => {
    const { client, clock, moments: times } = await targetOn([ok], 20);
    clock.lateMs = 30;
    for (let request = 0; request < 5; request += 1) await client.send(get);
    expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 80, 130, 180, 230]);
  });

  it('adds waiting time that is not counted as response time', async () => {
    const { client } = await targetOn([ok], 2);
    for (let request = 0; request < 3; request += 1) await client.send(get);
    expect(client.waitedMs).toBe(1000);
    expect(client.exchangeList.exchanges.map(({ elapsedMs }) => elapsedMs)).toEqual([0, 0, 0]);
  });

  it('causes no wait when it is absent', async () => {
    const { client, clock } = await targetOn([ok]);
    await Promise.all([client.send(get), client.send(get)]);
    expect(clock.slept).toEqual([]);
  });
});

describe('a response that asks the client to wait', () => {
  it.each([
    [429, { 'retry-after': '7' }, 7000],
    [503, { 'retry-after': '7' }, 7000],
    [429, { 'retry-after': 'Sat, 31 Jan 2026 12:00:09 GMT' }, 9000],
    [429, { 'retry-after': 'Sat, 31 Jan 2026 11:00:00 GMT' }, 0],
    [429, {}, 1000],
    [429, { 'retry-after': 'soon' }, 1000],
  ])('is retried for status %i and headers %o after %i ms', async (status, headers, ms) => {
    const { client, moments: times } = await targetOn([[status, headers], ok]);
    expect((await client.send(get)).status).toBe(200);
    expect(times).toEqual([0, ms]);
  });

  it('delays the whole run, not only the client that received it', async () => {
    const { target, moments: times } = await targetOn([[429, { 'retry-after': '5' }], ok]);
    const [one, other] = [target.newClient(), target.newClient()];
    const firstExchange = one.send(get);
    await firstExchange;
    await other.send(get);
    expect(times).toEqual([0, 5000, 5000]);
  });

  it.each([
    [503, {}],
    [500, { 'retry-after': '7' }],
    [200, { 'retry-after': '7' }],
  ])('is not a response %i with %o, which the case receives', async (status, headers) => {
    const { client, moments: times } = await targetOn([[status, headers], ok]);
    expect((await client.send(get)).status).toBe(status);
    expect(times).toHaveLength(1);
  });

  it('is retried three times, then the case is inconclusive', async () => {
    const { client, moments: times } = await targetOn([[429, { 'retry-after': '2' }]]);
    await expect(client.send(get)).rejects.toMatchObject({ code: 'asked-to-wait' });
    expect(times).toEqual([0, 2000, 4000, 6000]);
  });

  it('is not retried when it asks for more than a minute', async () => {
    const { client, clock } = await targetOn([[503, { 'retry-after': '61' }]]);
    await expect(client.send(get)).rejects.toThrow('asks to wait 61 s, which is longer');
    expect(clock.slept).toEqual([]);
  });

  it('is retried only within five minutes of waits per run', async () => {
    const { client, clock } = await targetOn([[429, { 'retry-after': '60' }]]);
    await expect(client.send(get)).rejects.toThrow('three retries');
    await expect(client.send(get)).rejects.toThrow('has already waited 300 s');
    expect(clock.monotonicMs()).toBe(300_000);
  });

  it('is not retried in a case that judges it', async () => {
    const { target, moments: times } = await targetOn([[429, { 'retry-after': '2' }], ok]);
    expect((await target.newClient({ noRateWait: true }).send(get)).status).toBe(429);
    expect(times).toHaveLength(1);
  });

  it('is retried with a body that is sent in chunks', async () => {
    const { client } = await targetOn([[429, { 'retry-after': '2' }], ok]);
    const response = await client.send({ method: 'POST', url: '/', body: ['a', 'b'] });
    expect(response.status).toBe(200);
  });
});

describe('the cases that judge rate limits', () => {
  it('cover the status 429 or 503, or control the rate', () => {
    const judging = allCases.filter(judgesRateLimit);
    expect(judging.length).toBeGreaterThan(0);
    expect(judging.length).toBeLessThan(allCases.length / 4);
    expect(judgesRateLimit({ covers: ['get-artifact 404'], needs: ['user'] })).toBe(false);
  });
});
