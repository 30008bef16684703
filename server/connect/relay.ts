/**
 * Relays a user's WebSocket to a device: every message of either side is sent to the other side,
 * under one session ID. The server forwards messages unchanged; it tracks only what has to be ended
 * on the device when the user disconnects.
 */
import type { WebSocket } from 'ws';
import { limits } from '../../fixtures/contract/limits.ts';
import { decodeBody, encodeBody, portForwardShape } from '../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  connectProtocols,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import type { ByteBudget, Holding } from '../http/byte-budget.ts';
import { closeCodes, closeWith, dropSocket } from './closing.ts';
import type { RecordAction } from './connect-actions.ts';
import type { DeviceEnd, DeviceSocket, SessionEnd } from './device-socket.ts';
import { messageIn, noMessage } from './received-message.ts';
import { closeFor } from './violations.ts';

const { shell, portForward, control } = connectProtocols;
/** The `status` property of a shell message that reports an error. */
const SHELL_ERROR = 2;

interface RelayOptions {
  readonly socket: WebSocket;
  readonly deviceSocket: DeviceSocket;
  readonly sessionId: string;
  readonly userId: string;
  readonly record: RecordAction;
  readonly incompleteTransfers: ByteBudget;
}

/** Relays until either side disconnects. */
export class Relay implements SessionEnd {
  readonly #socket: WebSocket;
  readonly #session: DeviceEnd;
  readonly #record: RecordAction;
  /** Bytes that the device sent and the user has not read. */
  readonly #unread: Holding;
  readonly #isRunning = { terminal: false, portForward: false, session: false };
  /**
   * State of the user's shell slot on the device: `requested` after the user's request, `taken`
   * from the device's confirmation until the shell stops.
   */
  #slot: 'none' | 'requested' | 'taken' = 'none';

  constructor({
    socket,
    deviceSocket,
    sessionId,
    userId,
    record,
    incompleteTransfers,
  }: RelayOptions) {
    this.#socket = socket;
    this.#unread = incompleteTransfers.open(() => dropSocket(socket));
    this.#record = record;
    this.#session = deviceSocket.openSession({ id: sessionId, userId }, this);
    // With the library's default `binaryType`, each message is a single Buffer.
    socket.on('message', (data, isBinary) => this.#forward(data as Buffer, isBinary));
    // A close event follows every error and does the cleanup.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#leave());
  }

  onMessage(message: ConnectMessage, bytes: Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#watchDevice(message);
    this.#send(bytes);
  }

  onClose(): void {
    closeWith(this.#socket, closeCodes.goingAway, 'device disconnected');
  }

  #send(bytes: Buffer): void {
    this.#socket.send(bytes, () => this.#countUnread());
    this.#countUnread();
    // The server does not wait for a slow user, because that would block the device's other users.
    if (this.#socket.bufferedAmount <= limits.userBacklogMaxBytes) return;
    closeWith(
      this.#socket,
      closeCodes.policyViolation,
      `more than ${limits.userBacklogMaxBytes} bytes are unread`,
    );
  }

  #countUnread(): void {
    const isClosed = this.#socket.readyState === this.#socket.CLOSED;
    this.#unread.set(isClosed ? 0 : this.#socket.bufferedAmount);
  }

  #forward(bytes: Buffer, isBinary: boolean): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const message = messageIn(bytes);
    if (message instanceof ConnectMessageError) {
      closeFor(this.#socket, noMessage(message, { bytes, isBinary }));
      return;
    }
    if (!this.#session.send(message, () => this.#socket.resume())) {
      this.#refuse(message);
      return;
    }
    this.#watchUser(message);
    if (this.#session.backlogBytes > limits.deviceBacklogMaxBytes) this.#socket.pause();
  }

  /**
   * Sends an error message to the user and keeps the connection: a large paste must not end the
   * terminal it was pasted into, and without a response the user would not learn the reason.
   */
  #refuse({ proto, typ }: ConnectMessage): void {
    const max = limits.connectDeviceMessageMaxBytes;
    const body = encodeBody({
      err: `the message was not forwarded: devices read at most ${max} bytes, headers included`,
      close: false,
      msgproto: proto,
      ...(typ !== undefined && { msgtype: typ }),
    });
    const error = { proto: control, typ: 'error', sid: this.#session.id, body };
    this.#send(encodeConnectMessage(error));
  }

  #watchUser({ proto, typ, body }: ConnectMessage): void {
    if (proto === control && (typ === 'open' || typ === 'close')) {
      this.#isRunning.session = typ === 'open';
    } else if (proto === shell && (typ === 'new' || typ === 'stop')) {
      this.#setTerminal(typ === 'new');
      if (typ === 'stop') this.#slot = 'none';
      else if (this.#slot === 'none') this.#slot = 'requested';
    } else if (proto === portForward && typ === 'new' && !this.#isRunning.portForward) {
      this.#isRunning.portForward = true;
      this.#record('open_portforward', targetOf(body));
    }
  }

  #watchDevice({ proto, typ, props }: ConnectMessage): void {
    if (proto !== shell || (typ !== 'new' && typ !== 'stop')) return;
    const hasFailed = props?.status === SHELL_ERROR;
    if (typ === 'new') {
      // The device refused a second shell; the first one is still running.
      if (hasFailed && this.#slot === 'taken') return;
      this.#slot = hasFailed ? 'none' : 'taken';
      if (hasFailed) this.#setTerminal(false);
      return;
    }
    // Field clients report a shell that exits by itself as an error, and keep its slot occupied.
    if (!hasFailed) this.#slot = 'none';
    this.#setTerminal(false);
  }

  #setTerminal(isRunning: boolean): void {
    if (this.#isRunning.terminal === isRunning) return;
    this.#isRunning.terminal = isRunning;
    this.#record(isRunning ? 'open_terminal' : 'close_terminal');
  }

  /** Ends what the user has left running on the device. */
  #leave(): void {
    this.#countUnread();
    const { portForward: isForwarding, session } = this.#isRunning;
    if (this.#slot !== 'none') {
      const props = { status: SHELL_ERROR };
      this.#session.send({
        proto: shell,
        typ: 'stop',
        props,
        body: Buffer.from('user disconnected'),
      });
    }
    if (session) this.#session.send({ proto: control, typ: 'close' });
    this.#setTerminal(false);
    if (isForwarding) this.#record('close_portforward');
    this.#session.end();
  }
}

/**
 * Returns the target of a port forward for the audit log; undefined when the body cannot be
 * decoded. The message is forwarded in either case, and the device judges it.
 */
function targetOf(body: Uint8Array | undefined): string | undefined {
  try {
    const { protocol, remote_host: host, remote_port: port } = decodeBody(portForwardShape, body);
    return `${protocol} ${host}:${port}`;
  } catch (error) {
    if (error instanceof ConnectMessageError) return undefined;
    throw error;
  }
}
