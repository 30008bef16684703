/** The interface by which tests and the journal observe the WebSockets of devices and users. */
import type { WebSocket } from 'ws';
import type { Tenant } from '../tenants/tenants.ts';

/** Whose socket it is, and which handshake opened it. */
export interface SocketOrigin {
  readonly socket: 'device' | 'user';
  readonly requestId: string;
  readonly deviceId: string;
  /** The user's ID; absent for a device's socket. */
  readonly userId?: string;
}

/** Called for each opened WebSocket. An observer must not throw, and must not change the socket. */
export interface SocketObserver {
  /** Called before the first message is sent or received. */
  onSocket?(socket: WebSocket, origin: SocketOrigin, tenant: Tenant): void;
}
