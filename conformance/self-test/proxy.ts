/**
 * A loopback proxy in front of a target, with at most one active defect. Requests keep their Host,
 * so that links made by the target lead through the proxy again. Whatever alterations do not change
 * is forwarded byte by byte, each chunk as it arrives.
 */
import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request as open,
  type RequestOptions,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { ActiveDefect } from './active-defect.ts';
import { withHeaders } from './alter.ts';
import type { ProxiedRequest, ProxiedResponse, SendToTarget } from './defect.ts';
import {
  bodyOfPiped,
  passOn,
  readAll,
  responseOf,
  wireHeaders,
  writeResponse,
} from './proxied-messages.ts';
import { joinSockets, writeUpgradeResponse } from './proxied-upgrade.ts';
import { seenHeaders } from './raw-headers.ts';
import { recognizedRequest } from './requests.ts';

/** Some hostile headers are long; the target decides whether they are too long. */
const HEADERS_MAX_BYTES = 1_048_576;
const IDLE_MAX_MS = 65_000;

export interface ProxyOptions {
  /** Base URL of the target, over plain HTTP. */
  readonly targetUrl: string;
  readonly names: VendorNames;
  /** For alterations that act as a user; empty without one. */
  readonly userToken: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Observes the exchanges while no defect is active. */
  readonly observer?: ProxyObserver;
}

/** A read-only observer of exchanges. */
export interface ProxyObserver {
  /**
   * Called for each request; `exchange` resolves to request and answer, or rejects without a
   * response.
   */
  examine(exchange: Promise<ProxiedExchange>): void;
}

/** A complete request and its response. */
export interface ProxiedExchange {
  readonly request: ProxiedRequest;
  readonly response: ProxiedResponse;
  /** The user token that alterations receive. */
  readonly userToken: string;
}

/** A listening proxy. The owner must close it. */
export class DefectProxy {
  readonly baseUrl: string;
  readonly #options: ProxyOptions;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #target: URL;
  readonly #prefix: string;
  readonly #sockets = new Set<Duplex>();
  readonly #send: SendToTarget;
  #planted: ActiveDefect | undefined;

  private constructor(server: Server, options: ProxyOptions) {
    this.#server = server;
    this.#options = options;
    this.#target = new URL(options.targetUrl);
    this.#prefix = this.#target.pathname.replace(/(?<!\/)\/+$/, '');
    this.baseUrl = `http://${this.#host()}${this.#prefix}`;
    const { userToken } = options;
    this.#send = Object.assign((own: ProxiedRequest) => this.#sendToTarget(own), { userToken });
  }

  /** Starts a proxy on a free loopback port. */
  static async open(options: ProxyOptions): Promise<DefectProxy> {
    const server = createServer({
      maxHeaderSize: HEADERS_MAX_BYTES,
      requireHostHeader: false,
      keepAliveTimeout: IDLE_MAX_MS,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new DefectProxy(server, options);
    proxy.#listen();
    return proxy;
  }

  /** Activates a defect in place of the previous one; undefined forwards everything unchanged. */
  activate(planted: ActiveDefect | undefined): void {
    this.#planted = planted;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closing = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closing;
    this.#agent.destroy();
  }

  #listen(): void {
    this.#server.on('request', (request, response) => {
      this.#pass(request, response).catch(() => response.destroy());
    });
    this.#server.on('upgrade', (request, socket, head) => {
      this.#own(socket);
      this.#passUpgrade(request, socket, head).catch(() => socket.destroy());
    });
    this.#server.on('clientError', (error: Error & { readonly rawPacket?: Buffer }, socket) => {
      if (error.rawPacket && socket.writable) this.#passUnreadable(error.rawPacket, socket);
      else socket.destroy();
    });
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const proxiedRequest = this.#seen(request);
    const planted = this.#planted?.touches(proxiedRequest.operation) ? this.#planted : undefined;
    if (!planted) {
      const outgoing = this.#open(request.method, request.url, [...request.rawHeaders]);
      const pendingResponse = responseTo(outgoing, response);
      this.#options.observer?.examine(
        exchangeOf(proxiedRequest, request, pendingResponse).then((each) => ({
          ...each,
          userToken: this.#send.userToken,
        })),
      );
      request.pipe(outgoing);
      return passOn(await pendingResponse, response);
    }
    const original = { ...proxiedRequest, body: await readAll(request) };
    const sentRequest = await planted.alterRequest(original, this.#send);
    if ('status' in sentRequest)
      return writeResponse(response, { response: this.#completed(sentRequest) });
    const outgoing = this.#open(
      sentRequest.method,
      this.#urlOf(sentRequest),
      wireHeaders(request, original, sentRequest),
    );
    outgoing.end(sentRequest.body);
    const targetResponse = await responseTo(outgoing, response);
    if (!planted.seesResponses) return passOn(targetResponse, response, planted.chunksOf(original));
    const unalteredResponse = await responseOf(targetResponse);
    const alteredResponse = await planted.alterResponse(unalteredResponse, original, this.#send);
    writeResponse(response, {
      response: alteredResponse,
      unalteredResponse,
      received: targetResponse,
    });
  }

  async #passUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const proxiedRequest = this.#seen(request);
    const planted = this.#planted?.touches(proxiedRequest.operation) ? this.#planted : undefined;
    const original = { ...proxiedRequest, body: Buffer.alloc(0) };
    const sentRequest = planted ? await planted.alterRequest(original, this.#send) : original;
    if ('status' in sentRequest)
      return writeUpgradeResponse(socket, { response: this.#completed(sentRequest) });
    const outgoing = this.#open(
      sentRequest.method,
      this.#urlOf(sentRequest),
      wireHeaders(request, original, sentRequest),
      {
        agent: false,
      },
    );
    outgoing.end();
    const { received, upgraded, followingBytes } = await upgradeResponseTo(outgoing, socket);
    const unalteredResponse = upgraded ? upgradeResponse(received) : await responseOf(received);
    if (!planted) {
      this.#options.observer?.examine(
        Promise.resolve({
          request: original,
          response: unalteredResponse,
          userToken: this.#send.userToken,
        }),
      );
    }
    const response = planted
      ? await planted.alterResponse(unalteredResponse, original, this.#send)
      : unalteredResponse;
    writeUpgradeResponse(socket, { response, unalteredResponse, received });
    if (!upgraded) return;
    this.#own(upgraded);
    if (response.status !== 101) upgraded.destroy();
    else
      joinSockets({
        device: socket,
        target: upgraded,
        planted,
        heads: { device: head, target: followingBytes },
      });
  }

  /** Forwards what Node's parser rejects, so that the target decides. */
  #passUnreadable(packet: Buffer, socket: Duplex): void {
    const tunnel = connect(Number(this.#target.port || 80), this.#target.hostname);
    this.#own(tunnel);
    tunnel.on('error', () => socket.destroy());
    socket.on('error', () => tunnel.destroy());
    tunnel.pipe(socket);
    tunnel.write(packet);
  }

  #seen(request: IncomingMessage): Omit<ProxiedRequest, 'body'> {
    const [fullPath = '', ...queryParts] = (request.url ?? '/').split('?');
    const path = fullPath.startsWith(this.#prefix) ? fullPath.slice(this.#prefix.length) : fullPath;
    const method = request.method ?? 'GET';
    const operation = recognizedRequest(method, path);
    const headers = seenHeaders(request.rawHeaders);
    const { httpVersion: version } = request;
    return { ...operation, method, version, path, query: queryParts.join('?'), headers };
  }

  async #sendToTarget(ownRequest: ProxiedRequest): Promise<ProxiedResponse> {
    const request = withHeaders(ownRequest, {
      host: ownRequest.headers.host ?? this.#host(),
      'transfer-encoding': undefined,
      'content-length': ownRequest.body.length > 0 ? String(ownRequest.body.length) : undefined,
    });
    const headers = Object.entries(request.headers).flat();
    const outgoing = this.#open(request.method, this.#urlOf(request), headers);
    outgoing.end(request.body);
    const [received] = (await once(outgoing, 'response')) as [IncomingMessage];
    return responseOf(received);
  }

  #open(
    method: string | undefined,
    url: string | undefined,
    headers: string[],
    more: RequestOptions = { agent: this.#agent },
  ): ClientRequest {
    const { hostname, port } = this.#target;
    return open({ hostname, port, method, path: url ?? '/', headers, ...more });
  }

  #urlOf({ path, query }: ProxiedRequest): string {
    return `${this.#prefix}${path}${query === '' ? '' : `?${query}`}`;
  }

  /** Adds the date and a request ID to a response that an alteration made instead of the target. */
  #completed(response: ProxiedResponse): ProxiedResponse {
    const { names, clock, random } = this.#options;
    const common = {
      date: new Date(clock.now()).toUTCString(),
      [names.requestId.toLowerCase()]: random.uuid(),
    };
    return { ...response, headers: { ...common, ...response.headers } };
  }

  #own(socket: Duplex): void {
    this.#sockets.add(socket);
    // A caller that disconnects is not a fault of the proxy, even while its response is written.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #host(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `127.0.0.1:${port}`;
  }
}

/** Records request and answer while they are forwarded. */
async function exchangeOf(
  proxiedRequest: Omit<ProxiedRequest, 'body'>,
  request: IncomingMessage,
  answered: Promise<IncomingMessage>,
): Promise<Omit<ProxiedExchange, 'userToken'>> {
  const requestBody = bodyOfPiped(request);
  const targetResponse = await answered;
  const body = await bodyOfPiped(targetResponse);
  const { statusCode = 0, rawHeaders } = targetResponse;
  const response = { status: statusCode, headers: seenHeaders(rawHeaders), body };
  return { request: { ...proxiedRequest, body: await requestBody }, response };
}

/** Returns the response of the target; the request is ended when the suite disconnects. */
async function responseTo(
  outgoing: ClientRequest,
  response: ServerResponse,
): Promise<IncomingMessage> {
  response.on('close', () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  const [received] = (await once(outgoing, 'response')) as [IncomingMessage];
  // The rest of a request that was answered early may fail; the suite gets the response.
  outgoing.on('error', (error) => received.destroy(error));
  return received;
}

interface ReceivedUpgrade {
  readonly received: IncomingMessage;
  readonly upgraded?: Duplex;
  readonly followingBytes: Buffer;
}

function upgradeResponseTo(outgoing: ClientRequest, socket: Duplex): Promise<ReceivedUpgrade> {
  socket.on('close', () => outgoing.destroy());
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (received) => resolve({ received, followingBytes: Buffer.alloc(0) }));
    outgoing.on('upgrade', (received, upgraded, followingBytes) =>
      resolve({ received, upgraded, followingBytes }),
    );
  });
}

function upgradeResponse(received: IncomingMessage): ProxiedResponse {
  return {
    status: received.statusCode ?? 0,
    headers: seenHeaders(received.rawHeaders),
    body: Buffer.alloc(0),
  };
}
