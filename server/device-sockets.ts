/** The devices' websockets: one a device, watched by heartbeat, with presence kept in the store. Spec: Device connect */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../fixtures/clock.ts';
import { limits } from '../fixtures/contract/limits.ts';
import type { Store } from './store/store.ts';

/** What a handshake is completed with. */
export interface SocketHandover {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly requestId: string;
  readonly deviceId: string;
}

/** The subprotocol that some clients ask for; others ask for none. */
const subprotocol = 'protomsg/msgpack';
const GOING_AWAY = 1001;
const closeGraceMs = 1000;

/** Holds the sockets. */
export class DeviceSockets {
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #requestIdHeader: string;
  readonly #sockets = new Map<string, WebSocket>();
  /** Lines that a handshake's answer has beside those of the library. */
  readonly #ownHeaders = new WeakMap<IncomingMessage, readonly string[]>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: limits.websocketMessageMaxBytes,
    perMessageDeflate: false,
  });

  constructor(options: { clock: Clock; store: Store; requestIdHeader: string }) {
    this.#clock = options.clock;
    this.#store = options.store;
    this.#requestIdHeader = options.requestIdHeader;
    this.#server.on('headers', (headers, request) => {
      headers.push(...(this.#ownHeaders.get(request) ?? []));
    });
  }

  /** Completes a handshake; an earlier socket of the same device is dropped. */
  accept({ request, socket, head, requestId, deviceId }: SocketHandover): void {
    this.#ownHeaders.set(request, [
      `${this.#requestIdHeader}: ${requestId}`,
      ...(offersSubprotocol(request) ? [`Sec-WebSocket-Protocol: ${subprotocol}`] : []),
    ]);
    // The library would refuse the field's name: by RFC 6455 a subprotocol has no slash.
    delete request.headers['sec-websocket-protocol'];
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#hold(deviceId, webSocket);
    });
  }

  /** Ends the device's socket, as when it is decommissioned. */
  drop(deviceId: string): void {
    this.#sockets.get(deviceId)?.close(1008, 'decommissioned');
  }

  /** Closes every socket as going away, and cuts those that do not answer within a second. */
  async close(): Promise<void> {
    const closing = [...this.#sockets.values()].map(
      (socket) =>
        new Promise<void>((resolve) => {
          const timer = this.#clock.after(closeGraceMs, () => socket.terminate());
          socket.once('close', () => {
            timer.cancel();
            resolve();
          });
          socket.close(GOING_AWAY, 'server shutting down');
        }),
    );
    await Promise.all(closing);
    this.#server.close();
  }

  #hold(deviceId: string, socket: WebSocket): void {
    // As the field does: the older one ends without a close frame, and presence stays connected.
    this.#sockets.get(deviceId)?.terminate();
    this.#sockets.set(deviceId, socket);
    this.#store.connections.record(deviceId, 'connected', this.#clock.now());
    const stopHeartbeat = this.#watch(socket);
    // Every fault is followed by close, where it is dealt with. To cut the connection here would
    // lose the close frame that tells the device what was wrong, whenever it is still sending.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      stopHeartbeat();
      if (this.#sockets.get(deviceId) !== socket) return;
      this.#sockets.delete(deviceId);
      // A decommissioned device has no presence any more.
      if (!this.#store.devices.find(deviceId)) return;
      this.#store.connections.record(deviceId, 'disconnected', this.#clock.now());
    });
  }

  #watch(socket: WebSocket): () => void {
    let heardMs = this.#clock.now();
    const hear = (): void => {
      heardMs = this.#clock.now();
    };
    for (const event of ['message', 'ping', 'pong']) socket.on(event, hear);
    const pinging = this.#clock.every(limits.websocketPingSeconds * 1000, () => {
      const silentMs = this.#clock.now() - heardMs;
      if (silentMs >= limits.websocketSilenceMaxSeconds * 1000) socket.terminate();
      else socket.ping(String(limits.websocketSilenceMaxSeconds));
    });
    return () => pinging.cancel();
  }
}

function offersSubprotocol({ headers }: IncomingMessage): boolean {
  const offered = headers['sec-websocket-protocol'] ?? '';
  return offered.split(',').some((name) => name.trim() === subprotocol);
}
