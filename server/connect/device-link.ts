/**
 * One device's open socket with the sessions that run over it. A session is one session of a user
 * with the device; its id identifies the recipient of a device's message. Spec: Device connect
 */
import type { WebSocket } from 'ws';
import { limits } from '../../fixtures/contract/limits.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import { closeCodes, closeWith } from './closing.ts';
import { messageIn, noMessageText } from './received-message.ts';

/** The user's end of a session. */
export interface SessionEnd {
  /** Receives a message of the device; `bytes` are the message as sent. */
  onMessage(message: ConnectMessage, bytes: Buffer): void;
  /** Called when the device's socket is closed; nothing more arrives. */
  onClose(): void;
}

/** The device's end of a session. */
export interface Session {
  readonly id: string;
  /** Bytes of all sessions that the device has not read yet. */
  readonly backlogBytes: number;
  /**
   * Sends a message with the session's id and the user's; returns false, and sends nothing, when it
   * is larger than devices read. `flushed` is called once the message was sent, or never will be.
   */
  send(message: ConnectMessage, flushed?: () => void): boolean;
  /** Drops the device's messages of this session from now on. */
  end(): void;
}

/** Passes messages between a device's socket and the sessions. */
export class DeviceLink {
  readonly #socket: WebSocket;
  readonly #sessions = new Map<string, SessionEnd>();

  constructor(socket: WebSocket) {
    this.#socket = socket;
    // Without fragments a binary message of the library is one Buffer.
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary));
    // Every error is followed by close, which handles it. Cutting the connection here would lose
    // the close frame with the reason whenever the device is still sending.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#loseSessions());
  }

  /** False as soon as the socket begins to close. */
  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** True when one more session may be opened; a device can serve a limited number. */
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

  /** Sends a message with any id, of an open session or not; see `Session`. */
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

  #take(bytes: Buffer, isBinary: boolean): void {
    const message = messageIn(bytes);
    if (message instanceof ConnectMessageError) {
      this.close(closeCodes.internalError, noMessageText(message, isBinary));
      return;
    }
    // A session that has ended may still be answered: that is not a fault of the device.
    this.#sessions.get(message.sid ?? '')?.onMessage(message, bytes);
  }

  #loseSessions(): void {
    const ends = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const end of ends) end.onClose();
  }
}

/** Returns undefined for too many bytes: a real device would end its socket, with every session. */
function bytesForDevice(message: ConnectMessage): Buffer | undefined {
  try {
    const bytes = encodeConnectMessage(message);
    return bytes.length > limits.connectDeviceMessageMaxBytes ? undefined : bytes;
  } catch (error) {
    // The server's two fields can push a message of maximum size over the limit.
    if (error instanceof ConnectMessageError) return undefined;
    throw error;
  }
}
