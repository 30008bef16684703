import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { FleetStopped } from '../network/errors.ts';
import { Semaphore } from '../network/semaphore.ts';
import { Scheduler } from './scheduler.ts';

describe('the waits of a run', () => {
  it('end when their time is up and not before', async () => {
    const clock = new ManualClock(0);
    let woken = false;
    const sleep = new Scheduler(clock).sleep(100).then(() => {
      woken = true;
    });
    clock.advance(99);
    await Promise.resolve();
    expect(woken).toBe(false);
    clock.advance(1);
    await sleep;
    expect(woken).toBe(true);
  });

  it('all end at once when the run ends, and leave no timer', async () => {
    const clock = new ManualClock(0);
    const scheduler = new Scheduler(clock);
    const waits = [scheduler.sleep(100), scheduler.sleep(1_000_000)];
    const ends = Promise.allSettled(waits);
    scheduler.stop();
    for (const end of await ends) {
      expect(end).toMatchObject({ status: 'rejected', reason: expect.any(FleetStopped) });
    }
    expect(() => clock.advance(2_000_000)).not.toThrow();
  });

  it('end early for a sleeper that is woken, and for no other', async () => {
    const clock = new ManualClock(0);
    const scheduler = new Scheduler(clock);
    const sleeper = {};
    let otherCount = 0;
    const otherSleep = scheduler.sleep(100, {}).then(() => otherCount++);
    const nobody = scheduler.sleep(100).then(() => otherCount++);
    const woken = scheduler.sleep(100, sleeper);
    scheduler.wake(sleeper);
    await woken;
    expect(otherCount).toBe(0);
    clock.advance(100);
    await Promise.all([otherSleep, nobody]);
    expect(otherCount).toBe(2);
  });

  it('end at once, for one wait only, when the sleeper was woken before it', async () => {
    const clock = new ManualClock(0);
    const scheduler = new Scheduler(clock);
    const sleeper = {};
    scheduler.wake(sleeper);
    scheduler.wake(sleeper);
    await scheduler.sleep(100, sleeper);
    let isOver = false;
    const next = scheduler.sleep(100, sleeper).then(() => {
      isOver = true;
    });
    await Promise.resolve();
    expect(isOver).toBe(false);
    clock.advance(100);
    await next;
  });

  it('end at once after a wake-up that came while the sleeper was awake', async () => {
    const clock = new ManualClock(0);
    const scheduler = new Scheduler(clock);
    const sleeper = {};
    const first = scheduler.sleep(100, sleeper);
    clock.advance(100);
    await first;
    scheduler.wake(sleeper);
    await scheduler.sleep(100, sleeper);
    scheduler.stop();
    await expect(scheduler.sleep(100, sleeper)).rejects.toThrow(FleetStopped);
  });

  it('do not begin after the run has ended', async () => {
    const scheduler = new Scheduler(new ManualClock(0));
    scheduler.stop();
    await expect(scheduler.sleep(0)).rejects.toThrow(FleetStopped);
    expect(scheduler.stopped).toBe(true);
  });
});

describe('the lanes of a semaphore', () => {
  /** Returns work that ends when the test ends it. */
  function work() {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const task = { started: false, end, run: () => ended };
    task.run = () => {
      task.started = true;
      return ended;
    };
    return task;
  }

  it('let a limited number of tasks work at a time', async () => {
    const semaphore = new Semaphore(2);
    const tasks = [work(), work(), work()];
    const runs = tasks.map((task) => semaphore.run(task.run));
    expect(tasks.map(({ started }) => started)).toEqual([true, true, false]);
    tasks[0]?.end();
    await runs[0];
    await Promise.resolve();
    expect(tasks[2]?.started).toBe(true);
    for (const task of tasks) task.end();
    await Promise.all(runs);
  });

  it('become free when a task fails, and its error is passed on', async () => {
    const semaphore = new Semaphore(1);
    const failed = semaphore.run(() => Promise.reject(new Error('no prime')));
    const next = semaphore.run(async () => 'done');
    await expect(failed).rejects.toThrow('no prime');
    await expect(next).resolves.toBe('done');
    await expect(semaphore.run(async () => 'again')).resolves.toBe('again');
  });
});
