/** Answers input that is not valid HTTP, and connections that send no request in time. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type FailBody, nothingReceived, type ReceivedPart } from '../http/body.ts';
import { ParseFailure } from '../http/parse-failure.ts';
import type { Refusal } from '../http/refusal.ts';
import { jsonType } from '../http/response.ts';
import type { Framing, ParserStop } from '../http/unparsed-input.ts';
import type { Turns } from '../pipeline/turns.ts';
import type { StagedClosing } from './staged-closing.ts';
import { BodyStalled } from './transfer.ts';
import { currentResponse } from './upgrades.ts';

/** Node's error for unparsable input. */
type ParserError = Error & {
  readonly code?: string;
  readonly reason?: string;
  readonly bytesParsed?: number;
  readonly rawPacket?: unknown;
};

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const tlsErrorCode = /^ERR_(SSL|TLS)_/;
/** Node's code for plain HTTP in place of a TLS handshake; it is answered in plain HTTP. */
export const plainHttpCode = 'ERR_SSL_HTTP_REQUEST';

/** A longer URL is cut, because it is kept while its connection is idle. */
const URL_MAX_CHARACTERS = 200;

/** A property that Node sets while HTTP reads the connection, and that its types lack. */
interface Parsed {
  readonly parser?: { readonly incoming: IncomingMessage | null } | null;
}

/** The facts in a request's head that fix the end of its body, as sent. */
interface FramedRequest {
  readonly method: string | undefined;
  readonly url: string;
  readonly length: string | undefined;
  readonly coding: string | undefined;
}

/** Unparsable input, and how it is answered. */
export interface UnparsableInput {
  readonly parseFailure: ParseFailure;
  /** Status code with its reason phrase; `0` if no response can be sent. */
  readonly status: string;
  /** True when the client closed the connection. */
  readonly isReset: boolean;
  /** The last chunk that was read. */
  readonly chunk: Buffer;
}

interface UnparsableOptions {
  readonly closing: StagedClosing;
  readonly turns: Turns;
  /**
   * Lets the reader of an incomplete body refuse it; returns false if nobody reads the body.
   * Without it, the request is answered as bytes without a request.
   */
  readonly failBody?: FailBody;
}

/**
 * Answers unparsable input with the text that `textFor` returns, even if the client does not speak
 * HTTP, after the responses to earlier requests of the connection. Only closes the connection where
 * no response can be sent.
 */
export function answerUnparsableRequest(
  server: Server,
  { closing, turns, failBody: fail = () => false }: UnparsableOptions,
  textFor: (unparsable: UnparsableInput) => string,
): void {
  const waiting = new WeakSet<Socket>();
  const lastRequests = new WeakMap<Socket, FramedRequest>();
  // Every request passes here, so nothing is written out before it is needed.
  server.on('request', (request) => lastRequests.set(request.socket, framedOf(request)));
  server.on('clientError', (cause: ParserError, stream) => {
    // The types allow any stream, but the connections of these servers are sockets.
    const socket = stream as Socket;
    const { code = '' } = cause;
    if (closing.isClosing(socket)) {
      // The connection has its last response, and the staged closing applies its own time limit.
      if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy();
      return;
    }
    // Further errors of the same connection may follow before the response is sent.
    if (waiting.has(socket)) {
      if (cause instanceof BodyStalled) socket.destroy();
      return;
    }
    waiting.add(socket);
    const unfinished = unfinishedOn(socket);
    const last = unfinished ? undefined : lastRequests.get(socket);
    const stop = stopOf(cause, socket, last && framingOf(last));
    const createFailure = (received: ReceivedPart = nothingReceived): ParseFailure =>
      new ParseFailure({
        ...stop,
        ...(unfinished && { current: { ...framingOf(framedOf(unfinished)), received } }),
      });
    const status = statuses[code] ?? '400 Bad Request';
    const textOf = (isAnswered: boolean): string =>
      textFor({
        parseFailure: createFailure(),
        status: isAnswered ? status : '0',
        isReset: code === 'ECONNRESET',
        chunk: stop.chunk,
      });
    if (isLost(code) || !socket.writable) {
      textOf(false);
      socket.destroy();
      return;
    }
    const refusal = (received: ReceivedPart): Refusal =>
      createFailure(received).refusalWith(Number.parseInt(status, 10));
    if (unfinished && fail(unfinished, refusal)) {
      awaitEarlierResponses(socket, unfinished, (answering) => {
        if (answering) answering.shouldKeepAlive = false;
      });
      return;
    }
    awaitEarlierResponses(socket, unfinished, (answering) =>
      turns.start('', () => {
        const hasResponse = unfinished !== undefined && (!answering || answering.headersSent);
        const mayAnswer = socket.writable && !closing.isClosing(socket) && !hasResponse;
        const text = textOf(mayAnswer);
        closing.close(socket, mayAnswer ? text : '');
      }),
    );
  });
}

/** Returns true for an error after which nothing can be sent on the connection. */
function isLost(code: string): boolean {
  return code === 'ECONNRESET' || (tlsErrorCode.test(code) && code !== plainHttpCode);
}

/**
 * Calls `callback` once all requests before the unfinished one are answered, or all if there is
 * none, with the response to the unfinished one unless it was sent.
 */
function awaitEarlierResponses(
  socket: Socket,
  unfinished: IncomingMessage | undefined,
  callback: (answering: ServerResponse | undefined) => void,
): void {
  const answering = currentResponse(socket) ?? undefined;
  if (!answering || (answering.req === unfinished && !answering.headersSent)) callback(answering);
  else answering.once('close', () => awaitEarlierResponses(socket, unfinished, callback));
}

/** Returns the request whose body has not arrived completely. */
function unfinishedOn(socket: Socket): IncomingMessage | undefined {
  const request = (socket as Parsed).parser?.incoming;
  return request && !request.complete ? request : undefined;
}

function framedOf({ method, url = '', headers }: IncomingMessage): FramedRequest {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  return { method, url: url.length > URL_MAX_CHARACTERS ? copiedStart(url) : url, length, coding };
}

/** Returns the start of a string; unlike a slice, it does not keep the whole text in memory. */
function copiedStart(text: string): string {
  return Buffer.from(text.slice(0, URL_MAX_CHARACTERS), 'latin1').toString('latin1');
}

function framingOf({ method, url, length, coding }: FramedRequest): Framing {
  const [path = ''] = url.split('?', 1);
  return {
    methodAndPath: `${method} ${path}`,
    length,
    isChunked: coding !== undefined,
  };
}

function stopOf(cause: ParserError, socket: Socket, lastRequest: Framing | undefined): ParserStop {
  const { code = '', reason = '', bytesParsed = 0, rawPacket } = cause;
  const chunk = Buffer.isBuffer(rawPacket) ? rawPacket : Buffer.alloc(0);
  return {
    code,
    reason,
    chunk,
    lastRequest,
    at: bytesParsed,
    isFirstChunk: socket.bytesRead === chunk.length,
    ...(cause instanceof BodyStalled && { stall: cause }),
  };
}

/** Returns a response with a JSON body, for a connection without a request. */
export function bareResponse(
  status: string,
  body: object,
  headers: Readonly<Record<string, string>>,
): string {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${jsonType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries({ ...headers, Connection: 'close' }).map((pair) => pair.join(': ')),
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}
