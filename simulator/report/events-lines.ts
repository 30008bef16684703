/**
 * Writes events as NDJSON: one line each, in order, to a stream that may be slower than the fleet.
 * Events that do not fit into a bounded buffer are dropped and counted; a line in the stream says
 * so.
 */

import type { Writable } from 'node:stream';
import type { Clock } from '../../fixtures/clock.ts';
import { printableJson } from '../../fixtures/printable.ts';
import { type FleetEvent, inEventOrder } from '../device/events.ts';

/** Counts of written and lost events. */
export interface EventLinesCount {
  /** Passed to the operating system. */
  readonly written: number;
  /** Dropped because the reader was too slow, the stream failed, or they never arrived here. */
  readonly lost: number;
  /** Why the stream failed, such as `ENOSPC`. */
  readonly error?: string;
}

/** Where the lines go, and how much may be buffered. */
export interface EventLinesOptions {
  readonly clock: Clock;
  readonly stream: Writable;
  readonly bufferMaxBytes?: number;
}

/** Bytes that may be buffered for a slow reader. */
const BUFFER_MAX_BYTES = 16 * 2 ** 20;
/** Events of one millisecond that are sorted together. */
const MOMENT_MAX_EVENTS = 100_000;
/** How long writing the last lines may take. */
const END_MAX_MS = 5000;
/** A millisecond is complete when the next event arrives, or after this time at the latest. */
const MOMENT_MAX_MS = 250;

/** Writes events as lines; `close` it to flush the last ones. */
export class EventLines {
  readonly #options: EventLinesOptions;
  readonly #bufferMaxBytes: number;
  readonly #sweep: { cancel(): void };
  /**
   * Events of the same millisecond, which are written in one order whatever order they arrived in.
   */
  #moment: FleetEvent[] = [];
  /** Lost since the last line was written. */
  #gap = 0;
  #underway = 0;
  #written = 0;
  #lost = 0;
  #error: string | undefined;
  #onIdle: () => void = () => undefined;

  constructor(options: EventLinesOptions) {
    this.#options = options;
    this.#bufferMaxBytes = options.bufferMaxBytes ?? BUFFER_MAX_BYTES;
    options.stream.on('error', (error) => this.#failed(error));
    this.#sweep = options.clock.every(MOMENT_MAX_MS, () => this.#endMoment());
  }

  /** Accepts an event; never waits and never throws. */
  readonly take = (event: FleetEvent): void => {
    const [first] = this.#moment;
    if (first !== undefined && first.atMs !== event.atMs) this.#endMoment();
    this.#moment.push(event);
    if (this.#moment.length === MOMENT_MAX_EVENTS) this.#endMoment();
  };

  /** Records events that did not arrive here; the stream says so before the next one. */
  miss(events: number): void {
    this.#gap += events;
    this.#lost += events;
  }

  count(): EventLinesCount {
    const error = this.#error === undefined ? {} : { error: this.#error };
    return { written: this.#written, lost: this.#lost, ...error };
  }

  /** Waits, within limits, until everything is written; what is not by then is lost. */
  async close(): Promise<EventLinesCount> {
    this.#sweep.cancel();
    this.#endMoment();
    if (this.#gap > 0) this.#send(this.#gapLine(), 0);
    if (this.#underway > 0 && this.#error === undefined) await this.#idle();
    this.#lost += this.#underway;
    this.#underway = 0;
    return this.count();
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(END_MAX_MS, resolve);
      this.#onIdle = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  /** Writes all events of the millisecond that fit into the buffer at once. */
  #endMoment(): void {
    const events = this.#moment.sort(inEventOrder);
    this.#moment = [];
    let room = this.#bufferMaxBytes - this.#options.stream.writableLength;
    let text = '';
    let count = 0;
    for (const event of events) {
      const line = this.#gap > 0 ? this.#gapLine() + eventLine(event) : eventLine(event);
      room -= line.length;
      if (room < 0 || this.#error !== undefined) {
        this.#gap++;
        this.#lost++;
        continue;
      }
      this.#gap = 0;
      text += line;
      count++;
    }
    if (count > 0) this.#send(text, count);
  }

  #gapLine(): string {
    return `${JSON.stringify({ kind: 'lost', events: this.#gap })}\n`;
  }

  #send(text: string, count: number): void {
    this.#underway += count;
    this.#options.stream.write(text, (error) => {
      if (this.#underway < count) return;
      this.#underway -= count;
      if (error) {
        this.#lost += count;
        this.#failed(error);
      } else this.#written += count;
      if (this.#underway === 0) this.#onIdle();
    });
  }

  #failed(error: Error): void {
    this.#error ??= 'code' in error ? String(error.code) : error.message;
    this.#onIdle();
  }
}

/** Returns the event as one line of JSON, with its time in ISO 8601. */
export function eventLine(event: FleetEvent): string {
  let line = `{"at":"${new Date(event.atMs).toISOString()}","kind":"${event.kind}"`;
  for (const [name, value] of Object.entries(event)) {
    if (value === undefined || outerNames.has(name)) continue;
    line += `,"${name}":${JSON.stringify(value)}`;
  }
  return `${printableJson(`${line},"sequence":${event.sequence}}`)}\n`;
}

/** Members that are written first and last, whatever their place in the event. */
const outerNames: ReadonlySet<string> = new Set(['atMs', 'kind', 'sequence']);
