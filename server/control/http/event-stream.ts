/**
 * Sends activity and journal entries as server-sent events. A reader that does not keep up is
 * disconnected.
 */
import type { Response } from 'express';
import type { Clock } from '../../../fixtures/base/clock.ts';
import type { OnSubscriptionEnd } from '../../../fixtures/base/subscribers.ts';
import type { Log } from '../../pipeline/log.ts';
import type { ControlSource } from '../sources/source.ts';
import { throwRefusal } from './refusals.ts';

/** Maximum number of bytes buffered for one reader. */
const PENDING_MAX_BYTES = 262_144;

/** Maximum number of concurrent readers. */
const READERS_MAX = 32;

/** The interval of messages that keep proxies from closing an idle connection. */
const HEARTBEAT_MS = 15_000;

/**
 * Starts sending messages in the format of server-sent events. Returns a function that stops it.
 */
export type Follow = (send: (message: string) => void, ended: OnSubscriptionEnd) => () => void;

/** The open event streams of one control listener. */
export class EventStreams {
  readonly #source: ControlSource;
  readonly #clock: Clock;
  readonly #log: Log;
  /** The function that ends the subscription of each reader. */
  readonly #readers = new Map<Response, () => void>();

  constructor({ source, clock, log }: { source: ControlSource; clock: Clock; log: Log }) {
    this.#source = source;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Passes the messages of `follow` to the reader until it disconnects. Refuses with 503 if there
   * are too many readers.
   */
  open(reader: Response, follow: Follow): Response {
    if (this.#readers.size >= READERS_MAX) {
      throwRefusal(503, 'too many open event streams; close one first');
    }
    reader.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    reader.write(': connected\n\n');
    const ended: OnSubscriptionEnd = (error) => {
      this.#log.error('an event stream failed and was closed', error);
      this.#forget(reader);
      reader.destroy();
    };
    const unsubscribe = follow((message) => this.#send(reader, message), ended);
    const heartbeat = this.#clock.every(HEARTBEAT_MS, () => this.#send(reader, ': still here\n\n'));
    // The stored entries may already have exceeded the buffer, which disconnects the reader.
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

  /** Returns the answered requests of a tenant, or of all tenants, as messages. */
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

  /** Ends the subscription, because nothing may be written to a reader that has ended. */
  #forget(reader: Response): void {
    this.#readers.get(reader)?.();
    this.#readers.delete(reader);
  }
}
