/** Serves the metrics of a run to Prometheus until the run ends. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Exposition } from '../../../simulator/report/prometheus.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import type { ListenAddress } from './listen-address.ts';

const PATH = '/metrics';
/** Limit on connections. A scraper needs only one. */
const CONNECTIONS_MAX = 16;
const REQUEST_MAX_MS = 5000;

/** An open listener for scrapes. Call `close` at the end of the run. */
export interface MetricsListener {
  /** The URL to scrape, such as `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  close(): Promise<void>;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is already listening there',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'this user is not permitted to listen there',
  ENOTFOUND: 'no host has that name',
};

/**
 * Opens the listener before the run starts.
 * @throws CommandError when the address cannot be used
 */
export async function listenForScrapes(
  { address, port }: ListenAddress,
  expose: () => Promise<Exposition>,
): Promise<MetricsListener> {
  const server = createServer((request, response) => void respond(request, response, expose));
  server.maxConnections = CONNECTIONS_MAX;
  server.requestTimeout = REQUEST_MAX_MS;
  server.headersTimeout = REQUEST_MAX_MS;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, address, resolve);
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const sentence = `--metrics cannot listen at ${address}:${port}: ${reasons[code] ?? code}`;
    throw new CommandError(`${sentence}; use another ADDRESS:PORT.`, exitCodes.setUp, error);
  }
  const bound = server.address() as AddressInfo;
  const host = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return {
    url: `http://${host}:${bound.port}${PATH}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  expose: () => Promise<Exposition>,
): Promise<void> {
  const [path] = (request.url ?? '').split('?');
  if (path !== PATH) return refuseRequest(response, 404, `only ${PATH} is served here`);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return refuseRequest(response, 405, 'use GET to read the metrics');
  }
  const { contentType, text } = await expose();
  response.writeHead(200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(text);
}

function refuseRequest(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${sentence}\n`);
}
