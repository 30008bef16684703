/**
 * A session that the server itself holds with a device in order to answer an HTTP request. It sends
 * messages, and waits for each reply within a deadline.
 * Spec: Device connect
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import { connectErrorShape, decodeBody } from '../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  connectProtocols,
} from '../../fixtures/formats/connect-message.ts';
import type { DeviceEnd, DeviceSocket, SessionEnd } from './device-socket.ts';

const { control } = connectProtocols;
/**
 * Twice the number of chunks that a device may send ahead; a device that exceeds it ignores flow
 * control.
 */
const INBOX_MAX_MESSAGES = 2 * limits.fileChunksAhead;
const INBOX_MAX_BYTES = 1_048_576;
const replyMaxMs = limits.connectReplyMaxSeconds * 1000;

/** A failure, with the status code of the HTTP response. */
export interface SessionFailure {
  readonly status: number;
  readonly reason: string;
}

/** A failure that ends a session. */
export class DeviceSessionError extends Error {
  override readonly name = 'DeviceSessionError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  get failure(): SessionFailure {
    return { status: this.status, reason: this.message };
  }
}

interface PendingRead {
  readonly resolve: () => void;
  readonly timer: Timer;
}

/** Holds the session, and queues the device's messages until they are read. */
export class DeviceSession implements SessionEnd {
  readonly #clock: Clock;
  readonly #session: DeviceEnd;
  readonly #inbox: ConnectMessage[] = [];
  #inboxBytes = 0;
  #error: DeviceSessionError | undefined;
  #pendingRead: PendingRead | undefined;
  #isEnded = false;

  constructor(deviceSocket: DeviceSocket, options: { id: string; userId: string; clock: Clock }) {
    this.#clock = options.clock;
    this.#session = deviceSocket.openSession(options, this);
  }

  /** True when `next` resolves at once. */
  get hasMessage(): boolean {
    return this.#inbox.length > 0 || this.#error !== undefined;
  }

  /**
   * Sends a message; does nothing once the session has ended.
   * @throws DeviceSessionError when the message is longer than devices read
   */
  send(message: ConnectMessage): void {
    if (this.#isEnded || this.#session.send(message)) return;
    const max = limits.connectDeviceMessageMaxBytes;
    throw new DeviceSessionError(400, `the device reads at most ${max} bytes, path included`);
  }

  /**
   * Returns the device's next message.
   * @throws DeviceSessionError on an error or close message, a lost connection, or a timeout
   */
  async next(): Promise<ConnectMessage> {
    if (!this.hasMessage) await this.#nextMessage();
    const message = this.#inbox.shift();
    // Messages that arrived before the error are returned first.
    if (!message) throw this.#error ?? timeOut();
    this.#inboxBytes -= message.body?.length ?? 0;
    if (message.typ === 'error') throw errorOf(message);
    if (message.proto === control && message.typ === 'close') {
      throw new DeviceSessionError(502, 'the device closed the session');
    }
    return message;
  }

  onMessage(message: ConnectMessage): void {
    const { proto, typ, body } = message;
    if (proto === control && typ === 'pong') return;
    if (proto === control && typ === 'ping') {
      const isRead = this.#session.backlogBytes <= limits.deviceBacklogMaxBytes;
      if (isRead) this.#session.send({ proto: control, typ: 'pong' });
      else
        this.#fail(
          new DeviceSessionError(502, 'the device sends requests, but does not read the responses'),
        );
      return;
    }
    this.#inboxBytes += body?.length ?? 0;
    if (this.#inbox.length >= INBOX_MAX_MESSAGES || this.#inboxBytes > INBOX_MAX_BYTES) {
      this.#fail(new DeviceSessionError(502, 'the device does not wait for acknowledgements'));
      return;
    }
    this.#inbox.push(message);
    this.#wake();
  }

  onClose(): void {
    this.#fail(new DeviceSessionError(409, 'device disconnected'));
  }

  /** Sends a close message to the device, and ends the session. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#session.send({ proto: control, typ: 'close' });
    this.#session.end();
  }

  #nextMessage(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(replyMaxMs, () => this.#wake());
      this.#pendingRead = { resolve, timer };
    });
  }

  #fail(error: DeviceSessionError): void {
    this.#error ??= error;
    this.end();
    this.#wake();
  }

  #wake(): void {
    this.#pendingRead?.timer.cancel();
    this.#pendingRead?.resolve();
    this.#pendingRead = undefined;
  }
}

function timeOut(): DeviceSessionError {
  const { connectReplyMaxSeconds: seconds } = limits;
  return new DeviceSessionError(408, `the device did not answer within ${seconds} s`);
}

/**
 * Returns the error that the device reports, with the reported code as its status; a code other
 * than 400 to 599 becomes 400.
 */
function errorOf({ body }: ConnectMessage): DeviceSessionError {
  try {
    const { err, code } = decodeBody(connectErrorShape, body);
    const isStatus = code !== undefined && code >= 400 && code <= 599;
    return new DeviceSessionError(isStatus ? code : 400, `the device reports an error: ${err}`);
  } catch (error) {
    if (!(error instanceof ConnectMessageError)) throw error;
    return new DeviceSessionError(502, `the device's error message is malformed: ${error.message}`);
  }
}
