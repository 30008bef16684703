import { describe, expect, it } from 'vitest';
import { CLIENTS_MAX, UNKNOWN_MAX, WatchedClients } from './watched-clients.ts';

/** Admits as many clients as there may be, at time 0. */
function full(forgotten: string[] = []): WatchedClients {
  const clients = new WatchedClients((client) => forgotten.push(client));
  for (let count = 0; count < CLIENTS_MAX; count += 1) clients.admit(`client-${count}`, 0);
  return clients;
}

describe('the clients that are judged', () => {
  it('are no more than the limit, and the events of others are counted', () => {
    const clients = full();
    expect(clients.admit('one too many', 1000)).toBeUndefined();
    expect(clients.admit('client-0', 1000)?.name).toBe('client-0');
    expect(clients.leftOut).toBe(1);
  });

  it('are replaced by others after ten minutes without an event', () => {
    const forgotten: string[] = [];
    const clients = full(forgotten);
    clients.admit('client-7', 599_000);
    expect(clients.admit('another', 601_000)?.name).toBe('another');
    expect(forgotten).toHaveLength(CLIENTS_MAX - 1);
    expect(clients.find('client-7')).toBeDefined();
  });

  it('are replaced at once if they were decommissioned', () => {
    const clients = full();
    clients.retire('client-3');
    expect(clients.admit('another', 1)?.name).toBe('another');
    expect(clients.find('client-3')).toBeUndefined();
  });

  it('include a limited number of identities that the server does not know, the newest ones', () => {
    const forgotten: string[] = [];
    const clients = new WatchedClients((client) => forgotten.push(client));
    for (let count = 0; count <= UNKNOWN_MAX; count += 1) {
      clients.admit(`unknown-${count}`, count);
      clients.identify(`unknown-${count}`, '{}');
    }
    expect(forgotten).toEqual(['unknown-0']);
    expect(clients.find(`unknown-${UNKNOWN_MAX}`)).toBeDefined();
  });

  it('have one gap for all events that are lost in a row', () => {
    const clients = full();
    const { all } = clients;
    const first = clients.drop(all);
    const second = clients.drop(all);
    all.gap = undefined;
    const third = clients.drop(all);
    expect([first.isNew, second.isNew, third.isNew]).toEqual([true, false, true]);
    expect([first.count(), third.count(), clients.dropped]).toEqual([2, 1, 3]);
  });
});
