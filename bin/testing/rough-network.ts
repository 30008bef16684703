/**
 * A proxy that behaves like rough networks and gateways: it delays, resets and compresses
 * exchanges.
 */
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as open,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createGzip } from 'node:zlib';
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';

export interface RoughNetworkOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Delay that the network adds between a request and its response, in ms. */
  readonly latencyMs: number;
  /**
   * Share of requests whose connection is reset; half of these are reset after the server has
   * handled the request.
   */
  readonly resets: number;
  /** Compresses JSON and CSV, even if the client did not request it. */
  readonly isCompressing: boolean;
}

export interface RoughNetwork {
  readonly baseUrl: string;
  close(): void;
}

/** Listens on a free port of the loopback interface, in front of a server on the same interface. */
export async function openRoughNetwork(
  targetUrl: string,
  options: RoughNetworkOptions,
): Promise<RoughNetwork> {
  const port = Number(new URL(targetUrl).port);
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  const server = createServer({ requireHostHeader: false, maxHeaderSize: 1_048_576 });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('request', (request, response) => {
    passRequest(request, response, { port, agent, ...options }).catch(() =>
      request.socket.destroy(),
    );
  });
  server.on('upgrade', (request, socket: Socket, head) => {
    const { method, url, rawHeaders } = request;
    const lines = pairsOf(rawHeaders).map(([name, value]) => `${name}: ${value}`);
    const inside = connect(port, '127.0.0.1');
    sockets.add(inside);
    for (const each of [socket, inside]) each.on('error', () => each.destroy());
    inside.write(`${[`${method} ${url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`);
    inside.write(head);
    socket.pipe(inside).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      agent.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

type RelayedConnection = RoughNetworkOptions & { readonly port: number; readonly agent: Agent };

async function passRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { clock, random, latencyMs, resets, isCompressing, port, agent }: RelayedConnection,
): Promise<void> {
  const isReset = random.fraction() < resets;
  const isLate = random.fraction() < 0.5;
  await clock.sleep(latencyMs / 2);
  if (isReset && !isLate) {
    request.socket.resetAndDestroy();
    return;
  }
  const { method, url: path } = request;
  const headers = pairsOf(request.rawHeaders).flatMap(([name, value]) => [
    name.toUpperCase(),
    value,
  ]);
  const outgoing = open({ port, host: '127.0.0.1', method, path, headers, agent, setHost: false });
  const serverResponse = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject);
  });
  request.pipe(outgoing);
  const incoming = await serverResponse;
  await clock.sleep(latencyMs / 2);
  if (isReset) {
    incoming.destroy();
    request.socket.resetAndDestroy();
    return;
  }
  relayResponse(incoming, response, isCompressing);
}

/** Sends the response on, with header names in capital letters as some gateways write them. */
function relayResponse(
  incoming: IncomingMessage,
  response: ServerResponse,
  isCompressing: boolean,
): void {
  const { statusCode = 502, statusMessage, rawHeaders } = incoming;
  const pairs = pairsOf(rawHeaders)
    .map(([name, value]) => [name.toUpperCase(), value] as const)
    // Framing belongs to each connection, and HTTP/1.0 has no chunks.
    .filter(([name]) => name !== 'TRANSFER-ENCODING');
  const isText = pairs.some(([name, value]) => name === 'CONTENT-TYPE' && /json|csv/.test(value));
  if (!isCompressing || !isText || statusCode === 204) {
    response.writeHead(statusCode, statusMessage, pairs.flat());
    incoming.pipe(response);
    return;
  }
  const otherPairs = pairs.filter(([name]) => name !== 'CONTENT-LENGTH');
  response.writeHead(statusCode, statusMessage, [...otherPairs.flat(), 'CONTENT-ENCODING', 'gzip']);
  incoming.pipe(createGzip()).pipe(response);
}

function pairsOf(rawHeaders: readonly string[]): readonly (readonly [string, string])[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
}
