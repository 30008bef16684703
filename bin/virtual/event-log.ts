/**
 * The event log of a run in virtual time: computes its hash, and optionally writes its lines to a
 * stream.
 */
import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { compareEvents, type FleetEvent } from '../../simulator/device/events.ts';
import { eventLine } from '../../simulator/report/events-lines.ts';

/** The number of lines and the hash of a finished event log. */
export interface EventLogSummary {
  readonly lines: number;
  /** SHA-256 of all lines, in hexadecimal. */
  readonly sha256: string;
}

/** Number of characters that are hashed and written together. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Records events in chronological order. Call `close` after the last one. */
export class EventLog {
  readonly #hash = createHash('sha256');
  readonly #stream: Writable | undefined;
  readonly #written: Promise<void> | undefined;
  /**
   * Events of the current millisecond, which are sorted so that their order does not depend on
   * their arrival.
   */
  #instant: FleetEvent[] = [];
  #text = '';
  #lines = 0;

  /** Creates a log. @param stream receives the lines, and is ended by `close` */
  constructor(stream?: Writable) {
    this.#stream = stream;
    this.#written = stream && finished(stream);
    // `close` awaits the promise and reports its rejection.
    this.#written?.catch(() => undefined);
  }

  readonly record = (event: FleetEvent): void => {
    if (this.#instant[0] !== undefined && this.#instant[0].atMs !== event.atMs) this.#endInstant();
    this.#instant.push(event);
  };

  /** False while the stream lags behind, so that virtual time can wait for it. */
  get hasRoom(): boolean {
    return this.#stream?.writableNeedDrain !== true || this.#stream.errored !== null;
  }

  /**
   * Ends the log and returns its summary.
   * @throws the error of the stream when it cannot be written
   */
  async close(): Promise<EventLogSummary> {
    this.#endInstant();
    this.#flush();
    this.#stream?.end();
    await this.#written;
    return { lines: this.#lines, sha256: this.#hash.digest('hex') };
  }

  #endInstant(): void {
    const events = this.#instant.length > 1 ? this.#instant.sort(compareEvents) : this.#instant;
    for (const event of events) this.#text += eventLine(event);
    this.#lines += events.length;
    this.#instant = [];
    if (this.#text.length >= CHUNK_CHARACTERS) this.#flush();
  }

  #flush(): void {
    this.#hash.update(this.#text);
    this.#stream?.write(this.#text);
    this.#text = '';
  }
}
