import { describe, expect, it } from 'vitest';
import { CLIENTS_MAX, WatchedClients } from './watched-clients.ts';

/** Admits as many clients as there may be, at time 0. */
function full(forgotten: string[] = []): WatchedClients {
  const clients = new WatchedClients((client) => forgotten.push(client));
  for (let count = 0; count < CLIENTS_MAX; count += 1) clients.admit(`client-${count}`, 0);
  return clients;
}

describe('the clients that are judged', () => {
  it('are no more than the limit, and the events of others are counted', () => {
    const clients = full();
    expect(clients.admit('one too many', 1000)).toBe(false);
    expect(clients.admit('client-0', 1000)).toBe(true);
    expect(clients.leftOut).toBe(1);
  });

  it('make room for others once they have been silent for ten minutes', () => {
    const forgotten: string[] = [];
    const clients = full(forgotten);
    clients.admit('client-7', 599_000);
    expect(clients.admit('another', 601_000)).toBe(true);
    expect(forgotten).toHaveLength(CLIENTS_MAX - 1);
    expect(clients.has('client-7')).toBe(true);
  });

  it('have one gap for all events that are lost in a row', () => {
    const clients = full();
    const first = clients.drop('client-0');
    const second = clients.drop('client-0');
    clients.endGap('client-0');
    const third = clients.drop('client-0');
    expect([first.isNew, second.isNew, third.isNew]).toEqual([true, false, true]);
    expect([first.count(), third.count(), clients.dropped]).toEqual([2, 1, 3]);
  });
});
