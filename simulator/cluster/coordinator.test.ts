import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import type { RunDeployment } from '../api-client/management.ts';
import type { FleetEvent } from '../device/events.ts';
import { FleetStopped } from '../network/errors.ts';
import { MergeError } from '../result/merge.ts';
import type { FleetProgress } from '../result/result.ts';
import type { ShardFigures } from '../result/shard-figures.ts';
import { figuresOf, sampleFunnel, sampleResult, shardFiguresOf } from '../testing/sample-result.ts';
import { Coordinator, type CoordinatorOptions, WorkerFailed } from './coordinator.ts';
import type { CoordinatorMessage } from './messages.ts';

const noonMs = Date.parse('2026-01-31T12:00:00Z');
const coordinators: Coordinator[] = [];
afterEach(() => {
  for (const coordinator of coordinators.splice(0)) coordinator.close();
});

/** Returns a coordinator of `shards` shards, each with worker `a`, and everything it reports. */
function headOf(shards: number, options: Partial<CoordinatorOptions> = {}) {
  const clock = new ManualClock(noonMs);
  const messages: CoordinatorMessage[] = [];
  const silent: string[] = [];
  const coordinator = new Coordinator({
    shards,
    plan: { devices: 10 },
    clock,
    startLeadMs: 0,
    send: (message) => messages.push(message),
    onNoResponse: (shard, worker) => silent.push(`${shard} ${worker}`),
    ...options,
  });
  coordinators.push(coordinator);
  for (let shard = 0; shard < shards; shard++) coordinator.recordStart(shard, 'a');
  return { coordinator, clock, messages, silent };
}

const cause = { operation: 'login', cause: 'status/503', count: 1 };

function progressOf(change: Partial<FleetProgress> = {}, figures = shardFiguresOf([5])) {
  const progress: FleetProgress = {
    elapsedMs: 1000,
    funnel: sampleFunnel,
    exchanges: 10,
    errors: 1,
    socketsOpen: 2,
    stage: 'run',
    latencies: [],
    causes: [cause],
    generators: [],
    latenessP99Ms: 0,
    ...change,
  };
  return { type: 'progress', progress, figures } as const;
}

const ready = { type: 'ready' } as const;
const result = { type: 'result', result: sampleResult } as const;
const accepted = (...deviceIds: string[]) => ({ type: 'accepted', deviceIds }) as const;

describe('the coordinator of a run', () => {
  it('starts all workers at the same time, once all are ready', () => {
    const { coordinator, clock, messages } = headOf(3, { startLeadMs: 500 });
    coordinator.onMessage(0, 'a', ready);
    coordinator.onMessage(2, 'a', ready);
    clock.advance(60_000);
    expect(messages).toEqual([]);
    coordinator.onMessage(1, 'a', ready);
    expect(messages).toEqual([{ type: 'start', atMs: clock.now() + 500 }]);
  });

  it('creates one deployment for the devices of all shards, in their order', async () => {
    const deployedTo: (readonly string[])[] = [];
    const runDeployment: RunDeployment = { deploymentId: 'd', artifactName: 'release-2' };
    const made = Promise.resolve(runDeployment);
    const { coordinator, messages } = headOf(2, {
      deploy: (deviceIds) => {
        deployedTo.push(deviceIds);
        return made;
      },
    });
    coordinator.onMessage(1, 'a', accepted('three', 'four'));
    expect(deployedTo).toEqual([]);
    coordinator.onMessage(0, 'a', accepted('one', 'two'));
    coordinator.onMessage(0, 'a', accepted('one', 'two'));
    await made;
    expect(deployedTo).toEqual([['one', 'two', 'three', 'four']]);
    expect(messages).toEqual([{ type: 'deployment', runDeployment }]);
  });

  it('creates no second deployment when the devices already have one', async () => {
    const kept: RunDeployment = { deploymentId: 'old', artifactName: 'release-2' };
    const { coordinator, messages } = headOf(2, {
      deploy: () => Promise.reject(new Error('a second one')),
    });
    coordinator.onMessage(0, 'a', { ...accepted('one'), earlierDeployment: kept });
    coordinator.onMessage(1, 'a', accepted('two'));
    await Promise.resolve();
    expect(messages).toEqual([{ type: 'deployment', runDeployment: kept }]);
  });

  it('reports the progress of the whole fleet, and nothing while a shard is missing', () => {
    const seen: FleetProgress[] = [];
    const { coordinator, clock } = headOf(2, { onProgress: (progress) => seen.push(progress) });
    coordinator.onMessage(0, 'a', progressOf());
    clock.advance(1000);
    expect(seen).toEqual([]);
    coordinator.onMessage(1, 'a', progressOf({ elapsedMs: 1200, exchanges: 5 }));
    expect(seen).toMatchObject([
      {
        elapsedMs: 1200,
        exchanges: 15,
        errors: 2,
        socketsOpen: 4,
        funnel: { devices: 6, success: 2 },
        causes: [{ cause: 'status/503', count: 2 }],
      },
    ]);
  });

  it('reports progress immediately the first time, and then once a second', () => {
    const seen: FleetProgress[] = [];
    const { coordinator, clock } = headOf(1, { onProgress: (progress) => seen.push(progress) });
    coordinator.onMessage(0, 'a', progressOf());
    coordinator.onMessage(0, 'a', progressOf());
    expect(seen).toHaveLength(1);
    clock.advance(3000);
    expect(seen).toHaveLength(4);
  });

  it('merges percentiles exactly during the run instead of taking the worst', () => {
    const seen: FleetProgress[] = [];
    const { coordinator } = headOf(2, { onProgress: (progress) => seen.push(progress) });
    const [fast, slow] = [
      [1, 2, 3, 4, 5, 6, 7, 8],
      [500, 600],
    ];
    coordinator.onMessage(0, 'a', progressOf({}, shardFiguresOf(fast)));
    coordinator.onMessage(1, 'a', progressOf({}, shardFiguresOf(slow)));
    const { histogram: _, p95Ms: _p95, p999Ms: _p999, ...whole } = figuresOf([...fast, ...slow]);
    expect(seen[0]?.latencies).toEqual([{ operation: 'post-alerts', ...whole }]);
    expect(whole.p50Ms).toBeLessThan(6);
  });

  it('passes events on in order before its outcome, with the number of lost ones', async () => {
    const seen: FleetEvent[] = [];
    const lost: number[] = [];
    const { coordinator } = headOf(2, {
      onEvent: (event) => seen.push(event),
      onEventsLost: (events) => lost.push(events),
    });
    const opened = (device: number, atMs: number): FleetEvent => {
      return { kind: 'socket-opened', device, atMs, sequence: 1 };
    };
    const until = { untilMs: noonMs + 9 };
    coordinator.onMessage(1, 'a', {
      type: 'events',
      events: [opened(5, noonMs + 2)],
      ...until,
      lost: 7,
    });
    coordinator.onMessage(0, 'a', { type: 'events', events: [opened(0, noonMs + 1)], ...until });
    for (const shard of [0, 1]) coordinator.onMessage(shard, 'a', result);
    await coordinator.outcome;
    expect(seen.map(({ device }) => device)).toEqual([0, 5]);
    expect(lost).toEqual([7]);
  });

  it('resolves with the results of all shards', async () => {
    const { coordinator } = headOf(2);
    coordinator.onMessage(1, 'a', result);
    coordinator.onMessage(0, 'a', result);
    expect(await coordinator.outcome).toEqual({
      results: [sampleResult, sampleResult],
      spread: { takeovers: [], lost: [] },
      lastFigures: [],
    });
  });

  it('stops its workers when it is stopped', () => {
    const { coordinator, messages } = headOf(1);
    coordinator.stop();
    expect(messages).toEqual([{ type: 'stop' }]);
  });
});

describe('a lost worker of a run', () => {
  it('is replaced, and the outcome reports the takeover and the adopted updates', async () => {
    const { coordinator, clock, messages } = headOf(2);
    coordinator.onMessage(0, 'a', ready);
    coordinator.onMessage(1, 'a', ready);
    clock.advance(4000);
    expect(coordinator.recordLoss(1, 'a', 'a was ended by SIGKILL')).toBe(true);
    coordinator.recordStart(1, 'b');
    coordinator.onMessage(1, 'b', ready);
    coordinator.onMessage(1, 'b', { type: 'adopted', devices: 3 });
    coordinator.onMessage(0, 'a', result);
    coordinator.onMessage(1, 'b', result);
    expect((await coordinator.outcome).spread.takeovers).toEqual([
      {
        shard: 1,
        afterMs: 4000,
        from: 'a',
        to: 'b',
        reason: 'a was ended by SIGKILL',
        adopted: 3,
      },
    ]);
    expect(messages.map(({ type }) => type)).toEqual(['start']);
  });

  it('leaves its measurements, and the outcome says what is missing', async () => {
    const seen: FleetProgress[] = [];
    const { coordinator, clock } = headOf(2, { onProgress: (progress) => seen.push(progress) });
    for (const shard of [0, 1]) coordinator.onMessage(shard, 'a', ready);
    clock.advance(4000);
    coordinator.onMessage(0, 'a', progressOf({ exchanges: 1 }, shardFiguresOf([7])));
    coordinator.onMessage(1, 'a', progressOf({ exchanges: 4 }, shardFiguresOf([1, 2, 3], 1)));
    clock.advance(500);
    coordinator.recordLoss(1, 'a', 'gone');
    clock.advance(1000);
    coordinator.recordStart(1, 'b');
    clock.advance(500);
    // Until the successor reports, the devices keep their states, and no exchange is counted twice.
    expect(seen.at(-1)).toMatchObject({ exchanges: 5, funnel: { devices: 6 } });
    coordinator.onMessage(1, 'b', ready);
    coordinator.onMessage(
      1,
      'b',
      progressOf({ exchanges: 2, errors: 0, causes: [] }, shardFiguresOf([8, 9])),
    );
    clock.advance(1000);
    expect(seen.at(-1)).toMatchObject({
      exchanges: 7,
      errors: 2,
      funnel: { devices: 6 },
      latencies: [{ count: 6, maxMs: 9 }],
    });
    for (const [shard, worker] of ['a', 'b'].entries())
      coordinator.onMessage(shard, worker, result);
    const { spread, lastFigures: kept } = await coordinator.outcome;
    expect(spread).toMatchObject({
      takeovers: [{ shard: 1, kept: { exchanges: 4, untilMs: 4000 } }],
      // Five devices are missing from the last message of the lost worker to the start of the next.
      missingDeviceMs: 5 * 2000,
    });
    expect(kept).toEqual([shardFiguresOf([1, 2, 3], 1)]);
  });

  it('leaves its measurements even if no worker takes over its shard', async () => {
    const { coordinator, clock } = headOf(2);
    for (const shard of [0, 1]) coordinator.onMessage(shard, 'a', ready);
    clock.advance(2000);
    coordinator.onMessage(1, 'a', progressOf());
    coordinator.recordLoss(1, 'a', 'gone');
    coordinator.giveUp(1, 'gone');
    clock.advance(6000);
    coordinator.onMessage(0, 'a', result);
    const { spread, lastFigures: kept } = await coordinator.outcome;
    expect(spread).toEqual({
      takeovers: [],
      lost: [{ shard: 1, reason: 'gone', kept: { exchanges: 1, untilMs: 2000 } }],
      missingDeviceMs: 5 * 6000,
    });
    expect(kept).toEqual([shardFiguresOf([5])]);
  });

  it('has no missing device time when the run had not begun', async () => {
    const { coordinator, clock } = headOf(1);
    coordinator.onMessage(0, 'a', progressOf());
    clock.advance(2000);
    coordinator.recordLoss(0, 'a', 'gone');
    coordinator.recordStart(0, 'b');
    coordinator.onMessage(0, 'b', ready);
    coordinator.onMessage(0, 'b', result);
    expect((await coordinator.outcome).spread.missingDeviceMs).toBeUndefined();
  });

  it('is ignored when it sends another message', () => {
    const { coordinator, messages } = headOf(1);
    coordinator.recordStart(0, 'b');
    coordinator.onMessage(0, 'a', ready);
    coordinator.onMessage(0, 'a', result);
    expect(messages).toEqual([]);
    expect(coordinator.recordLoss(0, 'a', 'late')).toBe(false);
  });

  it('does not count as lost once its result has arrived', () => {
    const { coordinator } = headOf(1);
    coordinator.onMessage(0, 'a', result);
    expect(coordinator.recordLoss(0, 'a', 'ended')).toBe(false);
  });

  it('does not delay the others once its shard is given up, and is counted', async () => {
    const deployedTo: (readonly string[])[] = [];
    const { coordinator, messages } = headOf(2, {
      deploy: (deviceIds) => {
        deployedTo.push(deviceIds);
        return Promise.reject(new FleetStopped());
      },
    });
    coordinator.onMessage(0, 'a', ready);
    coordinator.onMessage(0, 'a', accepted('one'));
    coordinator.recordLoss(1, 'a', 'gone');
    coordinator.giveUp(1, 'nobody took it');
    expect(messages.map(({ type }) => type)).toEqual(['start']);
    expect(deployedTo).toEqual([['one']]);
    coordinator.onMessage(0, 'a', result);
    expect(await coordinator.outcome).toMatchObject({
      results: [sampleResult],
      spread: { lost: [{ shard: 1, reason: 'nobody took it' }] },
    });
  });

  it('makes the run end without any result when it was the last', async () => {
    const { coordinator } = headOf(1);
    coordinator.giveUp(0, 'gone');
    expect(await coordinator.outcome).toMatchObject({
      results: [],
      spread: { lost: [{ shard: 0 }] },
    });
  });

  it('is detected by its silence of half a minute', () => {
    const { coordinator, clock, silent } = headOf(2);
    clock.advance(29_000);
    coordinator.onMessage(0, 'a', progressOf());
    clock.advance(3000);
    expect(new Set(silent)).toEqual(new Set(['1 a']));
  });
});

describe('the thresholds of a run in shards', () => {
  const aborting = (threshold: string) => ({
    plan: { devices: 10, thresholds: [threshold], abortOnThreshold: true },
  });
  const many = (durationMs: number) => Array.from({ length: 600 }, () => durationMs);

  /** Returns what the coordinator of two shards with these figures reports over some seconds. */
  function messagesFor(threshold: string, parts: readonly ShardFigures[], seconds = 5) {
    const { coordinator, clock, messages } = headOf(2, aborting(threshold));
    for (const shard of [0, 1]) coordinator.onMessage(shard, 'a', ready);
    for (const [shard, part] of parts.entries())
      coordinator.onMessage(shard, 'a', progressOf({}, part));
    clock.advance(seconds * 1000);
    return messages.slice(1);
  }

  it('end the run once when all shards together miss one', () => {
    const end = { type: 'end', reason: 'threshold' };
    expect(messagesFor('errors <= 10', [shardFiguresOf([1], 6), shardFiguresOf([1], 6)])).toEqual([
      end,
    ]);
    expect(messagesFor('errors <= 12', [shardFiguresOf([1], 6), shardFiguresOf([1], 6)])).toEqual(
      [],
    );
  });

  it('are judged by the merged percentiles, so that one slow shard does not end the run', () => {
    const parts = [shardFiguresOf(many(5)), shardFiguresOf([...many(5), ...many(900)])];
    expect(messagesFor('p50(post-alerts) < 100ms', parts)).toEqual([]);
    expect(messagesFor('p90(post-alerts) < 100ms', parts)).toHaveLength(1);
  });

  it('are judged by the updates of all shards together', () => {
    const rollout = { devices: 5, updated: 4, failed: 1, elapsedMs: 9000 };
    const part = (inTime: number): ShardFigures => ({
      ...shardFiguresOf([1]),
      rollout: { ...rollout, within: [[2000, inTime]] },
    });
    expect(messagesFor('50% updated within 2s', [part(4), part(1)])).toEqual([]);
    expect(messagesFor('60% updated within 2s', [part(4), part(1)])).toHaveLength(1);
  });

  it('do not end the run for one bad second', () => {
    expect(messagesFor('errors = 0', [shardFiguresOf([1], 6), shardFiguresOf([1], 6)], 1)).toEqual(
      [],
    );
  });

  it('are checked less often than every second with 40 shards', () => {
    const shards = 40;
    const { coordinator, clock, messages } = headOf(shards, aborting('errors = 0'));
    for (let shard = 0; shard < shards; shard++) {
      coordinator.onMessage(shard, 'a', ready);
      coordinator.onMessage(shard, 'a', progressOf({}, shardFiguresOf([1], 1)));
    }
    clock.advance(5000);
    expect(messages).toHaveLength(1);
    clock.advance(5000);
    expect(messages).toHaveLength(2);
  });

  it('are not checked before the run has begun', () => {
    const { coordinator, clock, messages } = headOf(2, aborting('errors = 0'));
    for (const shard of [0, 1])
      coordinator.onMessage(shard, 'a', progressOf({}, shardFiguresOf([1], 9)));
    clock.advance(10_000);
    expect(messages).toEqual([]);
  });
});

describe('a run in shards that cannot continue', () => {
  it('ends with the message and the exit code of the worker that failed', async () => {
    const { coordinator, messages } = headOf(2);
    coordinator.onMessage(1, 'a', { type: 'failed', sentence: 'there is no server', exitCode: 3 });
    const thrown = await coordinator.outcome.catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(WorkerFailed);
    expect(thrown).toMatchObject({ message: 'there is no server', exitCode: 3 });
    expect(messages).toEqual([{ type: 'stop' }]);
  });

  it('ends before it starts when one worker has read different files', async () => {
    const { coordinator, messages } = headOf(2);
    coordinator.onMessage(0, 'a', { ...ready, plan: '1234' });
    coordinator.onMessage(1, 'a', { ...ready, plan: '1235' });
    const thrown = await coordinator.outcome.catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(MergeError);
    expect(thrown).toMatchObject({ message: expect.stringMatching(/^a runs a different plan/) });
    expect(messages[0]).toEqual({ type: 'stop' });
  });

  it('ends with the error of a refused deployment', async () => {
    const refused = new Error('refused');
    const { coordinator } = headOf(1, { deploy: () => Promise.reject(refused) });
    coordinator.onMessage(0, 'a', accepted('one'));
    await expect(coordinator.outcome).rejects.toBe(refused);
  });
});
