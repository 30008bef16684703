/**
 * A node:http server that streams one file in every response, in a process of its own. Its
 * arguments are the file and the response's headers as JSON; it prints its port.
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
// A connection that is kept while the other server has its turn; Node's own 5 s may end in that turn.
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
