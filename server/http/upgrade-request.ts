/** A connection on its way from the HTTP side to whoever will hold the websocket. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** What a websocket handshake is completed with; its headers have been checked. */
export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that were read from the connection already. */
  readonly head: Buffer;
  readonly requestId: string;
  /** Further headers of the answer, names with values. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Told of the websocket once whoever holds it has taken it. */
  readonly opened?: (socket: WebSocket) => void;
}
