/** The persistent connection of one device to the server. Spec: Device connect */
import { type RawData, WebSocket } from 'ws';
import type { Clock } from '../../fixtures/base/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import { type ConnectionOptions, tlsSettings } from '../network/connections.ts';
import { noResponseKindOf } from '../network/errors.ts';
import type { FrameNetwork } from '../network/frame-network.ts';
import type { ExchangeMeter } from '../network/transport.ts';

/** The networks that carry the messages of one socket, one in each direction. */
export interface SocketFrames {
  readonly up: FrameNetwork;
  readonly down: FrameNetwork;
}

/** The address and the settings of a device's connection. */
export interface DeviceSocketOptions extends Omit<ConnectionOptions, 'sourceAddresses'> {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly observer: ExchangeMeter;
  readonly requestTimeLimitMs: number;
  /** Source address to connect from. */
  readonly sourceAddress?: string | undefined;
  /** Called once the connection is open. */
  readonly onOpen?: () => void;
  /**
   * Creates the networks that messages pass through, one in each direction; without it, messages
   * pass without delay or loss.
   */
  readonly frames?: ((broken: () => void) => SocketFrames) | undefined;
  /** Returns the replies to a message; without it, messages are ignored. */
  readonly respond?: (message: ConnectMessage) => readonly ConnectMessage[];
}

/** Idle time after which the device pings: 90 % of the server's idle timeout. */
const PING_AFTER_MS = limits.websocketIdleMaxSeconds * 900;
const IDLE_MAX_MS = limits.websocketIdleMaxSeconds * 1000;
const operation = operations.connect;

/** Limit on the bytes queued for a server that does not read the replies to its own messages. */
const BACKLOG_MAX_BYTES = 16 * 2 ** 20;

/**
 * One connection, which opens in the constructor and cannot be reopened: to reconnect, create a new
 * object. Answers pings, and answers messages with the replies of `respond`. Closes the connection
 * with 1011 after bytes that are not a message, and with 1009 after a message larger than devices
 * read. Real devices also disconnect and reconnect then, and the close makes the server's error
 * visible in the figures of the run.
 */
export class DeviceSocket {
  readonly #socket: WebSocket;
  readonly #options: DeviceSocketOptions;
  readonly #startedMs: number;
  readonly #frames: SocketFrames | undefined;
  #lastActivityMs: number;
  #pinged = false;
  #error: string | undefined;
  #sentMs: number | undefined;
  state: 'opening' | 'open' | 'closed' = 'opening';
  /** True once the connection has been open, even if it is closed now. */
  wasOpen = false;
  /** Status of the response that refused the upgrade. */
  refusedWith: number | undefined;
  /** Short cause of the close, such as `closed/1001` or `transport/ECONNREFUSED`. */
  closedBy: string | undefined;

  constructor(token: string, options: DeviceSocketOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
    this.#lastActivityMs = this.#startedMs;
    this.#frames = options.frames?.(() => this.#abort('transport/NETWORK_LOSS'));
    this.#socket = new WebSocket(socketUrl(options.baseUrl), {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
      maxPayload: limits.connectDeviceMessageMaxBytes,
      // Some real servers send msgpack in text frames, which is not valid UTF-8.
      skipUTF8Validation: true,
      handshakeTimeout: options.requestTimeLimitMs,
      finishRequest: (request) => {
        // The callback runs once the request is written, after the connection has been made.
        request.end(() => {
          this.#sentMs = options.clock.monotonicMs();
        });
      },
      ...tlsSettings(options),
      ...(options.sourceAddress !== undefined && { localAddress: options.sourceAddress }),
    });
    this.#listen();
  }

  /**
   * Pings a server that has been idle and drops the connection to one that does not answer. The
   * owner calls this periodically.
   * @param nowMs monotonic time of the clock
   */
  watch(nowMs: number): void {
    if (this.state !== 'open') return;
    const idleMs = nowMs - this.#lastActivityMs;
    if (idleMs > IDLE_MAX_MS) this.#socket.terminate();
    else if (idleMs > PING_AFTER_MS && !this.#pinged) {
      this.#pinged = true;
      this.#socket.ping();
    }
  }

  /** Sends messages in order. Does nothing once the connection is closed. */
  say(messages: readonly ConnectMessage[]): void {
    for (const message of messages) {
      const bytes = encodeConnectMessage(message);
      if (this.#frames === undefined) this.#send(bytes);
      else this.#frames.up.carry(bytes.length, () => this.#send(bytes));
    }
    if (this.#socket.bufferedAmount > BACKLOG_MAX_BYTES) this.#abort('backlog');
  }

  #send(bytes: Uint8Array): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(bytes);
    this.#options.observer.recordSentBytes(operation.id, bytes.length);
  }

  #abort(cause: string): void {
    this.closedBy ??= cause;
    this.#socket.terminate();
  }

  /** Closes the connection cleanly; aborts a handshake in progress. */
  close(): void {
    this.#endFrames();
    if (this.state === 'open') {
      this.#socket.close(NORMAL_CLOSURE);
      return;
    }
    // The state is set first so that an aborted handshake does not count as an unanswered request.
    this.state = 'closed';
    this.#socket.terminate();
  }

  /** Drops the connection without a close frame, like a loss of power or network. */
  drop(): void {
    this.#endFrames();
    this.state = 'closed';
    this.#socket.terminate();
  }

  #listen(): void {
    const noteActivity = (): void => {
      this.#lastActivityMs = this.#options.clock.monotonicMs();
      this.#pinged = false;
    };
    this.#socket
      .on('open', () => {
        noteActivity();
        this.state = 'open';
        this.wasOpen = true;
        this.#recordResponse(SWITCHING_PROTOCOLS);
        this.#options.onOpen?.();
      })
      .on('unexpected-response', (request, response) => {
        this.refusedWith = response.statusCode ?? 0;
        this.#recordResponse(this.refusedWith);
        request.destroy();
        this.#closed(`status/${this.refusedWith}`);
      })
      .on('message', (data) => {
        noteActivity();
        // The library delivers a single Buffer unless `binaryType` is changed.
        const bytes = (data as Buffer).length;
        this.#options.observer.recordReceivedBytes(operation.id, bytes);
        if (this.#frames === undefined) this.#receive(data);
        else this.#frames.down.carry(bytes, () => this.#receive(data));
      })
      .on('ping', noteActivity)
      .on('pong', noteActivity)
      .on('error', (error: Error & { readonly code?: string }) => {
        this.#error = errorOf(error);
        this.closedBy ??= `transport/${this.#error}`;
      })
      .on('close', (code) => this.#closed(`closed/${code}`));
  }

  /** Handles one message; text frames and binary frames are treated alike. */
  #receive(data: RawData): void {
    const { respond } = this.#options;
    if (respond === undefined || this.#socket.readyState !== WebSocket.OPEN) return;
    try {
      // The library delivers a single Buffer unless `binaryType` is changed.
      this.say(respond(decodeConnectMessage(data as Buffer)));
    } catch (error) {
      if (!(error instanceof ConnectMessageError)) throw error;
      this.closedBy ??= 'message/malformed';
      this.#socket.close(INTERNAL_ERROR, 'malformed message');
    }
  }

  #recordResponse(status: number): void {
    const startedMs = this.#startedMs;
    const elapsedMs = this.#options.clock.monotonicMs() - startedMs;
    const waitingMs = (this.#sentMs ?? startedMs) - startedMs;
    this.#options.observer.recordResponse({
      operation: operation.id,
      status,
      elapsedMs,
      waitingMs,
    });
  }

  #endFrames(): void {
    this.#frames?.up.close();
    this.#frames?.down.close();
  }

  #closed(cause: string): void {
    this.#endFrames();
    if (this.state === 'closed') return;
    if (this.state === 'opening' && this.refusedWith === undefined) {
      const noResponse = noResponseKindOf(this.#error ?? cause);
      this.#options.observer.recordNoResponse({ operation: operation.id, noResponse });
    }
    this.state = 'closed';
    this.closedBy ??= cause;
  }
}

/** Returns the code of a socket error. The library's own timeout has a message but no code. */
function errorOf({ code, message }: Error & { readonly code?: string }): string {
  if (code !== undefined) return code;
  return message.includes('timed out') ? 'ETIMEDOUT' : 'WEBSOCKET';
}

const NORMAL_CLOSURE = 1000;
const INTERNAL_ERROR = 1011;
const SWITCHING_PROTOCOLS = 101;

function socketUrl(baseUrl: string): string {
  return baseUrl.replace(/^http/i, 'ws').replace(/\/$/, '') + pathOf(operation);
}
