/** The handshake of the persistent connection. Spec: Device connect */
import { limits } from '../../fixtures/contract/limits.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { refuse } from '../http/refusal.ts';

const keyPattern = /^[A-Za-z0-9+/]{22}==$/;

export const connect = defineEndpoint('connect', (_input, { request }) => {
  const { headers } = request;
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
  return { status: 101 };
});
