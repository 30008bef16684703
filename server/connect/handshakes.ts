/** Completes websocket handshakes, of devices and of users alike. Spec: Device connect */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { limits } from '../../fixtures/contract/limits.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { UpgradeRequest } from '../http/upgrade-request.ts';
import { dropSocket } from './closing.ts';

/** The overhead of a piece besides its bytes. */
const PIECE_BYTES = 256;

/** The subprotocol that some clients request; others request none. */
const subprotocol = 'protomsg/msgpack';

/** Turns checked requests into open sockets. */
export class Handshakes {
  readonly #requestIdHeader: string;
  readonly #underway: ByteBudget;
  /** Header lines of the answer in addition to the library's. */
  readonly #ownHeaders = new WeakMap<IncomingMessage, readonly string[]>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: limits.websocketMessageMaxBytes,
    perMessageDeflate: false,
    // One message in each round of the event loop: a piece that was read may hold thousands.
    allowSynchronousEvents: false,
  });

  constructor(requestIdHeader: string, underway: ByteBudget) {
    this.#requestIdHeader = requestIdHeader;
    this.#underway = underway;
    this.#server.on('headers', (headers, request) => {
      headers.push(...(this.#ownHeaders.get(request) ?? []));
    });
  }

  /** Answers 101 and hands over the open socket. */
  complete(handover: UpgradeRequest, opened: (s: WebSocket) => void): void {
    const { request, socket, head, requestId, headers = [] } = handover;
    this.#ownHeaders.set(request, [
      `${this.#requestIdHeader}: ${requestId}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      ...(offersSubprotocol(request) ? [`Sec-WebSocket-Protocol: ${subprotocol}`] : []),
    ]);
    // The library would refuse the clients' name: by RFC 6455 a subprotocol has no slash.
    delete request.headers['sec-websocket-protocol'];
    this.#server.handleUpgrade(request, socket, head, (accepted) => {
      boundMessages(accepted, socket, this.#underway);
      opened(accepted);
      handover.opened?.(accepted);
    });
    // A connection that had to wait for its turn does not flow on its own.
    socket.resume();
  }

  /** Answers 503 to every handshake from now on. */
  close(): void {
    this.#server.close();
  }
}

function offersSubprotocol({ headers }: IncomingMessage): boolean {
  const offered = headers['sec-websocket-protocol'] ?? '';
  return offered.split(',').some((name) => name.trim() === subprotocol);
}

/** A member of the library that its types lack. */
interface Receiving {
  readonly _receiver: {
    /** Of the piece whose messages are still taken out, and of those behind it. */
    readonly writableLength: number;
    /** Of the frame that is arriving, and of those of the same message that have. */
    readonly _bufferedBytes: number;
    readonly _messageLength: number;
    readonly _buffers: readonly unknown[];
    readonly _fragments: readonly unknown[];
  };
}

/**
 * What the library holds of a message that has not arrived whole counts as underway from now on; a
 * socket that has to make room for others is ended.
 */
function boundMessages(socket: WebSocket, connection: Socket, underway: ByteBudget): void {
  const held = underway.open(() => dropSocket(socket));
  const { _receiver: receiver } = socket as unknown as Receiving;
  const count = (): void => {
    const pieces = receiver._buffers.length + receiver._fragments.length;
    const { writableLength, _bufferedBytes, _messageLength } = receiver;
    const bytes = writableLength + _bufferedBytes + _messageLength;
    held.set(bytes + pieces * PIECE_BYTES);
  };
  // The library has read the piece before: it listens for longer. Of the messages in it, each is
  // taken out in a later round.
  connection.on('data', count);
  for (const event of ['message', 'ping', 'pong']) socket.on(event, count);
  connection.once('close', () => held.set(0));
}
