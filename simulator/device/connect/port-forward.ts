/**
 * The port forwarding protocol of one session: connections to the device's own ports. Each
 * direction of a connection has at most one unacknowledged message.
 * Spec: Device connect
 */
import { decodeBody, portForwardShape } from '../../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import type { DeviceDescription, OutgoingMessage, ProtocolHandler } from './connect-environment.ts';
import { openPort, type PortConnection } from './port-services.ts';
import { messageChunks, protocolError, textProp } from './replies.ts';

/** Limits on the port forwarding of one session. */
const portForwardLimits = {
  connectionsMax: 32,
  /** Maximum bytes queued for a user who does not acknowledge messages. */
  waitingMaxBytes: 2 ** 18,
} as const;

interface Forward {
  readonly connection: PortConnection;
  /** Pieces that wait until the previous piece is acknowledged. */
  readonly queuedChunks: Buffer[];
  isInFlight: boolean;
}

/** Port forwarding in one session. */
export class PortForward implements ProtocolHandler {
  readonly #facts: DeviceDescription;
  readonly #forwards = new Map<string, Forward>();
  readonly #kinds = new Map<
    string | undefined,
    (message: ConnectMessage) => readonly OutgoingMessage[]
  >([
    ['new', (message) => this.#open(message)],
    ['forward', (message) => this.#forward(message)],
    ['ack', (message) => this.#acknowledge(message)],
    ['stop', (message) => this.#stop(message)],
    // The user's side reports an error, which needs no reply.
    ['error', () => []],
  ]);

  constructor(facts: DeviceDescription) {
    this.#facts = facts;
  }

  respond(message: ConnectMessage): readonly OutgoingMessage[] {
    const kind = this.#kinds.get(message.typ);
    return kind === undefined ? [failure(message, 'unknown message type')] : kind(message);
  }

  end(): readonly OutgoingMessage[] {
    const ids = [...this.#forwards.keys()];
    this.#forwards.clear();
    return ids.map((id) => replyMessage('stop', id));
  }

  #open(message: ConnectMessage): readonly OutgoingMessage[] {
    const id = idOf(message);
    const connection = this.#connect(message, id);
    if (typeof connection === 'string') return [failure(message, connection)];
    this.#forwards.set(id, { connection, queuedChunks: [], isInFlight: false });
    return [replyMessage('new', id)];
  }

  /** Returns the connection, or the reason for refusing it. */
  #connect(message: ConnectMessage, id: string): PortConnection | string {
    if (id === '') return 'invalid port-forward message: connection_id is missing';
    if (this.#forwards.has(id)) return `connection '${id}' is already open`;
    if (this.#forwards.size >= portForwardLimits.connectionsMax) return 'too many connections';
    try {
      const target = decodeBody(portForwardShape, message.body);
      const { remote_host: host, remote_port: port, protocol } = target;
      const location = `dial ${protocol} ${host}:${port}`;
      const hosts = ['localhost', '127.0.0.1', '::1', this.#facts.hostname];
      if (!hosts.includes(host)) return `${location}: no route to host`;
      return openPort(protocol, port, this.#facts) ?? `${location}: connection refused`;
    } catch (error) {
      if (!(error instanceof ConnectMessageError)) throw error;
      return `invalid port-forward message: ${error.message}`;
    }
  }

  #forward(message: ConnectMessage): readonly OutgoingMessage[] {
    return this.#with(message, (forward, id) => {
      const response = forward.connection.receive(message.body ?? new Uint8Array());
      forward.queuedChunks.push(...messageChunks(response));
      const waitingBytes = forward.queuedChunks.reduce((total, { length }) => total + length, 0);
      if (waitingBytes <= portForwardLimits.waitingMaxBytes) {
        return [replyMessage('ack', id), ...this.#resume(forward, id)];
      }
      this.#forwards.delete(id);
      return [failure(message, 'too much data waits for an ack'), replyMessage('stop', id)];
    });
  }

  #acknowledge(message: ConnectMessage): readonly OutgoingMessage[] {
    return this.#with(message, (forward, id) => {
      forward.isInFlight = false;
      return this.#resume(forward, id);
    });
  }

  #resume(forward: Forward, id: string): readonly OutgoingMessage[] {
    if (forward.isInFlight) return [];
    const body = forward.queuedChunks.shift();
    if (body !== undefined) {
      forward.isInFlight = true;
      return [{ ...replyMessage('forward', id), body }];
    }
    if (!forward.connection.hasEnded) return [];
    this.#forwards.delete(id);
    return [replyMessage('stop', id)];
  }

  #stop(message: ConnectMessage): readonly OutgoingMessage[] {
    return this.#with(message, (_forward, id) => {
      this.#forwards.delete(id);
      return [replyMessage('stop', id)];
    });
  }

  #with(
    message: ConnectMessage,
    callback: (forward: Forward, id: string) => readonly OutgoingMessage[],
  ): readonly OutgoingMessage[] {
    const id = idOf(message);
    const forward = this.#forwards.get(id);
    return forward === undefined ? [failure(message, 'unknown connection')] : callback(forward, id);
  }
}

function idOf(message: ConnectMessage): string {
  return textProp(message, 'connection_id') ?? '';
}

function replyMessage(typ: string, id: string): OutgoingMessage {
  return { proto: connectProtocols.portForward, typ, props: { connection_id: id } };
}

/** Builds an error message, with the connection ID when the request has one. */
function failure(message: ConnectMessage, reason: string): OutgoingMessage {
  const id = idOf(message);
  const props = id === '' ? {} : { props: { connection_id: id } };
  return { ...protocolError(message, reason), ...props };
}
