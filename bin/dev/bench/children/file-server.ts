/**
 * A separate process with a `node:http` server that streams one file in every response. The
 * arguments are the file and the response headers as JSON; the output is the port.
 */
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

const [file = '', headers = '[]'] = process.argv.slice(2);
const raw = JSON.parse(headers) as string[];
const server = createServer((_, response) => {
  response.writeHead(200, raw);
  pipeline(createReadStream(file), response).catch(() => response.destroy());
});
// The idle connection must survive while the other server is measured, which can take longer than
// Node's default of 5 s.
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
