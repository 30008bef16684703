import { MockAgent, type MockPool } from 'undici';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FullExchange } from '../../../conformance/recordings/recording.ts';
import { ManualClock, runFast, type Timer } from '../../../fixtures/base/clock.ts';
import { type PlayPlan, SessionReplay } from './session-replay.ts';

const url = 'http://server.test';
const authPath = '/api/devices/v1/authentication/auth_requests';
const inventoryPath = '/api/devices/v1/inventory/device/attributes';
const recordedMs = Date.UTC(2026, 0, 1);
const startMs = Date.UTC(2027, 0, 1);
const HOUR_MS = 3_600_000;
let time: Timer;

afterEach(() => time.cancel());

/** Returns a replay in virtual time, against a server that answers as given. */
function replayOn(plan: Partial<PlayPlan> = {}) {
  const clock = new ManualClock(startMs);
  const dispatcher = new MockAgent();
  dispatcher.disableNetConnect();
  time = runFast(clock, () => true);
  const replay = new SessionReplay({
    url,
    dispatcher,
    caPem: undefined,
    headerPrefix: 'X-SVC',
    tenantToken: undefined,
    pauseMaxMs: 0,
    acceptanceMs: 30_000,
    clock,
    stop: new AbortController().signal,
    onWaiting: () => undefined,
    ...plan,
  });
  return { replay, clock, server: dispatcher.get<MockPool>(url) };
}

function exchangeOf(exchange: Partial<FullExchange>): FullExchange {
  const pathname = exchange.pathname ?? inventoryPath;
  return {
    location: 'line 1',
    method: 'POST',
    pathname,
    url: pathname,
    status: 200,
    atMs: recordedMs,
    sentMs: recordedMs,
    endedMs: recordedMs,
    requestBody: () => undefined,
    responseBody: () => undefined,
    responseBytes: () => undefined,
    requestHeaders: () => ({}),
    responseHeaders: () => ({}),
    alteration: undefined,
    ...exchange,
  };
}

/** Makes the server record requests of a method and path, and answer them with these statuses. */
function answer(server: MockPool, method: string, path: string, statuses: readonly number[]) {
  const requests: { headers: unknown; body: unknown }[] = [];
  for (const status of statuses) {
    server.intercept({ path, method }).reply(status, ({ headers, body }) => {
      requests.push({ headers, body });
      return status === 200 ? 'token-of-server' : '';
    });
  }
  return requests;
}

const authentication = exchangeOf({
  pathname: authPath,
  requestBody: () => ({ id_data: '{"mac":"02:00:00:00:00:01"}', pubkey: 'recorded' }),
  responseBody: () => 'token-1',
});

describe('the replay of a session', () => {
  it('waits between requests as recorded, but not longer than the longest pause', async () => {
    const { replay, clock, server } = replayOn({ pauseMaxMs: 90_000 });
    answer(server, 'GET', inventoryPath, [204, 204, 204]);
    const waitsMs: number[] = [];
    for (const sentMs of [recordedMs, recordedMs + 60_000, recordedMs + HOUR_MS]) {
      const beforeMs = clock.now();
      await replay.play(exchangeOf({ method: 'GET', status: 204, sentMs, endedMs: sentMs }));
      waitsMs.push(clock.now() - beforeMs);
    }
    expect(waitsMs).toEqual([0, 60_000, 90_000]);
  });

  it('repeats the authentication request until the device is accepted', async () => {
    const onWaiting = vi.fn();
    const { replay, clock, server } = replayOn({ headerPrefix: 'X-MEN', onWaiting });
    const requests = answer(server, 'POST', authPath, [401, 401, 401, 200]);
    expect(await replay.play(authentication)).toMatchObject({ status: 200, differences: [] });
    expect(clock.now() - startMs).toBe(3000);
    expect(onWaiting).toHaveBeenCalledTimes(1);
    expect(requests).toHaveLength(4);
    expect(requests[3]).toMatchObject({ headers: { 'X-MEN-Signature': expect.any(String) } });
  });

  it('says that the status differs if no user accepts the device in time', async () => {
    const { replay, clock, server } = replayOn({ acceptanceMs: 5000 });
    answer(server, 'POST', authPath, Array(9).fill(401));
    const { differences } = await replay.play(authentication);
    expect(differences).toEqual(['the status is 401, recorded 200']);
    expect(clock.now() - startMs).toBe(5000);
  });

  it("sends the server's token, and times moved to the present", async () => {
    const { replay, server } = replayOn();
    answer(server, 'POST', authPath, [200]);
    const requests = answer(server, 'PUT', inventoryPath, [204]);
    await replay.play(authentication);
    await replay.play(
      exchangeOf({
        method: 'PUT',
        status: 204,
        requestHeaders: () => ({ authorization: 'Bearer token-1' }),
        requestBody: () => [{ name: 'booted', value: new Date(recordedMs - 1000).toISOString() }],
      }),
    );
    expect(requests).toEqual([
      {
        headers: expect.objectContaining({ authorization: 'Bearer token-of-server' }),
        body: JSON.stringify([{ name: 'booted', value: new Date(startMs - 1000).toISOString() }]),
      },
    ]);
  });
});
