/** A node:https server that also ends connections which are still in their TLS handshake. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';

/** Node knows of a connection only once its handshake is over; until then one would hold up the end. */
export class SecureServer<
  Request extends typeof IncomingMessage,
  Response extends typeof ServerResponse<InstanceType<Request>>,
> extends Server<Request, Response> {
  readonly #shaking = new Map<string, Socket>();

  constructor(options: ServerOptions<Request, Response>) {
    super(options);
    this.on('connection', (socket: Socket) => {
      const end = endOf(socket);
      this.#shaking.set(end, socket);
      socket.once('close', () => {
        if (this.#shaking.get(end) === socket) this.#shaking.delete(end);
      });
    });
    this.on('secureConnection', (socket) => this.#shaking.delete(endOf(socket)));
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const socket of this.#shaking.values()) socket.destroy();
  }
}

/** The caller's end of a connection, by which its encrypted and its bare socket are one. */
function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
