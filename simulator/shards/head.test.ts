import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/clock.ts';
import type { Target } from '../device/world.ts';
import type { FleetEvent } from '../report/events.ts';
import type { FleetProgress } from '../report/result.ts';
import { FleetStopped } from '../stopped.ts';
import { sampleFunnel, sampleResult } from '../testing/sample-result.ts';
import { Head, type HeadOptions, PlayerFault } from './head.ts';
import type { HeadMessage } from './messages.ts';

const noonMs = Date.parse('2026-01-31T12:00:00Z');
const heads: Head[] = [];
afterEach(() => {
  for (const head of heads.splice(0)) head.close();
});

/** A head of so many shards, each with the player `a`, and all that it tells. */
function headOf(shards: number, options: Partial<HeadOptions> = {}) {
  const clock = new ManualClock(noonMs);
  const told: HeadMessage[] = [];
  const silent: string[] = [];
  const head = new Head({
    shards,
    clock,
    startLeadMs: 0,
    tell: (message) => told.push(message),
    onSilence: (shard, player) => silent.push(`${shard} ${player}`),
    ...options,
  });
  heads.push(head);
  for (let shard = 0; shard < shards; shard++) head.begun(shard, 'a');
  return { head, clock, told, silent };
}

const latency = { operation: 'login', count: 2, p50Ms: 5, p90Ms: 6, p99Ms: 9, maxMs: 9 };
const cause = { operation: 'login', cause: 'status/503', count: 1 };

function progressOf(change: Partial<FleetProgress> = {}) {
  const progress: FleetProgress = {
    elapsedMs: 1000,
    funnel: sampleFunnel,
    exchanges: 10,
    errors: 1,
    socketsOpen: 2,
    phase: 'run',
    latencies: [latency],
    causes: [cause],
    generators: [],
    latenessP99Ms: 0,
    ...change,
  };
  return { say: 'progress', progress } as const;
}

const ready = { say: 'ready' } as const;
const result = { say: 'result', result: sampleResult } as const;
const accepted = (...deviceIds: string[]) => ({ say: 'accepted', deviceIds }) as const;

describe('the head of a run', () => {
  it('starts nobody before everybody is ready, and then all at one moment', () => {
    const { head, clock, told } = headOf(3, { startLeadMs: 500 });
    head.heard(0, 'a', ready);
    head.heard(2, 'a', ready);
    clock.advance(60_000);
    expect(told).toEqual([]);
    head.heard(1, 'a', ready);
    expect(told).toEqual([{ say: 'start', atMs: clock.now() + 500 }]);
  });

  it('has one deployment made, for the devices of all shards in their order', async () => {
    const asked: (readonly string[])[] = [];
    const target: Target = { deploymentId: 'd', artifactName: 'release-2' };
    const made = Promise.resolve(target);
    const { head, told } = headOf(2, {
      deploy: (deviceIds) => {
        asked.push(deviceIds);
        return made;
      },
    });
    head.heard(1, 'a', accepted('three', 'four'));
    expect(asked).toEqual([]);
    head.heard(0, 'a', accepted('one', 'two'));
    head.heard(0, 'a', accepted('one', 'two'));
    await made;
    expect(asked).toEqual([['one', 'two', 'three', 'four']]);
    expect(told).toEqual([{ say: 'deployment', target }]);
  });

  it('makes no second deployment when the devices remember one', async () => {
    const kept: Target = { deploymentId: 'old', artifactName: 'release-2' };
    const { head, told } = headOf(2, { deploy: () => Promise.reject(new Error('a second one')) });
    head.heard(0, 'a', { ...accepted('one'), kept });
    head.heard(1, 'a', accepted('two'));
    await Promise.resolve();
    expect(told).toEqual([{ say: 'deployment', target: kept }]);
  });

  it('tells the progress of the whole fleet, and nothing while a part of it is missing', () => {
    const seen: FleetProgress[] = [];
    const { head, clock } = headOf(2, { onProgress: (progress) => seen.push(progress) });
    head.heard(0, 'a', progressOf());
    clock.advance(1000);
    expect(seen).toEqual([]);
    head.heard(
      1,
      'a',
      progressOf({
        elapsedMs: 1200,
        exchanges: 5,
        latencies: [{ ...latency, p99Ms: 8, maxMs: 12 }],
      }),
    );
    clock.advance(1000);
    expect(seen).toMatchObject([
      {
        ...{ elapsedMs: 1200, exchanges: 15, errors: 2, socketsOpen: 4 },
        funnel: { devices: 6, success: 2 },
        latencies: [{ operation: 'login', count: 4, p99Ms: 9, maxMs: 12 }],
        causes: [{ cause: 'status/503', count: 2 }],
      },
    ]);
  });

  it('passes events on; what concerns the whole fleet, once', () => {
    const seen: FleetEvent[] = [];
    const { head } = headOf(2, { onEvent: (event) => seen.push(event) });
    const stamp = { atMs: 1, sequence: 1 };
    const events: FleetEvent[] = [
      { kind: 'socket-opened', device: 1, ...stamp },
      { kind: 'phase', phase: 'ramp', ...stamp },
      { kind: 'exchange', operation: 'login', status: 200, elapsedMs: 3, ...stamp },
    ];
    for (const shard of [0, 1]) head.heard(shard, 'a', { say: 'events', events });
    expect(seen.map(({ kind }) => kind)).toEqual([
      ...['socket-opened', 'phase', 'exchange'],
      ...['socket-opened', 'exchange'],
    ]);
  });

  it('ends with the results of all shards', async () => {
    const { head } = headOf(2);
    head.heard(1, 'a', result);
    head.heard(0, 'a', result);
    expect(await head.outcome).toEqual({
      results: [sampleResult, sampleResult],
      takeovers: [],
      lost: [],
    });
  });

  it('ends in order when it is told to', () => {
    const { head, told } = headOf(1);
    head.stop();
    expect(told).toEqual([{ say: 'stop' }]);
  });
});

describe('a player that is lost', () => {
  it('is replaced: the takeover is in the outcome, with why and what was adopted', async () => {
    const { head, clock, told } = headOf(2);
    head.heard(0, 'a', ready);
    head.heard(1, 'a', ready);
    clock.advance(4000);
    expect(head.lost(1, 'a', 'a was ended by SIGKILL')).toBe(true);
    head.begun(1, 'b');
    head.heard(1, 'b', ready);
    head.heard(1, 'b', { say: 'adopted', devices: 3 });
    head.heard(0, 'a', result);
    head.heard(1, 'b', result);
    expect((await head.outcome).takeovers).toEqual([
      {
        shard: 1,
        afterMs: 4000,
        from: 'a',
        to: 'b',
        because: 'a was ended by SIGKILL',
        adopted: 3,
      },
    ]);
    expect(told.map(({ say }) => say)).toEqual(['start']);
  });

  it('is not heard any more', () => {
    const { head, told } = headOf(1);
    head.begun(0, 'b');
    head.heard(0, 'a', ready);
    head.heard(0, 'a', result);
    expect(told).toEqual([]);
    expect(head.lost(0, 'a', 'late')).toBe(false);
  });

  it('is no loss once its result is there', () => {
    const { head } = headOf(1);
    head.heard(0, 'a', result);
    expect(head.lost(0, 'a', 'ended')).toBe(false);
  });

  it('does not hold the others up once its shard is given up, and is counted', async () => {
    const asked: (readonly string[])[] = [];
    const { head, told } = headOf(2, {
      deploy: (deviceIds) => {
        asked.push(deviceIds);
        return Promise.reject(new FleetStopped());
      },
    });
    head.heard(0, 'a', ready);
    head.heard(0, 'a', accepted('one'));
    head.lost(1, 'a', 'gone');
    head.giveUp(1, 'nobody took it');
    expect(told.map(({ say }) => say)).toEqual(['start']);
    expect(asked).toEqual([['one']]);
    head.heard(0, 'a', result);
    expect(await head.outcome).toMatchObject({
      results: [sampleResult],
      lost: [{ shard: 1, because: 'nobody took it' }],
    });
  });

  it('leaves a run without any result when it was the last', async () => {
    const { head } = headOf(1);
    head.giveUp(0, 'gone');
    expect(await head.outcome).toMatchObject({ results: [], lost: [{ shard: 0 }] });
  });

  it('may be one that says nothing: after half a minute its owner hears of it', () => {
    const { head, clock, silent } = headOf(2);
    clock.advance(29_000);
    head.heard(0, 'a', progressOf());
    clock.advance(3000);
    expect(new Set(silent)).toEqual(new Set(['1 a']));
  });
});

describe('a run that cannot go on', () => {
  it('ends with the sentence and the exit code of the player that has found so', async () => {
    const { head, told } = headOf(2);
    head.heard(1, 'a', { say: 'fault', sentence: 'there is no server', exitCode: 3 });
    const fault = await head.outcome.catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(PlayerFault);
    expect(fault).toMatchObject({ message: 'there is no server', exitCode: 3 });
    expect(told).toEqual([{ say: 'stop' }]);
  });

  it('ends with the fault of a deployment that was refused', async () => {
    const refused = new Error('refused');
    const { head } = headOf(1, { deploy: () => Promise.reject(refused) });
    head.heard(0, 'a', accepted('one'));
    await expect(head.outcome).rejects.toBe(refused);
  });
});
