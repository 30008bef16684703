/**
 * Sends requests to a server without a pause, and measures the CPU time that the server's main
 * thread spends between two responses. Replies to each message with the maximum since the previous
 * message, in milliseconds. The arguments are process ID and base URL of the server.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { loopMs } from './process-figures.ts';

const [, , pid = '', baseUrl = ''] = process.argv;
const { hostname, port, host } = new URL(baseUrl);
// The cookie makes the prober a separate caller, to which the server gives its own turns.
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
  // The response is short enough to arrive in one chunk.
  await once(socket, 'data');
  const nowMs = loopMs(Number(pid));
  worstMs = Math.max(worstMs, nowMs - lastMs);
  lastMs = nowMs;
  // The report is sent only after a response, because that response may be the late one.
  if (!isReportDue) continue;
  process.send?.(worstMs);
  isReportDue = false;
  worstMs = 0;
}
