/**
 * A baseline server in a separate process: bare `node:http`, Fastify, or Express with default
 * settings. It reads the request body, and answers one method and path with fixed bytes. The
 * arguments are the kind of server and a `PeerResponse` as JSON; the output is the port.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { fastify, type HTTPMethods } from 'fastify';
import type { PeerResponse } from '../exchange.ts';

const kinds = { 'node:http': bare, fastify: startFastify, express: startExpress };

/** A kind of server that fleetbed is compared with. */
export type PeerKind = keyof typeof kinds;

const [kind = '', response = ''] = process.argv.slice(2);
const peerResponse = JSON.parse(response) as PeerResponse;
const pairs = Object.fromEntries(
  peerResponse.headers.flatMap((name, at) =>
    at % 2 === 0 ? [[name, peerResponse.headers[at + 1] ?? '']] : [],
  ),
);
const server = await kinds[kind as PeerKind](peerResponse);
process.stdout.write(`${(server.address() as AddressInfo).port}\n`);

function bare({ status, headers, body }: PeerResponse): Promise<Server> {
  return listening((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(status, [...headers]);
      response.end(body);
    });
  });
}

async function startFastify({ method, path: url, status, body, ...rest }: PeerResponse) {
  const app = fastify({ keepAliveTimeout: rest.keepAliveTimeoutMs });
  app.route({
    method: method as HTTPMethods,
    url,
    handler: (_, reply) =>
      reply
        .code(status)
        .headers(pairs)
        .send(body === '' ? undefined : body),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app.server;
}

/** Starts Express without the two headers that it adds, so that all servers send the same bytes. */
function startExpress({ path, status, body }: PeerResponse): Promise<Server> {
  const app = express().disable('x-powered-by').disable('etag');
  app.use(express.json());
  app.all(path, (_, response) => {
    response.status(status).set(pairs).end(body);
  });
  return listening(app);
}

function listening(listener: RequestListener): Promise<Server> {
  const { keepAliveTimeoutMs: keepAliveTimeout } = peerResponse;
  return new Promise((resolve) => {
    const server = createServer({ keepAliveTimeout }, listener);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
