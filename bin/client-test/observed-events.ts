/**
 * The events of a tested client, as its server sees them: kept for the judge and for evidence, and
 * awaited by the scenes.
 */
import type { WebSocket } from 'ws';
import { runInNextIteration, systemClock } from '../../fixtures/base/clock.ts';
import { isObject, parsedJson } from '../../fixtures/base/json.ts';
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import { operationsById } from '../../fixtures/contract/operation-ids.ts';
import type {
  ClientEvent,
  ClientExchange,
  ClientSocketEvent,
} from '../../fixtures/control/client-event.ts';
import { encodeConnectMessage } from '../../fixtures/formats/connect-message.ts';
import { exchangeEvent } from '../../server/client-feed/client-events.ts';
import type { ExchangeObserver } from '../../server/pipeline/plug-ins.ts';

/** The name of the one client of a scene, for the judge. */
export const CLIENT = 'client';

/** ID of the fault that holds an exchange while the client is killed. */
export const CUT_FAULT = 'cut';

/** A longer body is not shown to the judge. */
const BODY_MAX_BYTES = 65_536;
/** Number of events of one scene that are kept; a client that sends more is flooding. */
const EVENTS_MAX = 20_000;
/** Number of requests in one second that no client needs. */
const RATE_MAX = 200;

/** A request or a socket's event, with the facts that a scene reads of it. */
export interface ObservedEvent {
  /** ID of the operation; `socket` for an event of a WebSocket. */
  readonly operation: string;
  readonly status: number;
  readonly isDelivered: boolean;
  /** The reported status of a deployment. */
  readonly report: string | undefined;
  readonly event: ClientExchange | ClientSocketEvent;
}

/** The events of one client, in the order in which they ended. */
export class ObservedEvents {
  readonly #notify: (event: ClientEvent) => void;
  readonly #baseUrl: () => string;
  readonly all: ObservedEvent[] = [];
  readonly #sockets = new Set<WebSocket>();
  #waiters = new Set<() => void>();
  #floods: string | undefined;

  /** @param notify called for each event at once */
  constructor(notify: (event: ClientEvent) => void, baseUrl: () => string) {
    this.#notify = notify;
    this.#baseUrl = baseUrl;
  }

  /** A sentence about a client that sends more than any client needs; undefined for others. */
  get flood(): string | undefined {
    return this.#floods;
  }

  /** Shows the server's exchanges and sockets to this list. */
  readonly observer: ExchangeObserver = {
    onEnd: (record) => {
      const { operation = 'unknown' } = record;
      if (operationsById.get(operation)?.path.startsWith(apiPrefixes.management)) return;
      // The journal truncates the bodies next; the fault and the variations are noted after that.
      const { body, responseBody } = record;
      const bodies = { body: upTo(body), responseBody: upTo(responseBody) };
      const report = reportIn(operation, body);
      runInNextIteration(() => {
        const event = exchangeEvent(record, {
          journalEntry: this.all.length + 1,
          client: CLIENT,
          baseUrl: this.#baseUrl(),
          // A held exchange is cut by the end of the client, and by nothing that the server did.
          ...bodies,
          ignoredFault: CUT_FAULT,
        });
        const { isDelivered } = event;
        this.#add({ operation, status: event.status, isDelivered, report, event });
      });
    },
    onSocket: (socket, { socket: side, requestId }) => {
      if (side !== 'device') return;
      const add = (
        event: ClientSocketEvent['event'],
        from: ClientSocketEvent['from'],
        more: { readonly code?: number; readonly payload?: Buffer } = {},
      ): void => {
        const journalEntry = this.all.length + 1;
        const location = {
          journalEntry,
          client: CLIENT,
          socket: requestId,
          atMs: systemClock.monotonicMs(),
        };
        const { code: status = 0 } = more;
        const facts = { operation: 'socket', status, isDelivered: true, report: event };
        this.#add({ ...facts, event: { kind: 'socket', ...location, event, from, ...more } });
      };
      this.#sockets.add(socket);
      add('opened', 'device');
      socket.on('message', (payload) => add('message', 'device', bytesIn(payload)));
      socket.on('ping', (payload) => add('ping', 'device', { payload }));
      socket.on('pong', (payload) => add('pong', 'device', { payload }));
      socket.on('close', (code) => {
        this.#sockets.delete(socket);
        add('closed', 'device', { code });
      });
      const socketMethods = { send: socket.send.bind(socket), ping: socket.ping.bind(socket) };
      const observeSends = (event: 'message' | 'ping', method: 'send' | 'ping') => ({
        [method]: (...given: Parameters<WebSocket['ping']>) => {
          add(event, 'server', bytesIn(given[0]));
          Reflect.apply(socketMethods[method], socket, given);
        },
      });
      Object.assign(socket, observeSends('message', 'send'), observeSends('ping', 'ping'));
    },
  };

  /** Sends something on every open WebSocket of the client, or closes it. */
  send(signal: 'ping' | 'unknown-message' | 'fragments' | 'close'): void {
    const message = encodeConnectMessage({ proto: 0x7fff, typ: 'tested', body: Buffer.alloc(0) });
    for (const socket of this.#sockets) {
      if (signal === 'close') socket.close(1000);
      else if (signal === 'ping') socket.ping(Buffer.from('tested'));
      else if (signal === 'unknown-message') socket.send(message);
      else {
        socket.send(message.subarray(0, 5), { fin: false });
        socket.ping(Buffer.from('between'));
        socket.send(message.subarray(5), { fin: true });
      }
    }
  }

  /** True while the client has a WebSocket. */
  get isConnected(): boolean {
    return this.#sockets.size > 0;
  }

  /** When the last download ended, if it failed or a fault has changed it; undefined for others. */
  get failedDownloadMs(): number | undefined {
    const last = this.all.findLast(({ operation }) => operation.startsWith('download-'));
    if (last?.event.kind !== 'exchange') return undefined;
    const isAsItWas = last.event.faultsAndVariations.length === 0;
    const isWhole = last.status < 400 && last.isDelivered && isAsItWas;
    return isWhole ? undefined : last.event.endedMs;
  }

  /** True if the server has failed the last request. */
  get isFailing(): boolean {
    const { status } = this.#requests.at(-1) ?? {};
    return status !== undefined && (status === 0 || status === 429 || status >= 500);
  }

  /** Returns the time since the last request, and the longest time between two, in milliseconds. */
  pauses(nowMs: number): { readonly pauseMs: number; readonly longestPauseMs: number } {
    const times = this.#requests.map(({ event }) => endOfEvent(event));
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? time));
    return { pauseMs: nowMs - (times.at(-1) ?? nowMs), longestPauseMs: Math.max(0, ...pauses) };
  }

  /** Wakes everything that waits for an event, to look again. */
  wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /**
   * Resolves with true once the condition holds, which is tested again after each event; with false
   * after the time.
   */
  until(holds: () => boolean, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (outcome: boolean): void => {
        timer.cancel();
        this.#waiters.delete(look);
        resolve(outcome);
      };
      const look = (): void => {
        if (holds()) end(true);
      };
      const timer = systemClock.after(withinMs, () => end(holds()));
      this.#waiters.add(look);
      look();
    });
  }

  /** Without the pings of an open WebSocket, which come whatever a client waits for. */
  get #requests(): readonly ObservedEvent[] {
    return this.all.filter(({ event }) => event.kind === 'exchange');
  }

  #add(event: ObservedEvent): void {
    if (this.all.length >= EVENTS_MAX) {
      this.#floods = `sent more than ${EVENTS_MAX} requests in one scene`;
    } else {
      this.all.push(event);
      this.#notify(event.event);
      const earlierEvent = this.all.at(-RATE_MAX)?.event;
      if (
        earlierEvent &&
        this.all.length >= RATE_MAX &&
        endOfEvent(event.event) - endOfEvent(earlierEvent) < 1000
      ) {
        this.#floods = `sent ${RATE_MAX} requests within a second`;
      }
    }
    this.wake();
  }
}

/** Returns when an event ended, on a monotonic clock, in milliseconds. */
export function endOfEvent(event: ClientEvent): number {
  return event.kind === 'exchange' ? event.endedMs : event.atMs;
}

function upTo<Body extends Buffer | string>(body: Body | undefined): Body | undefined {
  return body && Buffer.byteLength(body) <= BODY_MAX_BYTES ? body : undefined;
}

function reportIn(operation: string, body: Buffer | undefined): string | undefined {
  if (operation !== 'put-deployment-status') return undefined;
  const value = parsedJson(String(body));
  return isObject(value) && typeof value.status === 'string' ? value.status : undefined;
}

function bytesIn(payload: unknown): { readonly payload?: Buffer } {
  return Buffer.isBuffer(payload) ? { payload } : {};
}
