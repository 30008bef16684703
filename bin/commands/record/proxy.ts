/**
 * A transparent proxy for the device API: it passes requests, responses and WebSockets on as they
 * are, and observes them. Two things differ: Host names the upstream server, and links of JSON
 * responses to that server name the proxy instead, so that downloads pass through it too.
 */
import {
  createServer,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { FrameReader, opcodes } from '../../../conformance/target/frames.ts';
import type { Clock } from '../../../fixtures/base/clock.ts';
import { KEPT_BYTES, type ProxiedExchange, type ProxiedFrame } from './session-lines.ts';

/** Longer JSON responses are passed on unread. */
const READ_MAX_BYTES = 1_048_576;
const HEADERS_MAX_BYTES = 65_536;

/** Where the proxy forwards to, and the callbacks for what passed. */
export interface ProxyPlan {
  /** Base URL, possibly with a path. */
  readonly upstream: string;
  readonly caPem: string | undefined;
  readonly clock: Clock;
  onExchange(exchange: ProxiedExchange): void;
  onFrame(frame: ProxiedFrame): void;
  /** Called once for each request that the upstream server did not answer. */
  onNoResponse(error: Error): void;
}

/** Returns the proxy, which does not listen yet. Its owner closes it. */
export function recordingProxy(plan: ProxyPlan): Server {
  const server = createServer({ maxHeaderSize: HEADERS_MAX_BYTES }, (request, response) => {
    new Passage(plan, request).answer(response);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    new Passage(plan, request).upgrade(socket, head);
  });
  return server;
}

/** One request on its way through the proxy. */
class Passage {
  readonly #plan: ProxyPlan;
  readonly #request: IncomingMessage;
  readonly #startedMs: number;
  readonly #sent = new BodyStart();
  readonly #response = new BodyStart();
  #isReported = false;

  constructor(plan: ProxyPlan, request: IncomingMessage) {
    this.#plan = plan;
    this.#request = request;
    this.#startedMs = plan.clock.now();
  }

  answer(response: ServerResponse): void {
    const upstream = this.#forward();
    let incoming: IncomingMessage | undefined;
    upstream.once('response', (received: IncomingMessage) => {
      incoming = received;
      this.#passOn(received, response);
    });
    upstream.once('error', (error) => {
      if (incoming === undefined && !response.destroyed) this.#plan.onNoResponse(error);
      // The device sees what it would see without the proxy: a closed connection.
      response.destroy();
    });
    response.once('close', () => {
      if (!response.writableFinished) upstream.destroy();
      this.#report(incoming);
    });
    this.#request.on('data', (bytes: Buffer) => this.#sent.add(bytes));
    this.#request.pipe(upstream);
  }

  upgrade(socket: Duplex, head: Buffer): void {
    const upstream = this.#forward();
    const end = (): void => {
      socket.destroy();
      upstream.destroy();
    };
    socket.on('error', end);
    upstream.once('error', (error) => {
      this.#plan.onNoResponse(error);
      end();
    });
    upstream.once('response', (response: IncomingMessage) => {
      socket.write(headOf(response));
      response.on('data', (bytes: Buffer) => this.#response.add(bytes));
      response.once('close', () => this.#report(response));
      response.pipe(socket);
    });
    upstream.once('upgrade', (response: IncomingMessage, inner: Duplex, innerHead: Buffer) => {
      this.#report(response);
      socket.write(headOf(response));
      this.#join({ from: socket, to: inner, head, side: 'client' });
      this.#join({ from: inner, to: socket, head: innerHead, side: 'server' });
    });
    upstream.end();
  }

  #join(direction: { from: Duplex; to: Duplex; head: Buffer; side: ProxiedFrame['from'] }): void {
    const { from, to, head, side } = direction;
    const reader = new FrameReader();
    const see = (bytes: Buffer): void => {
      for (const piece of reader.read(bytes)) {
        if (Buffer.isBuffer(piece)) continue;
        const { opcode, payload } = piece.frame;
        const name = Object.entries(opcodes).find(([, code]) => code === opcode)?.[0];
        const bytes = payload.length;
        const atMs = this.#plan.clock.now();
        this.#plan.onFrame({ atMs, from: side, opcode: name ?? String(opcode), bytes });
      }
    };
    if (head.length > 0) {
      see(head);
      to.write(head);
    }
    from.on('data', see);
    from.on('error', () => to.destroy());
    from.once('close', () => to.destroy());
    from.pipe(to);
  }

  #forward() {
    const { upstream, caPem } = this.#plan;
    const { method, url = '/', rawHeaders } = this.#request;
    const target = new URL(upstream);
    const path = target.pathname.replace(/\/$/, '') + url;
    const headers = rawHeaders.map((each, at) =>
      at % 2 === 1 && /^host$/i.test(rawHeaders[at - 1] ?? '') ? target.host : each,
    );
    const { hostname, port, protocol } = target;
    // Node's type has no flat headers, which keep order, case and repetition.
    const options = { method, path, hostname: hostname.replace(/^\[|\]$/g, ''), port, ca: caPem };
    const flat = { headers: headers as unknown as NonNullable<RequestOptions['headers']> };
    const request = protocol === 'https:' ? secureRequest : plainRequest;
    return request({ ...options, ...flat, agent: false });
  }

  #passOn(incoming: IncomingMessage, response: ServerResponse): void {
    const { statusCode = 502, statusMessage, rawHeaders } = incoming;
    const chunks: Buffer[] = [];
    const isRead =
      /json/.test(incoming.headers['content-type'] ?? '') &&
      incoming.headers['content-encoding'] === undefined &&
      Number(incoming.headers['content-length'] ?? 0) <= READ_MAX_BYTES;
    if (!isRead) response.writeHead(statusCode, statusMessage, rawHeaders);
    incoming.on('data', (bytes: Buffer) => {
      if (isRead) chunks.push(bytes);
      else {
        this.#response.add(bytes);
        if (!response.write(bytes)) incoming.pause();
      }
    });
    response.on('drain', () => incoming.resume());
    incoming.once('error', () => response.destroy());
    incoming.once('end', () => {
      if (isRead) {
        const body = this.#withOwnLinks(Buffer.concat(chunks));
        this.#response.add(body);
        response.writeHead(statusCode, statusMessage, withLength(rawHeaders, body));
        response.write(body);
      }
      response.end();
    });
  }

  #withOwnLinks(body: Buffer): Buffer {
    const { origin } = new URL(this.#plan.upstream);
    const proxyOrigin = `http://${this.#request.headers.host ?? ''}`;
    const text = body.toString('utf8');
    return text.includes(origin) ? Buffer.from(text.replaceAll(origin, proxyOrigin)) : body;
  }

  #report(response: IncomingMessage | undefined): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const { method = '', url = '/', headers, rawHeaders } = this.#request;
    const endedMs = this.#plan.clock.now();
    this.#plan.onExchange({
      endedMs,
      tookMs: endedMs - this.#startedMs,
      method,
      url: `http://${headers.host ?? 'localhost'}${url}`,
      requestHeaders: rawHeaders,
      requestBody: this.#sent.bytes,
      status: response?.statusCode ?? 0,
      responseHeaders: response?.rawHeaders ?? [],
      responseBody: this.#response.bytes,
      responseBytes: this.#response.length,
    });
  }
}

/** Keeps the beginning of a body. */
class BodyStart {
  readonly #kept: Buffer[] = [];
  #left = KEPT_BYTES;
  length = 0;

  add(bytes: Buffer): void {
    this.length += bytes.length;
    if (this.#left === 0) return;
    const part = Buffer.from(bytes.subarray(0, this.#left));
    this.#kept.push(part);
    this.#left -= part.length;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#kept);
  }
}

/** Returns the headers with the length of a body; those of a response to HEAD stay as they are. */
function withLength(flat: readonly string[], { length }: Buffer): string[] {
  return flat.map((each, at) =>
    length > 0 && at % 2 === 1 && /^content-length$/i.test(flat[at - 1] ?? '')
      ? String(length)
      : each,
  );
}

/** Returns the head of a response as bytes of HTTP/1.1. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
