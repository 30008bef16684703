/**
 * Writes events as NDJSON, one line for each event in order, to a stream that may be slower than
 * the fleet. Events that exceed the buffer are dropped and counted, and a line in the stream
 * reports the gap.
 */
import type { Writable } from 'node:stream';
import type { Clock } from '../../fixtures/base/clock.ts';
import { printableJson } from '../../fixtures/base/printable.ts';
import { compareEvents, type FleetEvent } from '../device/events.ts';

/** Counts of written and lost events. */
export interface EventLinesCount {
  /** Number of events passed to the operating system. */
  readonly written: number;
  /**
   * Number of events that were dropped: the reader was too slow, the stream failed, or they were
   * lost before they reached this object.
   */
  readonly lost: number;
  /** Why the stream failed, such as `ENOSPC`. */
  readonly error?: string;
}

/** The stream for the lines, and the limit on its buffer. */
export interface EventLinesOptions {
  readonly clock: Clock;
  readonly stream: Writable;
  readonly bufferMaxBytes?: number;
}

/** Default limit on the bytes that are buffered for a slow reader. */
const BUFFER_MAX_BYTES = 16 * 2 ** 20;
/** Maximum number of events of one millisecond that are sorted together. */
const INSTANT_MAX_EVENTS = 100_000;
/** Time limit in milliseconds for writing the last lines. */
const END_MAX_MS = 5000;
/** Delay in milliseconds after which a millisecond counts as complete if no later event arrives. */
const INSTANT_MAX_MS = 250;

/** Writes events as lines. The owner must close it, which flushes the last lines. */
export class EventLines {
  readonly #options: EventLinesOptions;
  readonly #bufferMaxBytes: number;
  readonly #sweep: { cancel(): void };
  /**
   * Events of the same millisecond. They are sorted before they are written, so that their order
   * does not depend on their arrival.
   */
  #instant: FleetEvent[] = [];
  /** Number of events lost since the last line was written. */
  #gap = 0;
  #inFlight = 0;
  #written = 0;
  #lost = 0;
  #error: string | undefined;
  #onIdle: () => void = () => undefined;

  constructor(options: EventLinesOptions) {
    this.#options = options;
    this.#bufferMaxBytes = options.bufferMaxBytes ?? BUFFER_MAX_BYTES;
    options.stream.on('error', (error) => this.#recordFailure(error));
    this.#sweep = options.clock.every(INSTANT_MAX_MS, () => this.#endInstant());
  }

  /** Accepts an event. It neither waits nor throws. */
  readonly record = (event: FleetEvent): void => {
    const [first] = this.#instant;
    if (first !== undefined && first.atMs !== event.atMs) this.#endInstant();
    this.#instant.push(event);
    if (this.#instant.length === INSTANT_MAX_EVENTS) this.#endInstant();
  };

  /**
   * Records events that were lost before they reached this object. A line in the stream reports
   * them before the next event.
   */
  miss(events: number): void {
    this.#gap += events;
    this.#lost += events;
  }

  count(): EventLinesCount {
    const error = this.#error === undefined ? {} : { error: this.#error };
    return { written: this.#written, lost: this.#lost, ...error };
  }

  /**
   * Waits until all lines are written, for at most `END_MAX_MS`. Lines that are not written by then
   * count as lost.
   */
  async close(): Promise<EventLinesCount> {
    this.#sweep.cancel();
    this.#endInstant();
    if (this.#gap > 0) this.#send(this.#gapLine(), 0);
    if (this.#inFlight > 0 && this.#error === undefined) await this.#idle();
    this.#lost += this.#inFlight;
    this.#inFlight = 0;
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

  /** Writes the events of the completed millisecond, as far as the buffer has room. */
  #endInstant(): void {
    const events = this.#instant.sort(compareEvents);
    this.#instant = [];
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
    this.#inFlight += count;
    this.#options.stream.write(text, (error) => {
      if (this.#inFlight < count) return;
      this.#inFlight -= count;
      if (error) {
        this.#lost += count;
        this.#recordFailure(error);
      } else this.#written += count;
      if (this.#inFlight === 0) this.#onIdle();
    });
  }

  #recordFailure(error: Error): void {
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

/** Members that are written first or last, independently of their position in the event. */
const outerNames: ReadonlySet<string> = new Set(['atMs', 'kind', 'sequence']);
