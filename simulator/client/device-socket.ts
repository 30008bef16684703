/** One device's persistent connection to the server. Spec: Device connect */
import { type RawData, WebSocket } from 'ws';
import type { Clock } from '../../fixtures/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import { tlsSettings, type Wiring } from '../network/connections.ts';
import { silenceOf } from '../network/errors.ts';
import type { FrameLink } from '../network/frame-link.ts';
import type { ExchangeObserver } from '../network/transport.ts';

/** Both directions of a socket through the device's network. */
export interface SocketFrames {
  readonly up: FrameLink;
  readonly down: FrameLink;
}

/** Where and how to connect. */
export interface DeviceSocketOptions extends Omit<Wiring, 'sourceAddresses'> {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly observer: ExchangeObserver;
  readonly requestTimeLimitMs: number;
  /** The own address to connect from. */
  readonly sourceAddress?: string | undefined;
  /** Called once the connection stands. */
  readonly onOpen?: () => void;
  /** The network that messages pass; absent: they arrive as they come. */
  readonly frames?: ((broken: () => void) => SocketFrames) | undefined;
  /** What the device says to a message; without it messages are not looked at. */
  readonly answer?: (message: ConnectMessage) => readonly ConnectMessage[];
}

/** A device pings a little before the server's patience ends. */
const PING_AFTER_MS = limits.websocketSilenceMaxSeconds * 900;
const SILENCE_MAX_MS = limits.websocketSilenceMaxSeconds * 1000;
const operation = operations.connect;

/** Bytes that may wait for a server that does not read what it asked for. */
const BACKLOG_MAX_BYTES = 16 * 2 ** 20;

/**
 * Opens at once and stays as it is once closed: whoever wants to reconnect makes a new one. Pings
 * of the server are answered, messages as the owner says. Bytes that are no message end the
 * connection with 1011, larger ones than devices read with 1009: a device in the field goes down
 * too and connects anew, and only so does the fault of the server show in the run's books.
 */
export class DeviceSocket {
  readonly #socket: WebSocket;
  readonly #options: DeviceSocketOptions;
  readonly #startedMs: number;
  readonly #frames: SocketFrames | undefined;
  #heardMs: number;
  #pinged = false;
  #fault: string | undefined;
  state: 'opening' | 'open' | 'closed' = 'opening';
  /** Whether the connection stood at any time. */
  wasOpen = false;
  /** Status of the answer that refused the upgrade. */
  refusedWith: number | undefined;
  /** Cause of the end in a word or two, such as `closed/1001` or `transport/ECONNREFUSED`. */
  closedBy: string | undefined;

  constructor(token: string, options: DeviceSocketOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
    this.#heardMs = this.#startedMs;
    this.#frames = options.frames?.(() => this.#breakOff('transport/LINK_LOST'));
    this.#socket = new WebSocket(socketUrl(options.baseUrl), {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
      maxPayload: limits.connectDeviceMessageMaxBytes,
      // Servers in the field send msgpack in text frames as well, and it is never UTF-8.
      skipUTF8Validation: true,
      handshakeTimeout: options.requestTimeLimitMs,
      ...tlsSettings(options),
      ...(options.sourceAddress !== undefined && { localAddress: options.sourceAddress }),
    });
    this.#listen();
  }

  /**
   * To be called now and then: pings a quiet server and gives a silent one up.
   * @param nowMs the clock's monotonic time
   */
  watch(nowMs: number): void {
    if (this.state !== 'open') return;
    const silentMs = nowMs - this.#heardMs;
    if (silentMs > SILENCE_MAX_MS) this.#socket.terminate();
    else if (silentMs > PING_AFTER_MS && !this.#pinged) {
      this.#pinged = true;
      this.#socket.ping();
    }
  }

  /** Sends messages, in order; none once the connection is closed. */
  say(messages: readonly ConnectMessage[]): void {
    for (const message of messages) {
      const bytes = encodeConnectMessage(message);
      if (this.#frames === undefined) this.#send(bytes);
      else this.#frames.up.carry(bytes.length, () => this.#send(bytes));
    }
    if (this.#socket.bufferedAmount > BACKLOG_MAX_BYTES) this.#breakOff('backlog');
  }

  #send(bytes: Uint8Array): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(bytes);
  }

  #breakOff(cause: string): void {
    this.closedBy ??= cause;
    this.#socket.terminate();
  }

  /** Ends the connection in order; a handshake that is underway is broken off. */
  close(): void {
    this.#endFrames();
    if (this.state === 'open') {
      this.#socket.close(NORMAL_CLOSURE);
      return;
    }
    // What the run itself breaks off is not counted as unanswered.
    this.state = 'closed';
    this.#socket.terminate();
  }

  /** Ends the connection without a word, as a loss of power or of the network does. */
  drop(): void {
    this.#endFrames();
    this.state = 'closed';
    this.#socket.terminate();
  }

  #listen(): void {
    const heard = (): void => {
      this.#heardMs = this.#options.clock.monotonicMs();
      this.#pinged = false;
    };
    this.#socket
      .on('open', () => {
        heard();
        this.state = 'open';
        this.wasOpen = true;
        this.#answered(SWITCHING_PROTOCOLS);
        this.#options.onOpen?.();
      })
      .on('unexpected-response', (request, response) => {
        this.refusedWith = response.statusCode ?? 0;
        this.#answered(this.refusedWith);
        request.destroy();
        this.#closed(`status/${this.refusedWith}`);
      })
      .on('message', (data) => {
        heard();
        if (this.#frames === undefined) this.#take(data);
        // The library hands out one Buffer unless told otherwise.
        else this.#frames.down.carry((data as Buffer).length, () => this.#take(data));
      })
      .on('ping', heard)
      .on('pong', heard)
      .on('error', (error: Error & { readonly code?: string }) => {
        this.#fault = faultOf(error);
        this.closedBy ??= `transport/${this.#fault}`;
      })
      .on('close', (code) => this.#closed(`closed/${code}`));
  }

  /** Text and binary frames alike hold a message. */
  #take(data: RawData): void {
    const { answer } = this.#options;
    if (answer === undefined || this.#socket.readyState !== WebSocket.OPEN) return;
    try {
      // The library hands out one Buffer unless told otherwise.
      this.say(answer(decodeConnectMessage(data as Buffer)));
    } catch (error) {
      if (!(error instanceof ConnectMessageError)) throw error;
      this.closedBy ??= 'message/malformed';
      this.#socket.close(INTERNAL_ERROR, 'malformed message');
    }
  }

  #answered(status: number): void {
    const elapsedMs = this.#options.clock.monotonicMs() - this.#startedMs;
    this.#options.observer.answered(operation.id, status, elapsedMs);
  }

  #endFrames(): void {
    this.#frames?.up.close();
    this.#frames?.down.close();
  }

  #closed(cause: string): void {
    this.#endFrames();
    if (this.state === 'closed') return;
    if (this.state === 'opening' && this.refusedWith === undefined) {
      this.#options.observer.unanswered(operation.id, silenceOf(this.#fault ?? cause));
    }
    this.state = 'closed';
    this.closedBy ??= cause;
  }
}

/** The library gives its own time limit no code, only this sentence. */
function faultOf({ code, message }: Error & { readonly code?: string }): string {
  if (code !== undefined) return code;
  return message.includes('timed out') ? 'ETIMEDOUT' : 'WEBSOCKET';
}

const NORMAL_CLOSURE = 1000;
const INTERNAL_ERROR = 1011;
const SWITCHING_PROTOCOLS = 101;

function socketUrl(baseUrl: string): string {
  return baseUrl.replace(/^http/i, 'ws').replace(/\/$/, '') + pathOf(operation);
}
