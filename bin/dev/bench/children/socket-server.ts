/**
 * A WebSocket server that only sends pings, in a process with an observer. The output is its URL
 * and that of the observer, as JSON.
 */
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { limits } from '../../../../fixtures/contract/limits.ts';
import { observe } from '../scale/observer.ts';

const server = new WebSocketServer({
  host: '127.0.0.1',
  port: 0,
  perMessageDeflate: false,
  maxPayload: limits.websocketMessageMaxBytes,
});
systemClock.every(limits.websocketPingSeconds * 1000, () => {
  for (const client of server.clients) client.ping();
});
server.once('listening', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ url, observerUrl: await observe() })}\n`);
});
