/** A connection in transition from HTTP to its WebSocket handler. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** The request and connection of a WebSocket handshake whose headers have been checked. */
export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** Bytes already read from the connection. */
  readonly head: Buffer;
  readonly requestId: string;
  /** Additional headers of the 101 response, as names and values. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Called with the WebSocket once its handler has accepted it. */
  readonly opened?: (socket: WebSocket) => void;
}
