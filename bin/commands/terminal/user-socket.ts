/**
 * The WebSocket of a user to one device through the server. It does not interpret the
 * messages.
 * Spec: Device connect
 */
import type { IncomingMessage } from 'node:http';
import { type RawData, WebSocket } from 'ws';
import type { Clock } from '../../../fixtures/base/clock.ts';
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../../fixtures/formats/connect-message.ts';
import { statusError } from '../../../simulator/api-client/responses.ts';
import {
  type ErrorContext,
  TimeoutError,
  TransportError,
} from '../../../simulator/network/errors.ts';

/** The server, the device and the credentials of the connection. */
export interface UserSocketOptions {
  readonly baseUrl: string;
  /** The user's JWT for the management API. */
  readonly token: string;
  readonly deviceId: string;
  readonly clock: Clock;
  readonly requestTimeLimitMs: number;
  readonly caPem?: string | undefined;
}

/** Callbacks for events on the socket. */
export interface UserSocketEvents {
  message(message: ConnectMessage): void;
  /** Called once after an open socket has closed. @param cause a short description */
  onClose(cause: string): void;
}

const SUBPROTOCOL = 'protomsg/msgpack';
/**
 * Interval of pings. The client has to send them, because the server sends none on this WebSocket.
 */
const PING_EVERY_MS = limits.websocketPingSeconds * 1000;
const IDLE_MAX_MS = limits.websocketIdleMaxSeconds * 1000;
const REFUSAL_MAX_BYTES = 65_536;
const NORMAL_CLOSURE = 1000;
const INTERNAL_ERROR = 1011;
const operation = managementOperations['connect-device'];

/** An open WebSocket of a user to a device, for a remote terminal. */
export class UserSocket {
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /**
   * Opens a WebSocket.
   * @throws StatusError when the server refuses the upgrade; TransportError or TimeoutError when
   * there is no response
   */
  static async open(options: UserSocketOptions, events: UserSocketEvents): Promise<UserSocket> {
    const socket = new WebSocket(urlOf(options), {
      headers: {
        authorization: `Bearer ${options.token}`,
        'sec-websocket-protocol': SUBPROTOCOL,
      },
      perMessageDeflate: false,
      maxPayload: limits.websocketMessageMaxBytes,
      skipUTF8Validation: true,
      ...(options.caPem === undefined ? {} : { ca: options.caPem }),
    });
    // RFC 6455 forbids a slash in a subprotocol name, and `ws` enforces that.
    socket.on('upgrade', ({ headers }) => {
      if (headers['sec-websocket-protocol'] === SUBPROTOCOL) {
        delete headers['sec-websocket-protocol'];
      }
    });
    listen(socket, events);
    await waitForOpen(socket, options);
    keepAlive(socket, options.clock);
    return new UserSocket(socket);
  }

  /** Sends a message. Resolves once it is sent, or can no longer be sent. */
  send(message: ConnectMessage): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.send(encodeConnectMessage(message), () => resolve());
    });
  }

  /** Stops reading messages until `resume`. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.close(NORMAL_CLOSURE);
  }
}

function urlOf({ baseUrl, deviceId }: UserSocketOptions): string {
  const path = pathOf(operation, { id: deviceId });
  return baseUrl.replace(/^http/i, 'ws').replace(/\/$/, '') + path;
}

function listen(socket: WebSocket, events: UserSocketEvents): void {
  let wasOpen = false;
  let lastError: string | undefined;
  socket.on('open', () => {
    wasOpen = true;
  });
  socket.on('message', (data: RawData) => {
    try {
      // By default the library delivers a single Buffer.
      events.message(decodeConnectMessage(data as Buffer));
    } catch (error) {
      if (!(error instanceof ConnectMessageError)) throw error;
      lastError = `the server sent a malformed message: ${error.message}`;
      socket.close(INTERNAL_ERROR, 'malformed message');
    }
  });
  socket.on('error', (error) => {
    lastError ??= error.message;
  });
  socket.on('close', (code, reason) => {
    if (!wasOpen) return;
    const suffix = reason.length > 0 ? `: ${reason}` : '';
    events.onClose(lastError ?? `the server closed the connection with ${code}${suffix}`);
  });
}

/** Resolves once the socket is open. */
function waitForOpen(socket: WebSocket, options: UserSocketOptions): Promise<void> {
  const { clock, requestTimeLimitMs } = options;
  const startedMs = clock.monotonicMs();
  const circumstances = (cause?: unknown): ErrorContext => {
    const elapsedMs = clock.monotonicMs() - startedMs;
    return { operation: operation.id, caller: 'user', elapsedMs, cause };
  };
  return new Promise((resolve, reject) => {
    const timer = clock.after(requestTimeLimitMs, () => {
      reject(new TimeoutError(requestTimeLimitMs, circumstances()));
      socket.terminate();
    });
    socket.once('open', () => {
      timer.cancel();
      resolve();
    });
    socket.once('error', (error: Error & { readonly code?: string }) => {
      timer.cancel();
      reject(new TransportError(error.code ?? error.message, circumstances(error)));
    });
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      void refusalOf(response).then((body) => {
        timer.cancel();
        const { statusCode: status = 0, headers } = response;
        const { elapsedMs } = circumstances();
        const context = { operation, caller: 'user', clock };
        reject(statusError({ status, headers, body, elapsedMs }, context));
        socket.terminate();
      });
    });
  });
}

/**
 * Reads the body of a refusal. A truncated body is acceptable, because the status alone is enough.
 */
function refusalOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > REFUSAL_MAX_BYTES) response.destroy();
  });
  return new Promise((resolve) => {
    for (const end of ['end', 'error', 'close']) {
      response.once(end, () => resolve(Buffer.concat(chunks)));
    }
  });
}

/** Pings the server periodically, and closes the socket when no reply arrives. */
function keepAlive(socket: WebSocket, clock: Clock): void {
  let lastActivityMs = clock.monotonicMs();
  const noteActivity = (): void => {
    lastActivityMs = clock.monotonicMs();
  };
  for (const event of ['message', 'ping', 'pong']) socket.on(event, noteActivity);
  const pings = clock.every(PING_EVERY_MS, () => {
    // A paused socket cannot receive pongs either.
    if (socket.isPaused) noteActivity();
    if (clock.monotonicMs() - lastActivityMs > IDLE_MAX_MS) socket.terminate();
    else socket.ping();
  });
  socket.once('close', () => pings.cancel());
}
