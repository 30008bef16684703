/** A connection on its way from HTTP to its websocket handler. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** Input for the completion of a websocket handshake; its headers have been checked. */
export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** Bytes already read from the connection. */
  readonly head: Buffer;
  readonly requestId: string;
  /** Further headers of the answer, names with values. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Called with the websocket once its handler has accepted it. */
  readonly opened?: (socket: WebSocket) => void;
}
