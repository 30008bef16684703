/**
 * The measure of the benchmark: a bare node:http server that answers every request with the same
 * status and headers, given as JSON in its first argument. Writes its port when it listens.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the bare server answers. */
export interface BareAnswer {
  readonly status: number;
  /** Names and values in turn, without those that node:http adds by itself. */
  readonly headers: string[];
  readonly keepAliveTimeoutMs: number;
}

const answer = JSON.parse(process.argv[2] ?? '') as BareAnswer;
const { status, headers, keepAliveTimeoutMs: keepAliveTimeout } = answer;

const server = createServer({ keepAliveTimeout }, (_, response) => {
  response.writeHead(status, headers);
  response.end();
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
