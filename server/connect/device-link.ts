/**
 * One device's open socket with the sessions that run over it. A session is one session of a
 * user with the device; its id tells whom a message of the device is for. Spec: Device connect
 */
import type { WebSocket } from 'ws';
import { limits } from '../../fixtures/contract/limits.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import { closeCodes, closeWith } from './closing.ts';

/** The user's end of a session. */
export interface SessionEnd {
  /** Takes a message of the device; `bytes` are the same message as it was sent. */
  onMessage(message: ConnectMessage, bytes: Buffer): void;
  /** The device's socket is gone; nothing comes any more. */
  onClose(): void;
}

/** The device's end of a session. */
export interface Session {
  readonly id: string;
  /** Bytes of all sessions that the device has not taken yet. */
  readonly backlogBytes: number;
  /**
   * Sends a message under the session's id and the user's; false, and nothing is sent, when it is
   * larger than devices read. `flushed` is called once the message has left, or never will.
   */
  send(message: ConnectMessage, flushed?: () => void): boolean;
  /** The device's messages of this session are dropped from now on. */
  end(): void;
}

/** Passes messages between a device's socket and the sessions. */
export class DeviceLink {
  readonly #socket: WebSocket;
  readonly #sessions = new Map<string, SessionEnd>();

  constructor(socket: WebSocket) {
    this.#socket = socket;
    // Without fragments a binary message of the library is one Buffer.
    socket.on('message', (data) => this.#take(data as Buffer));
    // Every fault is followed by close, where it is dealt with. To cut the connection here would
    // lose the close frame that tells the device what was wrong, whenever it is still sending.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#loseSessions());
  }

  /** False from the moment at which the socket begins to close. */
  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Whether one more session may be opened; what a device can serve is bounded. */
  get hasRoom(): boolean {
    return this.#sessions.size < limits.connectSessionsPerDeviceMax;
  }

  openSession({ id, userId }: { id: string; userId: string }, end: SessionEnd): Session {
    this.#sessions.set(id, end);
    const socket = this.#socket;
    return {
      id,
      get backlogBytes() {
        return socket.bufferedAmount;
      },
      send: (message, flushed) => this.send({ id, userId }, message, flushed),
      end: () => this.#sessions.delete(id),
    };
  }

  /** Sends a message under any id, whether such a session is open or not; see `Session`. */
  send(
    { id, userId }: { id: string; userId: string },
    message: ConnectMessage,
    flushed?: () => void,
  ): boolean {
    const props = { ...message.props, user_id: userId };
    const bytes = bytesForDevice({ ...message, sid: id, props });
    if (bytes) this.#socket.send(bytes, flushed);
    return bytes !== undefined;
  }

  /** Ends the socket with a close frame; the sessions end at once. */
  close(code: number, reason: string): void {
    closeWith(this.#socket, code, reason);
    this.#loseSessions();
  }

  /** Ends the connection without a close frame. */
  terminate(): void {
    this.#socket.terminate();
  }

  #take(bytes: Buffer): void {
    let message: ConnectMessage;
    try {
      message = decodeConnectMessage(bytes);
    } catch (fault) {
      if (!(fault instanceof ConnectMessageError)) throw fault;
      this.close(closeCodes.internalError, fault.message);
      return;
    }
    // A session that has ended may still be answered: that is no fault of the device.
    this.#sessions.get(message.sid ?? '')?.onMessage(message, bytes);
  }

  #loseSessions(): void {
    const ends = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const end of ends) end.onClose();
  }
}

/** Nothing when they are too many: a device in the field ends its socket, with every session. */
function bytesForDevice(message: ConnectMessage): Buffer | undefined {
  try {
    const bytes = encodeConnectMessage(message);
    return bytes.length > limits.connectDeviceMessageMaxBytes ? undefined : bytes;
  } catch (fault) {
    // Our two fields can make a message too large that was as large as any may be.
    if (fault instanceof ConnectMessageError) return undefined;
    throw fault;
  }
}
