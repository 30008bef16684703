/**
 * A process that sends requests to a server without a pause, and measures the CPU time that the
 * thread of the server's event loop spends between two responses. At each message it reports the
 * maximum since the last message, in milliseconds. Arguments: process ID and base URL of the server.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { loopMs } from './process-figures.ts';

const [, , pid = '', baseUrl = ''] = process.argv;
const { hostname, port, host } = new URL(baseUrl);
// A cookie makes it a separate caller, which gets its own turns.
const request = `GET /probe HTTP/1.1\r\nHost: ${host}\r\nCookie: prober\r\n\r\n`;

let worstMs = 0;
let isReportDue = false;
process.on('message', () => {
  isReportDue = true;
});

const socket = connect({ host: hostname, port: Number(port) });
await once(socket, 'connect');
socket.on('close', () => process.exit());
for (let lastMs = loopMs(Number(pid)); ; ) {
  socket.write(request);
  // The answer is short: it comes in one piece.
  await once(socket, 'data');
  const nowMs = loopMs(Number(pid));
  worstMs = Math.max(worstMs, nowMs - lastMs);
  lastMs = nowMs;
  // Only now: the answer that was waited for may have been the one that was late.
  if (!isReportDue) continue;
  process.send?.(worstMs);
  isReportDue = false;
  worstMs = 0;
}
