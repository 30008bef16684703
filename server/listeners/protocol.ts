/**
 * The protocol listener: a node:http or node:https server that creates requests as Express's own,
 * so that Express does not need to convert them.
 */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { Random } from '../../fixtures/random.ts';
import { type Exchange, openExchange, originForm } from '../http/exchange.ts';
import type { Log } from '../pipeline/log.ts';
import type { UnreadableRequest } from '../pipeline/plug-ins.ts';
import { type CarriesExchange, type Routes, tooManyConnections } from '../pipeline/routes.ts';
import {
  type ConnectionLimits,
  completeConnectionLimits,
  connectionOptions,
  enforceConnectionLimits,
} from './connection-limits.ts';
import type { Connections } from './connections.ts';
import { inOrder } from './pipelining.ts';
import type { TlsIdentity } from './tls/identity.ts';
import { answerUnreadable, bareAnswer, isTlsFault } from './unreadable.ts';
import { onUpgrade, restoreHeaders } from './upgrades.ts';

interface ListenerOptions {
  readonly routes: Routes;
  readonly names: VendorNames;
  readonly random: Random;
  /** Creates ids for requests without one; UUIDs by default. */
  readonly newRequestId?: () => string;
  readonly log: Pick<Log, 'info'>;
  /** Tracks connections, and decides which are too many. */
  readonly connections: Connections;
  /** Called for requests that cannot be parsed. */
  readonly onUnreadable?: (request: UnreadableRequest) => void;
  /** Encrypted when given. */
  readonly tls?: TlsIdentity | undefined;
  /** Time after which an unfinished TLS handshake is cut. */
  readonly handshakeMaxMs?: number;
  /** Limits for slow clients that differ from the defaults. */
  readonly connectionLimits?: Partial<ConnectionLimits> | undefined;
}

/** Node's default is two minutes. */
const HANDSHAKE_MAX_MS = 10_000;

/** Creates the server; it does not listen yet. */
export function createListener(options: ListenerOptions): Server {
  const { names, random, log, connections, newRequestId = () => random.uuid() } = options;
  const classes = classesOf(options.routes.app);
  const open = (request: IncomingMessage, response: ServerResponse): Exchange =>
    openExchange(request, response, { names, newRequestId });
  const route = routed(options.routes);
  const dispatch = (exchange: Exchange): void => {
    if (connections.refuses(exchange.request.socket)) options.routes.refuseSurplus(exchange);
    else route(exchange);
  };
  const connectionLimits = completeConnectionLimits(options.connectionLimits);
  const server = openServer(classes, { ...options, connectionLimits });
  enforceConnectionLimits(server, connectionLimits);
  const refusalWith = (error: string) => {
    const id = random.uuid();
    return { id, body: { error, request_id: id }, headers: { [names.requestId]: id } };
  };
  connections.watch(server, () => {
    // Encryption has not been negotiated yet.
    if (options.tls) return '';
    const { status, error, headers } = tooManyConnections;
    const { body, headers: own } = refusalWith(error);
    return bareAnswer(`${status} Service Unavailable`, body, { ...own, ...headers });
  });
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    restoreHeaders(request);
    inOrder(request, response, () => dispatch(open(request, response)));
  };
  const takeBare = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const response = responseOn(request, socket as Socket, classes.ServerResponse);
    dispatch({ ...open(request, response), upgrade: { socket, head } });
  };
  server.on('request', take);
  // Node would answer these two on its own: an empty 417, and nothing at all.
  server.on('checkExpectation', take);
  onUpgrade(server, {
    isTaken: (request) => opensSocket(options.routes, request),
    take: takeBare,
  });
  answerUnreadable(server, connections.closing, ({ fault, status, error }) => {
    const { id, body, headers } = refusalWith(error);
    const { code = '' } = fault;
    if (isTlsFault(fault)) log.info(`a TLS connection failed: ${code}`);
    const piece =
      'rawPacket' in fault && Buffer.isBuffer(fault.rawPacket) ? fault.rawPacket : undefined;
    const unreadable = { requestId: id, code, status: Number.parseInt(status, 10), piece };
    if (code !== 'ECONNRESET') options.onUnreadable?.(unreadable);
    return bareAnswer(status, body, headers);
  });
  return server;
}

/** Passes exchanges to the routes, those in the table directly. */
export function routed({ app, find, withoutHost }: Routes): (exchange: Exchange) => void {
  return (exchange) => {
    const { request, response, path } = exchange;
    const isNamed = request.headers.host !== undefined || request.httpVersion === '1.0';
    const known = path.includes('%') ? withPlainLetters(path) : path;
    const answer = isNamed ? find(known) : withoutHost;
    if (answer) {
      answer(exchange);
      return;
    }
    if (known !== path) request.url = known + (request.url ?? '').slice(path.length);
    (request as unknown as CarriesExchange).exchange = exchange;
    app(request as Parameters<typeof app>[0], response as Parameters<typeof app>[1]);
  };
}

/** Returns true for the handshake of a websocket that there is. */
export function opensSocket(
  routes: Routes,
  { method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
): boolean {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return false;
  const [path = ''] = originForm(url ?? '').split('?');
  return routes.opensSocket(method ?? '', withPlainLetters(path));
}

/** The path without escapes of characters that need none, which name the same path (RFC 3986, 6.2.2). */
function withPlainLetters(path: string): string {
  return path.replace(/%(?:2D|5F|7E|3\d|[46][1-9A-F]|[57][0-9A])/gi, decodeURIComponent);
}

function openServer(
  classes: ReturnType<typeof classesOf>,
  {
    tls,
    handshakeMaxMs = HANDSHAKE_MAX_MS,
    connectionLimits,
  }: ListenerOptions & { readonly connectionLimits: ConnectionLimits },
): Server {
  const bounds = connectionOptions(connectionLimits);
  const shared = { ...bounds, ...classes, requireHostHeader: false, keepAliveTimeout: 65_000 };
  if (!tls) return createServer(shared);
  return createSecureServer({ ...shared, ...tls, handshakeTimeout: handshakeMaxMs });
}

function classesOf(app: Routes['app']) {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  makeOwn(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

/**
 * Makes these prototypes of requests and responses the app's own, so that Express changes nothing
 * about a message of their classes.
 */
export function makeOwn(
  app: Routes['app'],
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): void {
  for (const [own, expressed] of [
    [request, app.request],
    [response, app.response],
  ] as const) {
    Object.setPrototypeOf(own, Object.getPrototypeOf(expressed));
    Object.defineProperty(own, 'app', { value: app, configurable: true, writable: true });
  }
  app.request = request as typeof app.request;
  app.response = response as typeof app.response;
}

/** The response to a request on a connection that HTTP has let go of. */
export function responseOn(
  request: IncomingMessage,
  socket: Socket,
  ResponseClass: new (request: IncomingMessage) => ServerResponse,
): ServerResponse {
  const response = new ResponseClass(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on('finish', () => socket.destroySoon());
  // A caller that disconnects during a refused handshake is not a fault of the server.
  socket.on('error', () => socket.destroy());
  // Node no longer tells the response, which may wait for it.
  socket.on('drain', () => response.emit('drain'));
  // Node no longer watches it for a client that leaves its answer unread.
  socket.on('timeout', () => {
    if (socket.writableLength > 0) socket.destroy();
  });
  return response;
}
