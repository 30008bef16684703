/** The interface of observers that are called with each opened websocket. */
import type { WebSocket } from 'ws';
import type { Tenant } from '../tenants/tenants.ts';

/** The owner of a socket, and the handshake that opened it. */
export interface SocketOrigin {
  readonly socket: 'device' | 'user';
  readonly requestId: string;
  readonly deviceId: string;
  /** Id of the user, for a user's socket. */
  readonly userId?: string;
}

/** Must not throw, and must not change the socket for others. */
export interface SocketObserver {
  /** Called before anything was sent or received over it. */
  onSocket?(socket: WebSocket, origin: SocketOrigin, tenant: Tenant): void;
}
