import { createWriteStream } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../fixtures/base/clock.ts';
import type { FleetEvent } from '../device/events.ts';
import { EventLines, eventLine } from './events-lines.ts';

const noonMs = Date.UTC(2026, 0, 31, 12);

function openedEvent(device: number, sequence = 1, atMs = noonMs): FleetEvent {
  return { kind: 'socket-opened', device, atMs, sequence };
}

/** A reader that accepts nothing until `read` is called. */
class SlowReader extends Writable {
  readonly #waiting: (() => void)[] = [];
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#waiting.push(() => {
      this.text += chunk;
      done();
    });
  }

  /** Reads what is pending, and everything after it. */
  read(): void {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) next();
    this._write = (chunk: Buffer, _encoding: string, done: () => void): void => {
      this.text += chunk;
      done();
    };
  }

  get lines(): unknown[] {
    return this.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }
}

function slow(bufferMaxBytes?: number) {
  const clock = new ManualClock(noonMs);
  const stream = new SlowReader();
  const bound = bufferMaxBytes === undefined ? {} : { bufferMaxBytes };
  return { clock, stream, lines: new EventLines({ clock, stream, ...bound }) };
}

describe('events that never reached the stream', () => {
  it('are counted as lost, and the stream says so before the next event', async () => {
    const { stream, lines } = slow();
    stream.read();
    lines.record(openedEvent(0));
    lines.miss(3);
    lines.record(openedEvent(1, 1, noonMs + 5));
    expect(await lines.close()).toEqual({ written: 2, lost: 3 });
    expect(stream.lines).toMatchObject([{ kind: 'lost', events: 3 }, { device: 0 }, { device: 1 }]);
  });
});

describe('an event written as a line', () => {
  it('starts with the time in ISO 8601 and contains every fact', () => {
    const line = eventLine({
      kind: 'exchange',
      device: 3,
      operation: 'put-attributes',
      status: 200,
      elapsedMs: 1.5,
      atMs: noonMs,
      sequence: 7,
    });
    expect(line).toBe(
      '{"at":"2026-01-31T12:00:00.000Z","kind":"exchange","device":3,' +
        '"operation":"put-attributes","status":200,"elapsedMs":1.5,"sequence":7}\n',
    );
  });

  it('cannot control a terminal and stays one line, whatever a server sends', () => {
    const cause = 'a\n\u001b[31m\u009b\u202e\u2028\u{e0041}\ud800"';
    const line = eventLine({ kind: 'socket-closed', device: 0, cause, atMs: 0, sequence: 1 });
    expect(line).toMatch(/^[\x20-\x7e]+\n$/);
    expect(JSON.parse(line)).toMatchObject({ cause });
  });
});

describe('the stream of events', () => {
  it('writes the events of one millisecond in order, whatever order they arrived in', async () => {
    const { lines, stream } = slow();
    stream.read();
    for (const event of [openedEvent(2, 1), openedEvent(0, 2), openedEvent(0, 1)])
      lines.record(event);
    lines.record(openedEvent(9, 1, noonMs + 1));
    lines.record({ kind: 'stage', stage: 'ramp', atMs: noonMs + 1, sequence: 1 });
    expect(await lines.close()).toEqual({ written: 5, lost: 0 });
    expect(stream.lines).toMatchObject([
      { device: 0, sequence: 1 },
      { device: 0, sequence: 2 },
      { device: 2 },
      { kind: 'stage' },
      { device: 9 },
    ]);
  });

  it('writes the last event without waiting for the next one', () => {
    const { lines, stream, clock } = slow();
    stream.read();
    lines.record(openedEvent(0));
    expect(stream.text).toBe('');
    clock.advance(250);
    expect(stream.lines).toHaveLength(1);
  });

  it('omits events for which a slow reader has no room, and counts and marks them', async () => {
    const { lines, stream, clock } = slow(500);
    for (let time = 0; time < 20; time++) lines.record(openedEvent(0, time + 1, noonMs + time));
    clock.advance(250);
    const { written, lost } = lines.count();
    expect(written).toBe(0);
    expect(lost).toBeGreaterThan(10);
    stream.read();
    lines.record(openedEvent(1, 1, noonMs + 300));
    expect(await lines.close()).toEqual({ written: 21 - lost, lost });
    expect(stream.lines.at(-2)).toEqual({ kind: 'lost', events: lost });
    expect(stream.lines.at(-1)).toMatchObject({ device: 1 });
    expect(stream.lines).toHaveLength(21 - lost + 1);
  });

  it('reports at its end the events that were lost last', async () => {
    const { lines, stream, clock } = slow(1);
    lines.record(openedEvent(0));
    clock.advance(250);
    stream.read();
    expect(await lines.close()).toEqual({ written: 0, lost: 1 });
    expect(stream.lines).toEqual([{ kind: 'lost', events: 1 }]);
  });

  it('counts events as lost when a hanging reader never takes them', async () => {
    const { lines, clock } = slow();
    lines.record(openedEvent(0));
    lines.record(openedEvent(1));
    const closed = lines.close();
    clock.advance(5000);
    expect(await closed).toEqual({ written: 0, lost: 2 });
  });

  it('counts events as lost when the disk is full', async () => {
    const stream = createWriteStream('/dev/full');
    const lines = new EventLines({ clock: systemClock, stream });
    for (let time = 0; time < 5; time++) lines.record(openedEvent(0, time + 1, noonMs + time));
    expect(await lines.close()).toEqual({ written: 0, lost: 5, error: 'ENOSPC' });
  });

  it('continues counting after the reader has closed', async () => {
    const stream = new PassThrough();
    const lines = new EventLines({ clock: new ManualClock(noonMs), stream });
    stream.destroy(Object.assign(new Error('gone'), { code: 'EPIPE' }));
    await new Promise((resolve) => stream.once('close', resolve));
    lines.record(openedEvent(0));
    lines.record(openedEvent(0, 2, noonMs + 1));
    expect(await lines.close()).toEqual({ written: 0, lost: 2, error: 'EPIPE' });
  });
});
