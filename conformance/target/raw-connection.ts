/** One connection on which requests are written literally, in ways that HTTP libraries refuse. */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Headers } from './exchange.ts';
import { parsedResponse, type RawHead } from './raw-response.ts';
import type { HttpResponse } from './response.ts';
import { TransportFailure } from './transport-failure.ts';

/** Maximum number of received bytes without a complete response. */
const BYTES_MAX = 4 * 1_048_576;

/** Options for how a request is written. */
export interface RawRequestOptions {
  /** The HTTP version of the request; 1.1 by default. */
  readonly version?: '1.0' | '1.1';
  /** Holds the body back until the server sends an interim response, or for this time at most. */
  readonly bodyAfterMs?: number;
}

/** A request to write on the connection. */
export interface RawRequest {
  readonly method: string;
  /** The absolute URL of the request. */
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A response with its HTTP version and the interim responses before it. */
export interface RawResponse extends HttpResponse {
  readonly head: RawHead;
  /** The statuses of the interim responses that preceded this one. */
  readonly interim: readonly number[];
}

interface ExpectedResponse {
  readonly resolve: (response: RawResponse) => void;
  readonly reject: (error: Error) => void;
  readonly onInterim: () => void;
}

/** A connection to the server of a URL. The owner must close it. */
export class RawConnection {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #expectedResponses: ExpectedResponse[] = [];
  #interim: number[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #over: Error | undefined;

  constructor(
    url: string,
    { caPem, clock }: { readonly caPem?: string | undefined; readonly clock: Clock },
  ) {
    const { protocol, hostname, port } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, '');
    this.#clock = clock;
    this.#socket =
      protocol === 'https:'
        ? connectSecure({
            host,
            port: Number(port || 443),
            servername: host,
            ...(caPem === undefined ? {} : { ca: caPem }),
          })
        : connectPlain({ host, port: Number(port || 80) });
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#socket.on('end', () => this.#end());
    this.#socket.on('error', (error) => this.#end(error));
    this.#socket.on('close', () => this.#end());
  }

  /** Writes a request and resolves with its response. Responses match requests in their order. */
  send(request: RawRequest, form: RawRequestOptions = {}): Promise<RawResponse> {
    const { head, body } = requestText(request, form);
    const { bodyAfterMs } = form;
    const isHeldBack = bodyAfterMs !== undefined && body !== '';
    this.#socket.write(isHeldBack ? head : `${head}${body}`);
    return new Promise((resolve, reject) => {
      if (this.#over) return reject(this.#over);
      let isSent = !isHeldBack;
      const sendBody = (): void => {
        if (!isSent) this.#socket.write(body);
        isSent = true;
      };
      const timer = isHeldBack ? this.#clock.after(bodyAfterMs, sendBody) : undefined;
      const over = <Value>(settle: (value: Value) => void) => {
        return (value: Value): void => {
          timer?.cancel();
          isSent = true;
          settle(value);
        };
      };
      this.#expectedResponses.push({
        resolve: over(resolve),
        reject: over(reject),
        onInterim: sendBody,
      });
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    this.#parse(false);
    if (this.#bytes.length > BYTES_MAX) {
      const message = `the response is larger than ${BYTES_MAX} bytes; the suite read no further`;
      this.#end(new TransportFailure('response-too-large', message));
      this.close();
    }
  }

  #parse(hasEnded: boolean): void {
    try {
      for (let nextResponse = parsedResponse(this.#bytes, hasEnded); nextResponse; ) {
        const { head, response, followingBytes } = nextResponse;
        this.#bytes = followingBytes;
        if (head.status < 200) {
          this.#interim.push(head.status);
          this.#expectedResponses[0]?.onInterim();
        } else {
          this.#expectedResponses.shift()?.resolve({ ...response, head, interim: this.#interim });
          this.#interim = [];
        }
        nextResponse = parsedResponse(this.#bytes, hasEnded);
      }
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
      this.close();
    }
  }

  #end(cause?: Error): void {
    if (this.#over) return;
    const problem = 'the server closed the connection without a response';
    this.#over = cause ?? new TransportFailure('connection-closed', problem);
    if (!cause) this.#parse(true);
    for (const { reject } of this.#expectedResponses.splice(0)) reject(this.#over);
  }
}

function requestText(
  { method, url, headers, body }: RawRequest,
  { version = '1.1' }: RawRequestOptions,
) {
  const { pathname, search, host } = new URL(url);
  const all = {
    host,
    ...(version === '1.0' ? {} : { connection: 'keep-alive' }),
    ...headers,
    ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  };
  const rows = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${pathname}${search} HTTP/${version}\r\n${rows.join('')}\r\n`;
  return { head, body };
}
