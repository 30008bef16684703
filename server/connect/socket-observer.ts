/** Who is told of the websockets that are opened. */
import type { WebSocket } from 'ws';
import type { Tenant } from '../tenants/tenants.ts';

/** A socket: whose it is, and the handshake that it began with. */
export interface SocketOrigin {
  readonly socket: 'device' | 'user';
  readonly requestId: string;
  readonly deviceId: string;
  /** Of a user's socket. */
  readonly userId?: string;
}

/** Must not throw, and must leave the socket as it is for everybody else. */
export interface SocketObserver {
  /** Before anything was sent or received over it. */
  onSocket?(socket: WebSocket, origin: SocketOrigin, tenant: Tenant): void;
}
