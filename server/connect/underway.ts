/** Counts what the websocket library holds of incomplete messages as in progress. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ByteBudget } from '../http/byte-budget.ts';
import { makeWay } from './closing.ts';

/** Overhead of a piece besides its bytes. */
const PIECE_BYTES = 256;

/** A field of the library that its types do not declare. */
interface Receiving {
  readonly _receiver: {
    /** Bytes of the arriving frame, and of earlier frames of the same message. */
    readonly _bufferedBytes: number;
    readonly _messageLength: number;
    readonly _buffers: readonly unknown[];
    readonly _fragments: readonly unknown[];
  };
}

/** Counts from now on; ends a socket that has to make room for others. */
export function boundMessages(socket: WebSocket, connection: Socket, underway: ByteBudget): void {
  const held = underway.open(() => makeWay(socket));
  const { _receiver: receiver } = socket as unknown as Receiving;
  // The library has already read the piece: its listener was added earlier.
  connection.on('data', () => {
    const pieces = receiver._buffers.length + receiver._fragments.length;
    const bytes = receiver._bufferedBytes + receiver._messageLength;
    held.set(bytes + pieces * PIECE_BYTES);
  });
  connection.once('close', () => held.set(0));
}
