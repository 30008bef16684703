/** Upgrades to a websocket: what a request needs for one, and the handover. Spec: Device connect */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../../fixtures/contract/limits.ts';
import type { Success } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { type Refusal, refuse } from './refusal.ts';

const keyPattern = /^[A-Za-z0-9+/]{22}==$/;

/** Nothing when the request is a websocket handshake in order. RFC 6455, section 4.2.1 */
export function refuseHandshake({ headers }: IncomingMessage): Refusal | undefined {
  const connectionTokens = (headers.connection ?? '').toLowerCase().split(/\s*,\s*/);
  if (!connectionTokens.includes('upgrade')) {
    return refuse.malformed(
      "the client is not using the websocket protocol: 'upgrade' token not found in 'Connection' header",
    );
  }
  if (headers.upgrade?.toLowerCase() !== 'websocket') {
    return refuse.malformed(
      "the client is not using the websocket protocol: 'websocket' not found in 'Upgrade' header",
    );
  }
  if (headers['sec-websocket-version'] !== String(limits.websocketVersion)) {
    return refuse.malformed(`Sec-Websocket-Version must be ${limits.websocketVersion}`);
  }
  if (!keyPattern.test(headers['sec-websocket-key'] ?? '')) {
    return refuse.malformed('Sec-Websocket-Key must be 16 bytes in base64');
  }
  return undefined;
}

/** Hands the connection over to whom the endpoint has named in its answer of 101. */
export function upgrade(
  { request, response, requestId, upgrade: bare }: Exchange,
  answer: Success,
): void {
  if (!bare || !answer.upgrade) throw new Error('101 for a request that asked for no upgrade');
  // An upgrade comes over TCP; node types it as any stream, since its own users may emit others.
  const socket = bare.socket as Socket;
  response.detachSocket(socket);
  answer.upgrade({ request, socket, head: bare.head, requestId });
}
