/**
 * Upgrades to a WebSocket: checks the request, and hands over the connection.
 * Spec: Device connect
 */
import type { IncomingMessage } from 'node:http';
import { limits } from '../../fixtures/contract/limits.ts';
import type { RefusalDetail } from '../rules/refusal-detail.ts';
import { describeValue } from './problem-detail.ts';
import { type Refusal, refuse } from './refusal.ts';

const keyPattern = /^[A-Za-z0-9+/]{22}==$/;

/**
 * Returns undefined for a valid WebSocket handshake, otherwise a refusal. RFC 6455, section 4.2.1
 */
export function refuseHandshake({ headers }: IncomingMessage): Refusal | undefined {
  const connectionTokens = (headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((token) => token.trim());
  if (!connectionTokens.includes('upgrade')) {
    return refuse.malformed(
      "the client is not using the websocket protocol: 'upgrade' token not found in 'Connection' header",
      handshakeDetail('Connection', 'Upgrade', headers.connection),
    );
  }
  if (headers.upgrade?.toLowerCase() !== 'websocket') {
    return refuse.malformed(
      "the client is not using the websocket protocol: 'websocket' not found in 'Upgrade' header",
      handshakeDetail('Upgrade', 'websocket', headers.upgrade),
    );
  }
  if (headers['sec-websocket-version'] !== String(limits.websocketVersion)) {
    const version = String(limits.websocketVersion);
    const sentVersion = headers['sec-websocket-version'];
    const detail = handshakeDetail('Sec-WebSocket-Version', version, sentVersion);
    return refuse.malformed(`Sec-Websocket-Version must be ${version}`, detail);
  }
  if (!keyPattern.test(headers['sec-websocket-key'] ?? '')) {
    const sentKey = headers['sec-websocket-key'];
    const detail = handshakeDetail('Sec-WebSocket-Key', '16 bytes in base64', sentKey);
    return refuse.malformed('Sec-Websocket-Key must be 16 bytes in base64', detail);
  }
  return undefined;
}

function handshakeDetail(name: string, expected: string, value: string | undefined): RefusalDetail {
  return {
    path: `header.${name}`,
    expected,
    actual: value === undefined ? 'nothing' : describeValue(value),
    rule: 'A WebSocket begins with the handshake of RFC 6455, section 4.2.1.',
  };
}
