import { describe, expect, it } from 'vitest';
import type { ClientExchange } from '../../fixtures/control/client-event.ts';
import { ObservedEvents } from './observed-events.ts';

const failed: ClientExchange = {
  kind: 'exchange',
  journalEntry: 1,
  client: 'client',
  method: 'GET',
  url: 'http://localhost/',
  requestHeaders: [],
  requestBody: undefined,
  status: 503,
  responseHeaders: [],
  responseBody: undefined,
  responseBytes: 0,
  isDelivered: true,
  sentMs: 0,
  endedMs: 1000,
  serverNowMs: 0,
  faultsAndVariations: [],
  connection: '1',
};
const ping = { kind: 'socket', event: 'ping', from: 'server', socket: '1' } as const;

describe('the events of a client that has a WebSocket', () => {
  const events = new ObservedEvents(
    () => undefined,
    () => 'http://localhost',
  );
  const facts = { isDelivered: true, report: undefined };
  for (const endedMs of [1000, 5000])
    events.all.push({ operation: 'poll', status: 503, ...facts, event: { ...failed, endedMs } });
  const event = { ...ping, client: 'client', journalEntry: 3, atMs: 8000 };
  events.all.push({ operation: 'socket', status: 0, ...facts, event });

  it('measure the pauses between requests without the pings of the WebSocket', () => {
    expect(events.pauses(9000)).toEqual({ pauseMs: 4000, longestPauseMs: 4000 });
  });

  it('show a failing server as long as the last request has failed', () => {
    expect(events.isFailing).toBe(true);
  });
});
