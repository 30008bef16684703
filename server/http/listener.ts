/** The protocol listener: a node:http server whose requests are born as Express's own, so that Express need not convert them. */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { Random } from '../../fixtures/random.ts';
import { jsonType } from './answer.ts';
import { type Exchange, openExchange } from './exchange.ts';
import type { CarriesExchange, Routes } from './routes.ts';

interface ListenerOptions {
  readonly routes: Routes;
  readonly names: VendorNames;
  readonly random: Random;
}

/** Makes the server; it does not listen yet. */
export function createListener({ routes, names, random }: ListenerOptions): Server {
  const { app, exact } = routes;
  const classes = classesOf(app);
  const open = (request: IncomingMessage, response: ServerResponse): Exchange =>
    openExchange(request, response, { names, random });
  const dispatch = (exchange: Exchange): void => {
    const { request, response, path } = exchange;
    const answer = exact.get(path);
    if (answer) {
      answer(exchange);
      return;
    }
    (request as unknown as CarriesExchange).exchange = exchange;
    app(request as Parameters<typeof app>[0], response as Parameters<typeof app>[1]);
  };
  const server = createServer({ ...classes, requireHostHeader: false, keepAliveTimeout: 65_000 });
  const take = (request: IncomingMessage, response: ServerResponse): void =>
    dispatch(open(request, response));
  const takeBare = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const response = responseOn(request, socket as Socket, classes.ServerResponse);
    dispatch({ ...open(request, response), upgrade: { socket, head } });
  };
  server.on('request', take);
  // Node would answer these two by itself, with an empty 417 and with nothing at all.
  server.on('checkExpectation', take);
  server.on('connect', takeBare);
  server.on('upgrade', takeBare);
  server.on('clientError', (fault, socket) => {
    refuseUnreadable(fault, socket, { header: names.requestId, id: random.uuid() });
  });
  return server;
}

/** Request and response classes whose prototypes are the app's own: Express then changes nothing. */
function classesOf(app: Routes['app']) {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  for (const [own, expressed] of [
    [AppRequest.prototype, app.request],
    [AppResponse.prototype, app.response],
  ] as const) {
    Object.setPrototypeOf(own, Object.getPrototypeOf(expressed));
    Object.defineProperty(own, 'app', { value: app, configurable: true, writable: true });
  }
  app.request = AppRequest.prototype as typeof app.request;
  app.response = AppResponse.prototype as typeof app.response;
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

function responseOn(
  request: IncomingMessage,
  socket: Socket,
  ResponseClass: new (request: IncomingMessage) => ServerResponse,
): ServerResponse {
  const response = new ResponseClass(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on('finish', () => {
    response.detachSocket(socket);
    socket.end();
  });
  // A caller that goes away in the middle of a refused handshake is no fault of ours.
  socket.on('error', () => socket.destroy());
  return response;
}

const unreadable: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** What is not even HTTP still gets an answer with the Error body. */
function refuseUnreadable(
  fault: Error & { code?: string },
  socket: Duplex,
  { header, id }: { header: string; id: string },
): void {
  if (fault.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = unreadable[fault.code ?? ''] ?? '400 Bad Request';
  const error = `the request cannot be read as HTTP: ${status.slice(4)}`;
  const body = JSON.stringify({ error, request_id: id });
  const head = [
    `HTTP/1.1 ${status}`,
    `${header}: ${id}`,
    `Content-Type: ${jsonType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
