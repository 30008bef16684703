/** Server-sent events: activity and journal entries. A reader that does not keep up is disconnected. */
import type { Response } from 'express';
import type { Clock } from '../../../fixtures/clock.ts';
import type { Ended } from '../../../fixtures/subscribers.ts';
import type { Log } from '../../pipeline/log.ts';
import type { ControlSource } from '../sources/source.ts';
import { refuse } from './refusals.ts';

/** Bytes buffered for one reader. */
const PENDING_MAX_BYTES = 262_144;

/** Readers at the same time. */
const READERS_MAX = 32;

/** Keeps proxies from closing an idle connection. */
const HEARTBEAT_MS = 15_000;

/** Starts sending messages in the form of server-sent events; returns what stops it. */
export type Follow = (send: (message: string) => void, ended: Ended) => () => void;

/** The open event streams of one control listener. */
export class EventStreams {
  readonly #source: ControlSource;
  readonly #clock: Clock;
  readonly #log: Log;
  /** What ends the subscription, by reader. */
  readonly #readers = new Map<Response, () => void>();

  constructor({ source, clock, log }: { source: ControlSource; clock: Clock; log: Log }) {
    this.#source = source;
    this.#clock = clock;
    this.#log = log;
  }

  /** Sends what `follow` sends until the reader disconnects; a reader above the limit is 503. */
  open(reader: Response, follow: Follow): Response {
    if (this.#readers.size >= READERS_MAX) {
      refuse(503, 'too many open event streams; close one first');
    }
    reader.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    reader.write(': connected\n\n');
    const ended: Ended = (fault) => {
      this.#log.error('an event stream failed and was closed', fault);
      this.#forget(reader);
      reader.destroy();
    };
    const unsubscribe = follow((message) => this.#send(reader, message), ended);
    const heartbeat = this.#clock.every(HEARTBEAT_MS, () => this.#send(reader, ': still here\n\n'));
    // The backlog may already have exceeded the buffer.
    if (reader.destroyed) {
      unsubscribe();
      heartbeat.cancel();
      return reader;
    }
    this.#readers.set(reader, () => {
      unsubscribe();
      heartbeat.cancel();
    });
    return reader.on('close', () => this.#forget(reader));
  }

  close(): void {
    for (const reader of [...this.#readers.keys()]) {
      this.#forget(reader);
      reader.end();
    }
  }

  /** The answered requests of a tenant, or of all. */
  activityOf(tenantId?: string): Follow {
    return (send, ended) =>
      this.#source.subscribe((event) => {
        if (tenantId !== undefined && event.tenantId !== tenantId) return;
        send(`event: activity\ndata: ${JSON.stringify(event)}\n\n`);
      }, ended);
  }

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
