import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import type { FleetEvent } from '../device/events.ts';
import { noonMs } from '../testing/client-fixture.ts';
import { EventOrder } from './event-order.ts';

const orders: EventOrder[] = [];
afterEach(() => {
  for (const order of orders.splice(0)) order.close();
});

/** Returns an order and what it has emitted, as `device@moment#number`. */
function openOrder() {
  const clock = new ManualClock(noonMs);
  const emitted: string[] = [];
  const order = new EventOrder(clock, ({ device = 'fleet', atMs, sequence }) => {
    emitted.push(`${device}@${atMs - noonMs}#${sequence}`);
  });
  orders.push(order);
  return { clock, emitted, order };
}

const eventAt = (device: number, afterMs: number, sequence = 1): FleetEvent => {
  return { kind: 'socket-opened', device, atMs: noonMs + afterMs, sequence };
};

describe('the events of several workers', () => {
  it('are ordered by time and device, whichever worker reported them first', () => {
    const { clock, emitted, order } = openOrder();
    order.add(1, [eventAt(5, 10), eventAt(4, 30), eventAt(5, 30, 2)], noonMs + 40);
    clock.advance(400);
    order.add(
      0,
      [eventAt(1, 5), eventAt(1, 20, 2), eventAt(0, 30), eventAt(1, 700, 3)],
      noonMs + 700,
    );
    order.add(1, [], noonMs + 800);
    expect(emitted).toEqual([]);
    clock.advance(700);
    const first = ['1@5#1', '5@10#1', '1@20#2', '0@30#1', '4@30#1', '5@30#2'];
    expect(emitted).toEqual(first);
    order.close();
    expect(emitted).toEqual([...first, '1@700#3']);
  });

  it('wait for a worker that lags behind, but only for a bounded time', () => {
    const { clock, emitted, order } = openOrder();
    order.add(1, [eventAt(9, 20)], noonMs + 30);
    order.add(0, [eventAt(0, 100)], noonMs + 9000);
    clock.advance(9000);
    expect(emitted).toEqual(['9@20#1']);
    clock.advance(1200);
    expect(emitted).toEqual(['9@20#1', '0@100#1']);
    order.add(1, [eventAt(9, 50, 2)], noonMs + 60);
    clock.advance(100);
    expect(emitted).toEqual(['9@20#1', '0@100#1', '9@50#2']);
  });

  it('do not wait for a worker that has ended', () => {
    const { clock, emitted, order } = openOrder();
    order.add(1, [], noonMs + 1);
    order.add(0, [eventAt(0, 100)], noonMs + 900);
    order.recordEnd(1);
    clock.advance(900);
    expect(emitted).toEqual(['0@100#1']);
  });

  it('keep counting for a device whose new worker begins at 1 again', () => {
    const { emitted, order } = openOrder();
    order.add(1, [eventAt(4, 1, 1), eventAt(4, 2, 2)], noonMs);
    order.add(1, [eventAt(4, 9, 1), eventAt(4, 10, 2)], noonMs);
    order.close();
    expect(emitted).toEqual(['4@1#1', '4@2#2', '4@9#3', '4@10#4']);
  });

  it('include each fleet event once, and number all logins in one sequence', () => {
    const { emitted, order } = openOrder();
    const stamp = { atMs: noonMs, sequence: 1 };
    const stage: FleetEvent = { kind: 'stage', stage: 'ramp', ...stamp };
    const login = { kind: 'exchange', operation: 'login', status: 200, elapsedMs: 3 } as const;
    const events = [stage, { ...login, ...stamp, sequence: 2 }];
    for (const shard of [1, 0]) order.add(shard, events, noonMs);
    order.close();
    expect(emitted).toEqual(['fleet@0#1', 'fleet@0#2', 'fleet@0#3']);
  });

  it('are buffered up to a limit, at which the earlier half is released', () => {
    const { emitted, order } = openOrder();
    const many = Array.from({ length: 200_000 }, (_, index) => eventAt(index, index));
    order.add(0, many, noonMs);
    expect(emitted).toHaveLength(100_000);
    expect(emitted.at(-1)).toBe('99999@99999#1');
  });
});
