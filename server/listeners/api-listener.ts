/**
 * The listener of the API: a node:http or node:https server. Its messages have Express's own
 * classes, so that Express does not need to convert them.
 */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Random } from '../../fixtures/base/random.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import { failBody } from '../http/body.ts';
import { type Exchange, openExchange, originForm } from '../http/exchange.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import { type Log, unparsableLine } from '../pipeline/log.ts';
import type { UnparsableRequest } from '../pipeline/plug-ins.ts';
import {
  missingHost,
  type RequestWithExchange,
  type Routes,
  severalHosts,
  tooManyConnections,
} from '../pipeline/routes.ts';
import { type Turns, turnKeyOf } from '../pipeline/turns.ts';
import { type ConnectionLimits, completeConnectionLimits } from '../settings.ts';
import { connectionOptions, enforceConnectionLimits, HEADERS_MAX } from './connection-limits.ts';
import type { Connections } from './connections.ts';
import { keepOrder } from './pipelining.ts';
import { spreadHandshakes } from './tls/handshake-turns.ts';
import type { TlsIdentity } from './tls/identity.ts';
import { answerUnparsableRequest, bareResponse } from './unparsable.ts';
import { handleUpgrades, restoreHeaders } from './upgrades.ts';

interface ListenerOptions {
  readonly routes: Routes;
  readonly headerNames: VendorNames;
  readonly random: Random;
  /** Creates IDs for requests without one; UUIDs by default. */
  readonly newRequestId?: () => string;
  readonly log: Pick<Log, 'info'>;
  /** Every request takes a turn before it is routed. */
  readonly turns: Turns;
  /** Tracks connections, and decides which exceed the limit. */
  readonly connections: Connections;
  /** Called for requests that cannot be parsed. */
  readonly onUnparsable?: (request: UnparsableRequest) => void;
  /** Key and certificate for TLS; connections are plain when absent. */
  readonly tls?: TlsIdentity | undefined;
  /** Time in milliseconds after which an unfinished TLS handshake is cut. */
  readonly handshakeMaxMs?: number;
  /** Limits on slow clients; the defaults apply to those that are absent. */
  readonly connectionLimits?: Partial<ConnectionLimits> | undefined;
}

/** Shorter than Node's default of two minutes. */
const HANDSHAKE_MAX_MS = 10_000;

/** Creates a server that does not listen yet. */
export function createListener(options: ListenerOptions): Server {
  const {
    headerNames,
    random,
    log,
    turns,
    connections,
    newRequestId = () => random.uuid(),
  } = options;
  const classes = classesOf(options.routes.app);
  const open = (request: IncomingMessage, response: ServerResponse): Exchange =>
    openExchange(request, response, { headerNames, newRequestId });
  const route = routeExchanges(options.routes);
  const dispatch = (request: IncomingMessage, begin: () => Exchange): void => {
    // A surplus connection is refused without waiting for a turn, because the next one needs its
    // slot.
    if (connections.refuses(request.socket)) options.routes.refuse(begin(), tooManyConnections);
    else turns.start(turnKeyOf(request), () => route(begin()));
  };
  const connectionLimits = completeConnectionLimits(options.connectionLimits);
  const server = createHttpServer(classes, { ...options, connectionLimits });
  enforceConnectionLimits(server, connectionLimits);
  // Node drops headers beyond this count; one more than the limit shows that there were too many.
  server.maxHeadersCount = HEADERS_MAX + 1;
  const refusalWith = (error: string) => {
    const id = random.uuid();
    return { id, body: { error, request_id: id }, headers: { [headerNames.requestId]: id } };
  };
  connections.watch(server, () => {
    // No plain text can be sent before TLS is negotiated.
    if (options.tls) return '';
    const { status, error, headers } = tooManyConnections;
    const { body, headers: refusalHeaders } = refusalWith(error);
    return bareResponse(`${status} Service Unavailable`, body, { ...refusalHeaders, ...headers });
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    restoreHeaders(request);
    keepOrder(request, response, () => dispatch(request, () => open(request, response)));
  };
  const onHandshake = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const response = responseOn(request, socket as Socket, classes.ServerResponse);
    dispatch(request, () => ({ ...open(request, response), upgrade: { socket, head } }));
  };
  server.on('request', onRequest);
  // Without these handlers Node would answer an Expect header with an empty 417, and CONNECT not
  // at all.
  server.on('checkExpectation', onRequest);
  handleUpgrades(server, {
    isAccepted: (request) => opensSocket(options.routes, request),
    accept: onHandshake,
  });
  const { closing } = connections;
  answerUnparsableRequest(server, { closing, turns, failBody }, (unparsable) => {
    const { parseFailure, status, chunk, isReset } = unparsable;
    const { id, body, headers } = refusalWith(parseFailure.error);
    if (!isReset) {
      const request = {
        requestId: id,
        parseFailure,
        status: Number.parseInt(status, 10),
        chunk,
      };
      log.info(unparsableLine(request));
      options.onUnparsable?.(request);
    }
    return bareResponse(status, body, headers);
  });
  return server;
}

/**
 * Returns a function that routes exchanges: by the tables where possible, otherwise through
 * Express.
 */
export function routeExchanges(routes: Routes): (exchange: Exchange) => void {
  const { app, find, unknown } = routes;
  return (exchange) => {
    const { request, response, path } = exchange;
    const refusal = refusalOf(request);
    if (refusal) {
      routes.refuse(exchange, refusal);
      return;
    }
    const isTooDeep = hasMoreSegments(path, SEGMENTS_MAX);
    const decodedPath = !isTooDeep && path.includes('%') ? unescapeUnreserved(path) : path;
    const handler = isTooDeep ? unknown : find(decodedPath);
    if (handler) {
      handler(exchange);
      return;
    }
    if (decodedPath !== path) request.url = decodedPath + (request.url ?? '').slice(path.length);
    (request as unknown as RequestWithExchange).exchange = exchange;
    app(request as Parameters<typeof app>[0], response as Parameters<typeof app>[1]);
  };
}

/** Returns true for a handshake of a WebSocket that the routes offer. */
export function opensSocket(
  routes: Routes,
  { method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
): boolean {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return false;
  const [path = ''] = originForm(url ?? '').split('?');
  return routes.opensSocket(method ?? '', unescapeUnreserved(path));
}

/** Returns a refusal for headers that are invalid on every route. */
function refusalOf({ headers, httpVersion, rawHeaders }: IncomingMessage): Refusal | undefined {
  if (rawHeaders.length > 2 * HEADERS_MAX) return tooManyHeaders;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return unknownVersion(httpVersion);
  if (headers.host === undefined) return httpVersion === '1.0' ? undefined : missingHost;
  return hasSeveralHosts(rawHeaders) ? severalHosts : undefined;
}

/** Node keeps the first Host header; a proxy in front of it may have routed by another one. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

const tooManyHeaders = refuse.tooManyHeaders(HEADERS_MAX);

/** Node reads a request line without version as HTTP/0.9. */
function unknownVersion(version: string): Refusal {
  const isMissing = version === '0.9';
  const problem = isMissing ? 'has no HTTP version' : `has the version HTTP/${version}`;
  return refuse.malformed(`the request line ${problem}; end it with HTTP/1.1`, {
    path: 'request',
    expected: 'HTTP/1.1',
    actual: isMissing ? 'nothing' : `HTTP/${version}`,
  });
}

/** More segments than the path of any operation has. */
const SEGMENTS_MAX = 16;
/** Longer than the fixed segment of any operation, even if every character of it is escaped. */
const ESCAPED_SEGMENT_MAX = 128;

/**
 * Returns true for a path with more than `segmentsMax` slashes; stops at the limit, as a path may
 * have thousands.
 */
function hasMoreSegments(path: string, segmentsMax: number): boolean {
  let at = -1;
  for (let count = 0; count <= segmentsMax; count += 1) {
    at = path.indexOf('/', at + 1);
    if (at < 0) return false;
  }
  return true;
}

/**
 * Returns the path without escapes of unreserved characters; both forms name the same path (RFC
 * 3986, 6.2.2). A long segment can only be a parameter's value, and keeps its escapes for the code
 * that reads it.
 */
function unescapeUnreserved(path: string): string {
  const segments = path.split('/', SEGMENTS_MAX + 1);
  const unescapedSegments = segments.map((segment) =>
    segment.length > ESCAPED_SEGMENT_MAX
      ? segment
      : segment.replace(escapedUnreserved, decodeURIComponent),
  );
  return unescapedSegments.join('/');
}

const escapedUnreserved = /%(?:2D|5F|7E|3\d|[46][1-9A-F]|[57][0-9A])/gi;

function createHttpServer(
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
 * Makes these prototypes the app's own prototypes of requests and responses, so that Express
 * changes nothing about messages of these classes.
 */
export function makeOwn(
  app: Routes['app'],
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): void {
  for (const [prototype, expressPrototype] of [
    [request, app.request],
    [response, app.response],
  ] as const) {
    Object.setPrototypeOf(prototype, Object.getPrototypeOf(expressPrototype));
    Object.defineProperty(prototype, 'app', { value: app, configurable: true, writable: true });
  }
  app.request = request as typeof app.request;
  app.response = response as typeof app.response;
}

/** Returns a response to a request whose connection HTTP has released. */
export function responseOn(
  request: IncomingMessage,
  socket: Socket,
  ResponseClass: new (request: IncomingMessage) => ServerResponse,
): ServerResponse {
  const response = new ResponseClass(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on('finish', () => socket.destroySoon());
  // A client that disconnects during a refused handshake is not an error of the server.
  socket.on('error', () => socket.destroy());
  // Node no longer forwards this event to the response, which may wait for it.
  socket.on('drain', () => response.emit('drain'));
  // Node no longer applies its timeout to this connection; it is for clients that do not read the
  // response.
  socket.on('timeout', () => {
    if (socket.writableLength > 0) socket.destroy();
  });
  return response;
}
