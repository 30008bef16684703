/** Hands an upgraded connection over to the websocket library. Spec: Device connect */
import type { Socket } from 'node:net';
import type { Services } from '../services.ts';
import type { Caller } from './callers.ts';
import type { Exchange } from './exchange.ts';

/** Completes the handshake of an exchange whose endpoint answered 101. */
export function upgrade(services: Services, exchange: Exchange, { device }: Caller): void {
  const { request, response, requestId } = exchange;
  if (!exchange.upgrade || !device) throw new Error('101 for a request that asked for no upgrade');
  const { socket, head } = exchange.upgrade;
  response.detachSocket(socket as Socket);
  services.sockets.accept({ request, socket, head, requestId, deviceId: device.id });
}
