import { describe, expect, it } from 'vitest';
import { runInNextIteration } from '../../fixtures/base/clock.ts';
import { ByteBudget } from '../http/byte-budget.ts';
import { Refusal } from '../http/refusal.ts';
import { LongWork } from './long-work.ts';

const unlimited = new ByteBudget(Number.MAX_SAFE_INTEGER);

class Disconnected extends Error {}

/** Creates work that runs until the test releases it, and records which steps began and ended. */
function controllableWork(work = new LongWork(unlimited)) {
  const events: string[] = [];
  const free = new Set<string>();
  const left = new Set<string>();
  function* step(name: string): Generator<void, string> {
    events.push(`${name} begins`);
    while (!free.has(name)) yield;
    events.push(`${name} ends`);
    return name;
  }
  const run = (caller: string, name: string): Promise<string | Refusal> => {
    const throwIfDisconnected = (): void => {
      if (left.has(name)) throw new Disconnected(name);
    };
    return work.run({ turnKey: caller, rawBody: Buffer.alloc(0), throwIfDisconnected }, step(name));
  };
  return {
    events,
    run,
    finish: (name: string) => free.add(name),
    leave: (name: string) => left.add(name),
  };
}

/** Waits for more event-loop iterations than any running work needs. */
async function awaitIterations(): Promise<void> {
  for (let iteration = 0; iteration < 50; iteration += 1) {
    await new Promise<void>((resolve) => runInNextIteration(resolve));
  }
}

describe('long work', () => {
  it('runs for two callers at a time, one piece each, in turns', async () => {
    const { events, run, finish } = controllableWork();
    const all = [run('a', 'a1'), run('a', 'a2'), run('b', 'b1'), run('b', 'b2'), run('c', 'c1')];
    await awaitIterations();
    expect(events).toEqual(['a1 begins', 'b1 begins']);
    for (const name of ['a1', 'a2']) finish(name);
    await awaitIterations();
    expect(events.slice(2)).toEqual(['a1 ends', 'a2 begins', 'a2 ends', 'c1 begins']);
    for (const name of ['b1', 'b2', 'c1']) finish(name);
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'b1', 'b2', 'c1']);
  });

  it('stops when its caller disconnects, and never starts if that happens before', async () => {
    const { events, run, finish, leave } = controllableWork();
    const [first, second, third] = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3')];
    await awaitIterations();
    leave('a1');
    leave('a2');
    await expect(first).rejects.toThrow(Disconnected);
    await expect(second).rejects.toThrow(Disconnected);
    finish('a3');
    expect(await third).toBe('a3');
    expect(events).toEqual(['a1 begins', 'a3 begins', 'a3 ends']);
  });

  it('returns 503 for the longest waiting piece when the queue is full', async () => {
    const { run, finish } = controllableWork(new LongWork(new ByteBudget(40_000)));
    const [first, ...waiting] = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name));
    const refused = await waiting[0];
    expect(refused instanceof Refusal && refused.status).toBe(503);
    for (const name of ['a1', 'a3', 'a4']) finish(name);
    expect(await Promise.all([first, ...waiting.slice(1)])).toEqual(['a1', 'a3', 'a4']);
  });
});
