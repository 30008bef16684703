/**
 * The open socket of one device, with the sessions that run over it. Each session belongs to one
 * user; a message of the device carries the session ID that identifies its recipient.
 * Spec: Device connect
 */
import type { WebSocket } from 'ws';
import { printable } from '../../fixtures/base/printable.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import { closeWith } from './closing.ts';
import { messageIn, noMessage, withoutEffect } from './received-message.ts';
import { closeFor, reportIgnoredMessage } from './violations.ts';

/** The user's end of a session. */
export interface SessionEnd {
  /** Receives a message of the device; `bytes` is the message in encoded form. */
  onMessage(message: ConnectMessage, bytes: Buffer): void;
  /** Called when the device's socket closes; no message follows. */
  onClose(): void;
}

/** The device's end of a session. */
export interface DeviceEnd {
  readonly id: string;
  /** Bytes sent to the device, over all its sessions, that it has not read. */
  readonly backlogBytes: number;
  /**
   * Sends a message with the session ID and the user ID added. Returns false, and sends nothing,
   * when the message is larger than devices read. `onFlushed` is called when the message was sent or
   * has failed to be sent.
   */
  send(message: ConnectMessage, onFlushed?: () => void): boolean;
  /** Ends the session: later messages of the device with this session ID are ignored. */
  end(): void;
}

const ENDED_MAX = 100;
/** The length of a UUID. */
const SHOWN_SID_CHARACTERS = 36;

/** Passes messages between a device's socket and the sessions. */
export class DeviceSocket {
  readonly #socket: WebSocket;
  readonly #sessions = new Map<string, SessionEnd>();
  /** IDs of sessions that have ended, the newest ones. */
  readonly #ended = new Set<string>();
  /** True after the first message without effect; later ones are not reported. */
  #isRemarked = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    // With the library's default `binaryType`, each message is a single Buffer.
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary));
    // A close event follows every error and does the cleanup. Terminating the connection here
    // would lose the close frame with its reason while the device is still sending.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#loseSessions());
  }

  /** False as soon as the socket begins to close. */
  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** True while the device has fewer sessions than it can serve. */
  get hasRoom(): boolean {
    return this.#sessions.size < limits.connectSessionsPerDeviceMax;
  }

  openSession({ id, userId }: { id: string; userId: string }, end: SessionEnd): DeviceEnd {
    this.#sessions.set(id, end);
    const socket = this.#socket;
    return {
      id,
      get backlogBytes() {
        return socket.bufferedAmount;
      },
      send: (message, onFlushed) => this.send({ id, userId }, message, onFlushed),
      end: () => this.#end(id),
    };
  }

  /**
   * Sends a message under any session ID, whether or not that session is open. Returns false, and
   * sends nothing, when the message is larger than devices read; see `DeviceEnd`.
   */
  send(
    { id, userId }: { id: string; userId: string },
    message: ConnectMessage,
    onFlushed?: () => void,
  ): boolean {
    const props = { ...message.props, user_id: userId };
    const bytes = bytesForDevice({ ...message, sid: id, props });
    if (bytes) this.#socket.send(bytes, onFlushed);
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
      closeFor(this.#socket, noMessage(message, { bytes, isBinary }));
      this.#loseSessions();
      return;
    }
    const session = this.#sessions.get(message.sid ?? '');
    session?.onMessage(message, bytes);
    const problem = this.#isRemarked ? undefined : this.#problemOf(message);
    if (problem === undefined) return;
    this.#isRemarked = true;
    reportIgnoredMessage(this.#socket, problem);
  }

  #problemOf(message: ConnectMessage): string | undefined {
    const { sid = '' } = message;
    const problem = withoutEffect(message, 'device');
    // A device may still answer a session that has ended; this is not an error of the device.
    if (problem !== undefined || this.#sessions.has(sid) || this.#ended.has(sid)) return problem;
    return `no session of this WebSocket has the hdr.sid "${printable(sid, SHOWN_SID_CHARACTERS)}", so the message reaches nobody; copy hdr.sid from the message that it answers`;
  }

  #end(id: string): void {
    this.#sessions.delete(id);
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > ENDED_MAX && oldest !== undefined) this.#ended.delete(oldest);
  }

  #loseSessions(): void {
    const ends = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const end of ends) end.onClose();
  }
}

/**
 * Returns undefined when the message is too large: a real device would close its socket, and with
 * it all sessions.
 */
function bytesForDevice(message: ConnectMessage): Buffer | undefined {
  try {
    const bytes = encodeConnectMessage(message);
    return bytes.length > limits.connectDeviceMessageMaxBytes ? undefined : bytes;
  } catch (error) {
    // The fields that the server adds can push a message of maximum size over the limit.
    if (error instanceof ConnectMessageError) return undefined;
    throw error;
  }
}
