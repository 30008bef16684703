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
import { type Refusal, refuse } from '../http/refusal.ts';
import type { Log } from '../pipeline/log.ts';
import type { UnreadableRequest } from '../pipeline/plug-ins.ts';
import {
  type CarriesExchange,
  missingHost,
  type Routes,
  severalHosts,
  tooManyConnections,
} from '../pipeline/routes.ts';
import { callerNamedIn, type Turns } from '../pipeline/turns.ts';
import { type ConnectionLimits, completeConnectionLimits } from '../settings.ts';
import { connectionOptions, enforceConnectionLimits, HEADERS_MAX } from './connection-limits.ts';
import type { Connections } from './connections.ts';
import { inOrder } from './pipelining.ts';
import { spreadHandshakes } from './tls/handshake-turns.ts';
import type { TlsIdentity } from './tls/identity.ts';
import { answerUnreadable, bareAnswer, isTlsError } from './unreadable.ts';
import { onUpgrade, restoreHeaders } from './upgrades.ts';

interface ListenerOptions {
  readonly routes: Routes;
  readonly names: VendorNames;
  readonly random: Random;
  /** Creates ids for requests without one; UUIDs by default. */
  readonly newRequestId?: () => string;
  readonly log: Pick<Log, 'info'>;
  /** Taken by each request before it is routed. */
  readonly turns: Turns;
  /** Tracks connections, and decides which are too many. */
  readonly connections: Connections;
  /** Called for requests that cannot be parsed. */
  readonly onUnreadable?: (request: UnreadableRequest) => void;
  /** Key and certificate for TLS; connections are plain when absent. */
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
  const { names, random, log, turns, connections, newRequestId = () => random.uuid() } = options;
  const classes = classesOf(options.routes.app);
  const open = (request: IncomingMessage, response: ServerResponse): Exchange =>
    openExchange(request, response, { names, newRequestId });
  const route = routed(options.routes);
  const dispatch = (request: IncomingMessage, begin: () => Exchange): void => {
    // Its place is needed for the next one: it does not wait for a turn.
    if (connections.refuses(request.socket)) options.routes.refuse(begin(), tooManyConnections);
    else turns.start(callerNamedIn(request), () => route(begin()));
  };
  const connectionLimits = completeConnectionLimits(options.connectionLimits);
  const server = openServer(classes, { ...options, connectionLimits });
  enforceConnectionLimits(server, connectionLimits);
  // Node leaves out the others; one more tells that there were some.
  server.maxHeadersCount = HEADERS_MAX + 1;
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
    inOrder(request, response, () => dispatch(request, () => open(request, response)));
  };
  const takeBare = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const response = responseOn(request, socket as Socket, classes.ServerResponse);
    dispatch(request, () => ({ ...open(request, response), upgrade: { socket, head } }));
  };
  server.on('request', take);
  // Node would answer these two itself: with an empty 417, and not at all.
  server.on('checkExpectation', take);
  onUpgrade(server, {
    isTaken: (request) => opensSocket(options.routes, request),
    take: takeBare,
  });
  const { closing } = connections;
  answerUnreadable(server, { closing, turns }, ({ cause, status, error }) => {
    const { id, body, headers } = refusalWith(error);
    const { code = '' } = cause;
    if (isTlsError(cause)) log.info(`a TLS connection failed: ${code}`);
    const piece =
      'rawPacket' in cause && Buffer.isBuffer(cause.rawPacket) ? cause.rawPacket : undefined;
    const unreadable = { requestId: id, code, status: Number.parseInt(status, 10), piece };
    if (code !== 'ECONNRESET') options.onUnreadable?.(unreadable);
    return bareAnswer(status, body, headers);
  });
  return server;
}

/** Passes exchanges to the routes, those in the table directly. */
export function routed(routes: Routes): (exchange: Exchange) => void {
  const { app, find, unknown } = routes;
  return (exchange) => {
    const { request, response, path } = exchange;
    const refusal = refusalOf(request);
    if (refusal) {
      routes.refuse(exchange, refusal);
      return;
    }
    const isTooDeep = hasMoreSegments(path, SEGMENTS_MAX);
    const known = !isTooDeep && path.includes('%') ? withPlainLetters(path) : path;
    const answer = isTooDeep ? unknown : find(known);
    if (answer) {
      answer(exchange);
      return;
    }
    if (known !== path) request.url = known + (request.url ?? '').slice(path.length);
    (request as unknown as CarriesExchange).exchange = exchange;
    app(request as Parameters<typeof app>[0], response as Parameters<typeof app>[1]);
  };
}

/** Returns true for the handshake of an existing websocket. */
export function opensSocket(
  routes: Routes,
  { method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
): boolean {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return false;
  const [path = ''] = originForm(url ?? '').split('?');
  return routes.opensSocket(method ?? '', withPlainLetters(path));
}

/** Why a request is refused that no route needs to see. */
function refusalOf({ headers, httpVersion, rawHeaders }: IncomingMessage): Refusal | undefined {
  if (rawHeaders.length > 2 * HEADERS_MAX) return tooManyHeaders;
  if (headers.host === undefined) return httpVersion === '1.0' ? undefined : missingHost;
  return hasSeveralHosts(rawHeaders) ? severalHosts : undefined;
}

/** Node keeps the first of them, so that a proxy before it may have routed by another. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

const tooManyHeaders = refuse.tooManyHeaders(HEADERS_MAX);

/** More than the path of any operation has. */
const SEGMENTS_MAX = 16;
/** More than the fixed segment of any operation has, all of it escaped. */
const ESCAPED_SEGMENT_MAX = 128;

/** Looks no further than it must, as a path may have thousands. */
function hasMoreSegments(path: string, segmentsMax: number): boolean {
  let at = -1;
  for (let found = 0; found <= segmentsMax; found += 1) {
    at = path.indexOf('/', at + 1);
    if (at < 0) return false;
  }
  return true;
}

/**
 * The path without escapes of characters that need none, which name the same path (RFC 3986, 6.2.2).
 * Those of a long segment, which can only be the value of a parameter, are left to who reads it.
 */
function withPlainLetters(path: string): string {
  const segments = path.split('/', SEGMENTS_MAX + 1);
  const plain = segments.map((segment) =>
    segment.length > ESCAPED_SEGMENT_MAX
      ? segment
      : segment.replace(escapedLetters, decodeURIComponent),
  );
  return plain.join('/');
}

const escapedLetters = /%(?:2D|5F|7E|3\d|[46][1-9A-F]|[57][0-9A])/gi;

function openServer(
  classes: ReturnType<typeof classesOf>,
  {
    tls,
    turns,
    handshakeMaxMs = HANDSHAKE_MAX_MS,
    connectionLimits,
  }: ListenerOptions & { readonly connectionLimits: ConnectionLimits },
): Server {
  const bounds = connectionOptions(connectionLimits);
  const shared = { ...bounds, ...classes, requireHostHeader: false, keepAliveTimeout: 65_000 };
  if (!tls) return createServer(shared);
  const server = createSecureServer({ ...shared, ...tls, handshakeTimeout: handshakeMaxMs });
  spreadHandshakes(server, { turns, handshakeMaxMs });
  return server;
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

/** The response to a request on a connection that HTTP has released. */
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
