/**
 * The baseline of the benchmark: a bare node:http server that answers every request with the same
 * status and headers, given as JSON in its first argument. Prints its port once it listens.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The fixed response of the bare server. */
export interface BareAnswer {
  readonly status: number;
  /** Alternating names and values, without those that node:http adds on its own. */
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
