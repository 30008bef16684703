/** The API as another listener of this server calls it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Answers requests as the API does; `request` has the target and headers that the API shall see.
 */
export interface InternalApi {
  pass(request: IncomingMessage, response: ServerResponse): void;
  /** Returns true for a handshake of a WebSocket that the API offers. */
  opensSocket(request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean;
  /** Answers a WebSocket request; `head` is what was already read from the connection. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}
