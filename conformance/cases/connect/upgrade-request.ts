/** Requests an upgrade with chosen headers. Spec: Device connect */
import type { Duplex } from 'node:stream';
import { StartStateNotReached } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import type { Headers } from '../../target/exchange.ts';
import type { UpgradeResponse } from '../../target/response.ts';

/** Any 16 bytes in Base64 are a valid key. */
export const key = Buffer.from('sixteen bytes ok').toString('base64');

/** The headers of a WebSocket client. RFC 6455, section 4.1 */
export const upgradeHeaders: Headers = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': key,
  'sec-websocket-version': '13',
};

/** Requests an upgrade with exactly these headers; closes the socket, if any, afterwards. */
export async function requestUpgrade(
  context: TestContext,
  headers: Headers,
): Promise<UpgradeResponse> {
  const request = context.caller().request('connect', { headers });
  const response = await context.client.upgrade(request);
  context.created.removeAtEnd('socket', async () => {
    response.socket?.destroy();
  });
  return response;
}

/** Returns the open connection of a 101 response. Throws StartStateNotReached if there is none. */
export function openedSocket({ socket }: UpgradeResponse): Duplex {
  if (socket) return socket;
  throw new StartStateNotReached(
    'an open connection',
    'was answered with 101 without the header Upgrade',
  );
}
