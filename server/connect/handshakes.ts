/** Completes WebSocket handshakes of devices and users. Spec: Device connect */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { limits } from '../../fixtures/contract/limits.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { UpgradeRequest } from '../http/upgrade-request.ts';
import { dropSocket } from './closing.ts';
import { refuseBadFrames } from './violations.ts';

/** Estimated memory overhead of one received chunk, in bytes. */
const CHUNK_BYTES = 256;

/** The subprotocol that some clients request; others request none. */
const subprotocol = 'protomsg/msgpack';

/** Turns checked requests into open sockets. */
export class Handshakes {
  readonly #requestIdHeader: string;
  readonly #incompleteTransfers: ByteBudget;
  /** Header lines to add to the library's 101 response, by request. */
  readonly #ownHeaders = new WeakMap<IncomingMessage, readonly string[]>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: limits.websocketMessageMaxBytes,
    perMessageDeflate: false,
    // The library emits one message an iteration of the event loop: one chunk read from the socket
    // may contain thousands.
    allowSynchronousEvents: false,
  });

  constructor(requestIdHeader: string, incompleteTransfers: ByteBudget) {
    this.#requestIdHeader = requestIdHeader;
    this.#incompleteTransfers = incompleteTransfers;
    this.#server.on('headers', (headers, request) => {
      headers.push(...(this.#ownHeaders.get(request) ?? []));
    });
  }

  /** Answers 101 and passes the open socket to `opened` and to the handover's own callback. */
  complete(handover: UpgradeRequest, opened: (socket: WebSocket) => void): void {
    const { request, socket, head, requestId, headers = [] } = handover;
    this.#ownHeaders.set(request, [
      `${this.#requestIdHeader}: ${requestId}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      ...(offersSubprotocol(request) ? [`Sec-WebSocket-Protocol: ${subprotocol}`] : []),
    ]);
    // The library would refuse the subprotocol that clients request: RFC 6455 allows no slash in a
    // name.
    delete request.headers['sec-websocket-protocol'];
    this.#server.handleUpgrade(request, socket, head, (accepted) => {
      boundMessages(accepted, socket, this.#incompleteTransfers);
      refuseBadFrames(accepted);
      opened(accepted);
      handover.opened?.(accepted);
    });
    // A connection that waited for its turn is paused.
    socket.resume();
  }

  /** Answers 503 to every handshake from now on. */
  close(): void {
    this.#server.close();
  }
}

function offersSubprotocol({ headers }: IncomingMessage): boolean {
  const subprotocols = headers['sec-websocket-protocol'] ?? '';
  return subprotocols.split(',').some((name) => name.trim() === subprotocol);
}

/** A private member of the library's WebSocket that its types lack. */
interface SocketReceiver {
  readonly _receiver: {
    /** Bytes of received chunks that are not yet parsed into messages. */
    readonly writableLength: number;
    /**
     * Bytes received of the current frame; `_messageLength` counts the earlier frames of the same
     * message.
     */
    readonly _bufferedBytes: number;
    readonly _messageLength: number;
    readonly _buffers: readonly unknown[];
    readonly _fragments: readonly unknown[];
  };
}

/**
 * Counts the memory that the library holds for an incomplete message as an incomplete transfer. When the
 * budget is exhausted and this socket is the oldest in it, the socket is dropped.
 */
function boundMessages(
  socket: WebSocket,
  connection: Socket,
  incompleteTransfers: ByteBudget,
): void {
  const transfer = incompleteTransfers.open(() => dropSocket(socket));
  const { _receiver: receiver } = socket as unknown as SocketReceiver;
  const count = (): void => {
    const chunks = receiver._buffers.length + receiver._fragments.length;
    const { writableLength, _bufferedBytes, _messageLength } = receiver;
    const bytes = writableLength + _bufferedBytes + _messageLength;
    transfer.set(bytes + chunks * CHUNK_BYTES);
  };
  // The library's own listener was added first, so it has already read this chunk. It takes the
  // messages out of the chunk in later iterations of the event loop.
  connection.on('data', count);
  for (const event of ['message', 'ping', 'pong']) socket.on(event, count);
  connection.once('close', () => transfer.set(0));
}
