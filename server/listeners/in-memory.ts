/**
 * Serves the API without sockets: a caller in the same process passes a whole request and receives
 * the response in chunks. Routes, stages and handlers are those of every other listener; features
 * of a connection (limits, TLS, WebSockets, cuts) are absent.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { WholeRequest } from '../http/body.ts';
import { openExchange } from '../http/exchange.ts';
import type { Routes } from '../pipeline/routes.ts';
import { makeOwn, routeExchanges } from './api-listener.ts';
import type {
  MemoryListener,
  MemoryRequest,
  MemoryResponseReader,
  ResponseHeaders,
} from './memory-listener.ts';

/** The parts of a server that an in-memory listener needs. */
interface MemoryListenerOptions {
  readonly routes: Routes;
  readonly headerNames: VendorNames;
  readonly newRequestId: () => string;
}

/** Creates an in-memory listener over these routes. */
export function createMemoryListener(options: MemoryListenerOptions): MemoryListener {
  const { Request, Response } = messagesOf(options.routes.app);
  const route = routeExchanges(options.routes);
  return (received, reader) => {
    const request = new Request(received);
    route(openExchange(request, new Response(request, reader), options));
  };
}

/** A socket that was never opened; all in-memory requests share it. */
const noConnection = new Socket();
noConnection.setMaxListeners(0);
const nothing = Buffer.alloc(0);

/**
 * Returns request and response classes for one app: Express does not convert messages whose
 * prototype is the app's own.
 */
function messagesOf(app: Routes['app']) {
  class Request extends IncomingMessage implements WholeRequest {
    readonly wholeBody: Buffer;

    constructor({ method, target, host, headers, body }: MemoryRequest) {
      super(noConnection);
      this.method = method;
      this.url = target;
      this.httpVersion = '1.1';
      this.complete = true;
      this.wholeBody = typeof body === 'string' ? Buffer.from(body) : (body ?? nothing);
      const namedHeaders: Record<string, string> = { host };
      this.rawHeaders.push('host', host);
      for (const name in headers) {
        const value = headers[name] ?? '';
        this.rawHeaders.push(name, value);
        namedHeaders[lowerCaseOf(name)] = value;
      }
      if (body !== undefined && body !== null) {
        namedHeaders['content-length'] = String(this.wholeBody.length);
        this.rawHeaders.push('content-length', String(this.wholeBody.length));
      }
      this.headers = namedHeaders;
    }

    /** Runs only when a handler streams the body; others read `wholeBody`. */
    override _read(): void {
      if (this.wholeBody.length > 0) this.push(this.wholeBody);
      this.push(null);
    }
  }

  class Response extends ServerResponse {
    readonly #reader: MemoryResponseReader;
    isHeadSent = false;

    constructor(request: IncomingMessage, reader: MemoryResponseReader) {
      super(request);
      this.#reader = reader;
    }

    override writeHead(status: number, ...more: unknown[]): this {
      this.statusCode = status;
      this.isHeadSent = true;
      const namedHeaders: ResponseHeaders = {};
      // Headers that were set one by one. Most responses pass all headers to `writeHead`, and have
      // none here.
      const presetNames = this.getHeaderNames();
      for (const name of presetNames) addHeader(namedHeaders, name, this.getHeader(name));
      const headerArgument = more.at(-1);
      if (Array.isArray(headerArgument)) {
        for (let at = 0; at < headerArgument.length; at += 2) {
          addHeader(namedHeaders, lowerCaseOf(String(headerArgument[at])), headerArgument[at + 1]);
        }
      } else if (typeof headerArgument === 'object' && headerArgument !== null) {
        for (const [name, value] of Object.entries(headerArgument)) {
          addHeader(namedHeaders, lowerCaseOf(name), value);
        }
      }
      this.#reader.onHead(status, namedHeaders);
      return this;
    }

    override write(chunk: unknown): boolean {
      if (!this.isHeadSent) this.writeHead(this.statusCode);
      this.#data(chunk);
      return true;
    }

    override end(chunk?: unknown): this {
      if (this.finished) return this;
      if (!this.isHeadSent) this.writeHead(this.statusCode);
      if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') this.#data(chunk);
      this.finished = true;
      this.#reader.onEnd();
      this.emit('finish');
      this.emit('close');
      return this;
    }

    #data(chunk: unknown): void {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      // The response to HEAD describes a body, but contains none.
      if (bytes.length > 0 && this.req.method !== 'HEAD') this.#reader.onData(bytes);
    }
  }

  // TypeScript declares `headersSent` as a property, which a class may not override with an
  // accessor.
  Object.defineProperty(Response.prototype, 'headersSent', {
    get(this: Response) {
      return this.isHeadSent;
    },
  });
  makeOwn(app, { request: Request.prototype, response: Response.prototype });
  return { Request, Response };
}

function addHeader(headers: ResponseHeaders, name: string, value: unknown): void {
  const former = headers[name];
  if (former === undefined && !Array.isArray(value)) {
    headers[name] = String(value);
    return;
  }
  const all = [former ?? [], value].flat().map(String);
  const [first = ''] = all;
  headers[name] = all.length > 1 ? all : first;
}

/** Header names in lower case. Few distinct names occur, so each is converted once. */
const lowered = new Map<string, string>();
const NAMES_MAX = 1000;

function lowerCaseOf(name: string): string {
  const lowerName = lowered.get(name);
  if (lowerName !== undefined) return lowerName;
  const lower = name.toLowerCase();
  if (lowered.size < NAMES_MAX) lowered.set(name, lower);
  return lower;
}
