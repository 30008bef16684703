/** The API as another listener of this server reaches it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Answers as the API does; target and headers are those that the API is to see. */
export interface InternalApi {
  pass(request: IncomingMessage, response: ServerResponse): void;
  /** Returns true for the handshake of an existing websocket. */
  opensSocket(request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean;
  /** Takes a request for a websocket, with what has been read of the connection. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}
