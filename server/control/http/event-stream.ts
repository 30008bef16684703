/** Activity, or anything else, as server-sent events. A reader that does not keep up is dropped, never waited for. */
import type { Response } from 'express';
import type { Clock } from '../../../fixtures/clock.ts';
import type { Log } from '../../pipeline/log.ts';
import type { Ended } from '../subscribers.ts';
import type { ControlSource } from './source.ts';

/** Bytes that may wait for one reader. */
const PENDING_MAX_BYTES = 262_144;

/** Readers at the same time. */
const READERS_MAX = 32;

/** A word in the silence, so that nobody in between takes the connection for dead. */
const HEARTBEAT_MS = 15_000;

/** Begins to send messages in the form of server-sent events until `ended`; returns what ends that. */
export type Follow = (send: (message: string) => void, ended: Ended) => () => void;

/** The readers of one control listener. */
export class EventStreams {
  readonly #source: ControlSource;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Each reader with what ends its subscription. */
  readonly #readers = new Map<Response, () => void>();

  constructor({ source, clock, log }: { source: ControlSource; clock: Clock; log: Log }) {
    this.#source = source;
    this.#clock = clock;
    this.#log = log;
  }

  get full(): boolean {
    return this.#readers.size >= READERS_MAX;
  }

  /** Sends every event from now on until the reader goes away: activity, or what `follow` sends. */
  open(reader: Response, follow: Follow = this.#activity): void {
    reader.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    reader.write(': connected\n\n');
    const ended: Ended = (fault) => {
      this.#log.error('an event stream failed and was closed', fault);
      this.#forget(reader);
      reader.destroy();
    };
    const unsubscribe = follow((message) => this.#send(reader, message), ended);
    const heartbeat = this.#clock.every(HEARTBEAT_MS, () => this.#send(reader, ': still here\n\n'));
    // What was kept may have been more than the reader takes at once.
    if (reader.destroyed) {
      unsubscribe();
      heartbeat.cancel();
      return;
    }
    this.#readers.set(reader, () => {
      unsubscribe();
      heartbeat.cancel();
    });
    reader.on('close', () => this.#forget(reader));
  }

  /** Ends every stream. */
  close(): void {
    for (const reader of [...this.#readers.keys()]) {
      this.#forget(reader);
      reader.end();
    }
  }

  readonly #activity: Follow = (send, ended) =>
    this.#source.subscribe(
      (event) => send(`event: activity\ndata: ${JSON.stringify(event)}\n\n`),
      ended,
    );

  #send(reader: Response, message: string): void {
    if (reader.writableLength <= PENDING_MAX_BYTES) {
      reader.write(message);
      return;
    }
    this.#forget(reader);
    reader.destroy();
  }

  /** Nothing may be written to a reader once it has ended. */
  #forget(reader: Response): void {
    this.#readers.get(reader)?.();
    this.#readers.delete(reader);
  }
}
