/** What the websocket library holds of a message that has not arrived whole counts as underway. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ByteBudget } from '../http/byte-budget.ts';
import { makeWay } from './closing.ts';

/** What a piece takes beside its bytes. */
const PIECE_BYTES = 256;

/** The library has it; its types do not tell. */
interface Receiving {
  readonly _receiver: {
    /** Of the frame that is arriving, and of those of the same message that have. */
    readonly _bufferedBytes: number;
    readonly _messageLength: number;
    readonly _buffers: readonly unknown[];
    readonly _fragments: readonly unknown[];
  };
}

/** Counts from now on; a socket that has to make room for others is ended. */
export function boundMessages(socket: WebSocket, connection: Socket, underway: ByteBudget): void {
  const held = underway.open(() => makeWay(socket));
  const { _receiver: receiver } = socket as unknown as Receiving;
  // The library has read the piece before: it listens for longer.
  connection.on('data', () => {
    const pieces = receiver._buffers.length + receiver._fragments.length;
    const bytes = receiver._bufferedBytes + receiver._messageLength;
    held.set(bytes + pieces * PIECE_BYTES);
  });
  connection.once('close', () => held.set(0));
}
